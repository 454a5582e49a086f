import io.github.flakeid.Generator;
import io.github.flakeid.Layout;
import io.github.flakeid.TextForm;

/** Generates one ID of node 7, and decodes it. */
public final class Quickstart {
    public static void main(String[] arguments) {
        try (Generator generator = Generator.of(7)) { // node 7 of 1024
            long id = generator.nextId();
            System.out.println(id + " " + TextForm.BASE62.encode(id) + " " + Layout.TWITTER.parts(id));
        }
    }
}
