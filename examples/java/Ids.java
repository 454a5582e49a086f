import io.github.flakeid.Generator;
import io.github.flakeid.Layout;

/** Prints five IDs of a leased node: java -cp flakeid.jar Ids.java. */
public final class Ids {
    public static void main(String[] arguments) {
        String url = System.getenv().getOrDefault("FLAKEID_STORE", "sqlite://flakeid.db");
        // Leases any node of the namespace "default", in Twitter's layout. close() releases it.
        try (Generator generator = Generator.lease(url).open()) {
            for (int count = 0; count < 5; count++) {
                long id = generator.nextId();
                System.out.println(id + " of " + Layout.TWITTER.time(id));
            }
        }
    }
}
