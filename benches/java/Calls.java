import com.sun.jna.Library;
import com.sun.jna.Native;
import java.nio.file.Path;
import java.util.function.LongUnaryOperator;

/** Calls into C that do nothing, or the minimum for an exact ID. */
final class Calls {
    private static final Path LIBRARY = Path.of(System.getProperty("nothing")).toAbsolutePath();

    static {
        System.load(LIBRARY.toString());
    }

    private Calls() {}

    static native long jni(long value);

    /** Reads the processor's counter and swaps a word. */
    static native long counted(long value);

    /** JNA with an interface, as its documentation introduces it. */
    interface Mapped extends Library {
        long nothing(long value);
    }

    /** JNA with native methods, which are faster. */
    static final class Direct {
        static {
            Native.register(LIBRARY.toString());
        }

        private Direct() {}

        static native long nothing(long value);
    }

    static LongUnaryOperator mapped() {
        return Native.load(LIBRARY.toString(), Mapped.class)::nothing;
    }

    /** Calls through the foreign-function interface, if this Java has it: {@code nothing}, {@code critical} or {@code counted}. */
    static LongUnaryOperator foreign(String kind) throws ReflectiveOperationException {
        return (LongUnaryOperator) Class.forName("Foreign").getMethod(kind).invoke(null);
    }
}
