import com.sun.jna.Native;
import com.sun.jna.Pointer;
import com.sun.jna.ptr.PointerByReference;

/** Five IDs of a leased node, through JNA: java -cp jna-5.14.0.jar Ids.java. */
public final class Ids {
    static {
        Native.register(Ids.class, "flakeid");
    }

    private static native int flakeid_generator_open(
            String url, Pointer config, PointerByReference generator);

    private static native int flakeid_generator_next(Pointer generator, long[] id);

    private static native void flakeid_generator_free(Pointer generator);

    private static native String flakeid_last_error();

    private static void check(int status) {
        if (status != 0) {
            throw new IllegalStateException(flakeid_last_error());
        }
    }

    public static void main(String[] arguments) {
        String url = System.getenv().getOrDefault("FLAKEID_STORE", "sqlite://flakeid.db");
        PointerByReference opened = new PointerByReference();
        // No options: any node of the namespace "default", in Twitter's layout.
        check(flakeid_generator_open(url, null, opened));
        Pointer generator = opened.getValue();
        long[] id = new long[1];
        for (int count = 0; count < 5; count++) {
            check(flakeid_generator_next(generator, id));
            System.out.println(Long.toUnsignedString(id[0]));
        }
        flakeid_generator_free(generator); // gives the node back
    }
}
