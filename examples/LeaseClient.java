import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.UUID;
import java.util.regex.Pattern;

/** Leases a node from `flakeid serve`, and generates IDs on it, with only the JDK. */
public final class LeaseClient {
    // This layout is Twitter's: 41 bits of milliseconds, 10 bits of node, 12 bits of sequence.
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
    /** The tick and the sequence number of the next ID. */
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

    /** Returns a field of a flat JSON object. A real client uses a library for JSON. */
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
        // `after` excludes ticks of earlier IDs, even if they were generated on another node.
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
            // Renewals go to the broker that granted the node, which may be another broker.
            fence = Long.parseLong(field(ask("PATCH", broker + path + "/" + node, body), "fence"));
            token = next;
        } catch (IOException lost) {
            // Another process may have the node from the fence on, so it is not renewed again.
            acquire();
        }
    }

    /** Returns the next ID. Only one thread at a time may call this method. */
    private long nextId() throws IOException, InterruptedException {
        // The lease is renewed long before its window ends. A real client uses a thread for this.
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
