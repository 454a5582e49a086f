package io.github.flakeid;

import java.lang.invoke.MethodHandle;
import java.lang.reflect.Array;

/**
 * Calls the library through the foreign-function interface, if this Java version has that interface. A critical call
 * through the interface costs 2 ns, while a JNI call costs 8 to 11 ns. A critical call must not wait, because the
 * garbage collector waits until the critical call has returned. Therefore, the interface is used only for functions
 * that never wait. These functions return {@link #NONE} if no ID is available without waiting. The caller then makes a
 * JNI call, which waits or throws.
 *
 * <p>The class accesses the interface through reflection, so that Java 17 can compile and load the class.
 */
final class Foreign {
    /**
     * The first Java version whose foreign-function interface is used. Java 22 and 23 also have the interface, but
     * print a warning when a program uses it. Neither version prints warnings for JNI.
     */
    private static final int FIRST = 24;

    /**
     * The value that a call returns instead of an ID. IDs of at most 63 bits never have this value; in 64-bit layouts,
     * this value is the largest ID.
     */
    static final long NONE = -1;

    private static final MethodHandle NEXT = critical(Native.nextAddress());
    private static final MethodHandle POLL = critical(Native.pollAddress());

    private Foreign() {}

    /** Returns the next ID of a generator, or {@link #NONE} if the caller has to make a JNI call. */
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

    /** Returns an ID from a ring, or {@link #NONE} if the caller has to make a JNI call. */
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

    /**
     * Wraps an exception that a call to a C function threw. C functions never throw, so the exception indicates a bug
     * in this library.
     */
    private static AssertionError unexpected(Throwable why) {
        return new AssertionError("a call through the foreign-function interface failed", why);
    }

    /**
     * Returns a handle for the function at an address; null if only JNI is available. The function takes a {@code long}
     * and returns a {@code long}.
     */
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
            // The virtual machine forbids the use of the foreign-function interface, or lacks the interface for this
            // system. JNI works, because a JNI call returned the address.
            return null;
        }
    }

    private static Class<?> named(String name) throws ClassNotFoundException {
        return Class.forName("java.lang.foreign." + name);
    }
}
