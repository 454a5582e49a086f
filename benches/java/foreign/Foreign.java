import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.SymbolLookup;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.nio.file.Path;
import java.util.function.LongUnaryOperator;

/** Calls into C through the foreign-function interface (Java 22 and later) that do nothing, or the minimum for an exact ID. */
public final class Foreign {
    private static final FunctionDescriptor TYPE = FunctionDescriptor.of(ValueLayout.JAVA_LONG, ValueLayout.JAVA_LONG);
    private static final Path LIBRARY = Path.of(System.getProperty("nothing")).toAbsolutePath();
    private static final MethodHandle NOTHING = handle("nothing");
    private static final MethodHandle CRITICAL = handle("nothing", Linker.Option.critical(false));
    private static final MethodHandle COUNTED = handle("counted", Linker.Option.critical(false));

    private Foreign() {}

    private static MethodHandle handle(String name, Linker.Option... options) {
        SymbolLookup library = SymbolLookup.libraryLookup(LIBRARY, Arena.global());
        return Linker.nativeLinker().downcallHandle(library.find(name).orElseThrow(), TYPE, options);
    }

    /** Makes a critical call, for which the garbage collector waits. */
    public static LongUnaryOperator critical() {
        return value -> {
            try {
                return (long) CRITICAL.invokeExact(value);
            } catch (Throwable why) {
                throw new IllegalStateException(why);
            }
        };
    }

    /** Makes a critical call that reads the processor's counter and swaps a word. */
    public static LongUnaryOperator counted() {
        return value -> {
            try {
                return (long) COUNTED.invokeExact(value);
            } catch (Throwable why) {
                throw new IllegalStateException(why);
            }
        };
    }

    public static LongUnaryOperator nothing() {
        return value -> {
            try {
                return (long) NOTHING.invokeExact(value);
            } catch (Throwable why) {
                throw new IllegalStateException(why);
            }
        };
    }
}
