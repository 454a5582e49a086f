import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.UUID;
import java.util.regex.Pattern;

/** A lease from `flakeid serve`, and IDs made with it, with nothing but the JDK. */
public final class LeaseClient {
    // Layouts differ: here it is Twitter's, 41 bits of milliseconds, 10 of node, 12 of sequence.
    private static final long EPOCH = 1288834974657L;
    private static final HttpClient CLIENT = HttpClient.newHttpClient();

    private final String server;
    private final String path;
    private String broker;
    private String token;
    private long node;
    private long start;
    private long fence;
    private long maxWindow;
    /** Tick and sequence of the next ID. */
    private long position;

    private LeaseClient(String server, String namespace) throws IOException, InterruptedException {
        this.server = server;
        this.path = "/v1/" + namespace + "/leases";
        acquire();
    }

    private static String ask(String method, String url, String body)
            throws IOException, InterruptedException {
        var request = HttpRequest.newBuilder(URI.create(url)).timeout(Duration.ofSeconds(1))
                .header("Content-Type", "application/json")
                .method(method, BodyPublishers.ofString(body)).build();
        var reply = CLIENT.send(request, BodyHandlers.ofString());
        if (reply.statusCode() / 100 != 2) {
            throw new IOException(reply.body());
        }
        return reply.body();
    }

    /** A field of a flat JSON object. A real client uses a library for that. */
    private static String field(String json, String name) throws IOException {
        var found = Pattern.compile("\"" + name + "\":\\s*\"?([^\",}]*)").matcher(json);
        if (!found.find()) {
            throw new IOException("no " + name + " in " + json);
        }
        return found.group(1);
    }

    private static long tick() {
        return System.currentTimeMillis() - EPOCH;
    }

    private static String hex(int digits) {
        return UUID.randomUUID().toString().replace("-", "").substring(32 - digits);
    }

    private void acquire() throws IOException, InterruptedException {
        // Above every ID that was made before, also on another node.
        var granted = ask("POST", server + path, """
                {"now": %d, "token": "%s", "after": %d}""".formatted(
                System.currentTimeMillis(), hex(16) + hex(16), (position >> 12) + 1));
        broker = field(granted, "broker");
        token = field(granted, "token");
        node = Long.parseLong(field(granted, "node"));
        start = Long.parseLong(field(granted, "start"));
        fence = Long.parseLong(field(granted, "fence"));
        maxWindow = Long.parseLong(field(granted, "max_window_ms"));
        position = start << 12;
    }

    private void renew() throws IOException, InterruptedException {
        var next = token.substring(0, 16) + hex(16);
        var body = """
                {"start": %d, "token": "%s", "next": "%s", "confirmed": %d, "wanted": %d,
                 "now": %d, "broker": "%s"}""".formatted(start, token, next, fence,
                tick() + maxWindow, System.currentTimeMillis(), broker);
        try {
            // Where it was granted, which is not always where the first request went.
            fence = Long.parseLong(field(ask("PATCH", broker + path + "/" + node, body), "fence"));
            token = next;
        } catch (IOException lost) {
            // The node is another's from the fence on, or nobody knows: it is not renewed again.
            acquire();
        }
    }

    /** Not for several threads at once. */
    private long nextId() throws IOException, InterruptedException {
        // Long before the end. A real client does this in a thread of its own.
        if (fence - tick() < maxWindow * 2 / 3) {
            renew();
        }
        var next = Math.max(position, tick() << 12);
        if (next >= fence << 12) {
            throw new IOException("the lease has ended");
        }
        position = next + 1;
        return next >> 12 << 22 | node << 12 | next & 0xFFF;
    }

    private void close() throws IOException, InterruptedException {
        ask("DELETE", broker + path + "/" + node, """
                {"token": "%s", "used_until": %d}""".formatted(token, (position >> 12) + 1));
    }

    public static void main(String[] arguments) throws Exception {
        var lease = new LeaseClient("http://localhost:7117", "default");
        for (int i = 0; i < 3; i++) {
            System.out.println(lease.nextId());
            Thread.sleep(2000);
        }
        lease.close();
    }
}
