package io.github.flakeid;

import java.lang.invoke.MethodHandle;
import java.lang.reflect.Array;

/**
 * Calls by the foreign-function interface, where this Java has it: a critical call costs 2 ns, one by JNI 8 to 11. It may
 * not wait, because the garbage collector waits for it, so only what never waits is called this way, and answers {@link
 * #NONE} if there is no ID without waiting. Whoever gets that calls by JNI, which waits or throws.
 *
 * <p>By reflection, so that Java 17 compiles and loads it.
 */
final class Foreign {
    /** Java has it from 22 on, but warns of it; from 24 on it warns of JNI as well, once for both. */
    private static final int FIRST = 24;

    /** No ID: no layout of at most 63 bits has this one, and of the others it is the last of all. */
    static final long NONE = -1;

    private static final MethodHandle NEXT = critical(Native.nextAddress());
    private static final MethodHandle POLL = critical(Native.pollAddress());

    private Foreign() {}

    /** The next ID of a generator, or {@link #NONE}. */
    static long next(long generator) {
        if (NEXT == null) {
            return NONE;
        }
        try {
            return (long) NEXT.invokeExact(generator);
        } catch (Throwable why) {
            throw unexpected(why);
        }
    }

    /** An ID of a ring, or {@link #NONE}. */
    static long poll(long cached) {
        if (POLL == null) {
            return NONE;
        }
        try {
            return (long) POLL.invokeExact(cached);
        } catch (Throwable why) {
            throw unexpected(why);
        }
    }

    /** No method in C throws. */
    private static AssertionError unexpected(Throwable why) {
        return new AssertionError("a call by the foreign-function interface failed", why);
    }

    /** What calls the function at that address, of a long to a long; null where JNI has to do. */
    private static MethodHandle critical(long address) {
        if (Runtime.version().feature() < FIRST) {
            return null;
        }
        try {
            Class<?> linker = named("Linker");
            Class<?> option = named("Linker$Option");
            Class<?> segment = named("MemorySegment");
            Class<?> layout = named("MemoryLayout");
            Class<?> descriptor = named("FunctionDescriptor");
            Object number = named("ValueLayout").getField("JAVA_LONG").get(null);
            Object arguments = Array.newInstance(layout, 1);
            Array.set(arguments, 0, number);
            Object options = Array.newInstance(option, 1);
            Array.set(options, 0, option.getMethod("critical", boolean.class).invoke(null, false));
            Object type = descriptor.getMethod("of", layout, arguments.getClass()).invoke(null, number, arguments);
            Object function = segment.getMethod("ofAddress", long.class).invoke(null, address);
            Object system = linker.getMethod("nativeLinker").invoke(null);
            return (MethodHandle)
                    linker.getMethod("downcallHandle", segment, descriptor, options.getClass())
                            .invoke(system, function, type, options);
        } catch (ReflectiveOperationException | RuntimeException notHere) {
            // Forbidden, or a Java without it for this system: JNI has been allowed, or this class would not be loaded.
            return null;
        }
    }

    private static Class<?> named(String name) throws ClassNotFoundException {
        return Class.forName("java.lang.foreign." + name);
    }
}
