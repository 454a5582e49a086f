package io.github.flakeid;

import java.lang.ref.Cleaner;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.function.LongConsumer;

/** The native methods, which the C code in src/main/c implements. */
final class Native {
    /** The flags that indicate which parts of an ID are present, with the values from flakeid.h. */
    static final int HAS_DATACENTER = 2;
    static final int HAS_WORKER = 4;

    private static final Cleaner CLEANER = Cleaner.create();

    static {
        Library.load();
    }

    private Native() {}

    /** Arranges for a handle to be freed after its owner has been garbage collected, when no call can be pending. */
    static Cleaner.Cleanable freed(Object owner, long handle, LongConsumer free) {
        return CLEANER.register(owner, () -> free.accept(handle));
    }

    /**
     * Returns the UTF-8 bytes of a string, for the library. A NUL would terminate the string early, so each NUL is
     * replaced by a character that no layout and no text form contains.
     */
    static byte[] utf8(String text) {
        return text == null ? null : text.replace('\0', '\ufffd').getBytes(StandardCharsets.UTF_8);
    }

    /** Returns the UTF-8 bytes of a URL, in which another character instead of a NUL would name another store. */
    static byte[] url(String url) {
        if (url != null && url.indexOf('\0') >= 0) {
            throw FlakeidException.invalidOption("url: contains a NUL; remove it");
        }
        return utf8(url);
    }

    /** Returns the Unix milliseconds of an instant, which is an argument with the given name. */
    static long unixMs(String name, Instant time) {
        try {
            return time.toEpochMilli();
        } catch (ArithmeticException outOfRange) {
            throw FlakeidException.outOfRange(
                    name, time, Instant.ofEpochMilli(Long.MIN_VALUE), Instant.ofEpochMilli(Long.MAX_VALUE));
        }
    }

    static native long generatorNew(byte[][] settings, long clock);

    static native long generatorOpen(byte[] url, byte[][] settings, long listener);

    static native long createNamespace(byte[] url, byte[] name, byte[][] settings);

    static native long listenerNew(LeaseEvents events);

    static native void listenerFree(long listener);

    static native void generatorClose(long generator);

    static native void generatorFree(long generator);

    static native long next(long generator);

    static native long tryNext(long generator);

    /**
     * Returns the address of the C function that returns the next ID of a generator. {@link Foreign} calls this C
     * function.
     */
    static native long nextAddress();

    static native int fill(long generator, long[] ids, int from, int to, boolean waits);

    static native long node(long generator);

    static native long[] nodes(long generator);

    static native String layoutOf(long generator);

    static native void extend(long generator, long fence);

    static native long retire(long generator);

    static native long[] stats(long generator);

    static native long[] lease(long generator);

    static native long localOpen(long generator);

    static native long localNext(long local);

    static native void localFree(long local);

    static native long cachedOpen(long generator, byte[][] settings);

    static native long cachedNext(long cached);

    /** Returns the address of the C function that takes an ID from a ring. {@link Foreign} calls this C function. */
    static native long pollAddress();

    static native long[] cachedStats(long cached);

    static native void cachedClose(long cached);

    static native void cachedFree(long cached);

    static native long clockNew(long unixMs);

    static native void clockSet(long clock, long unixMs);

    static native long clockGet(long clock);

    static native void clockFree(long clock);

    static native String[] presets();

    static native String descriptor(byte[] layout);

    static native long[] layoutInfo(byte[] layout);

    static native long[] decode(byte[] layout, long id);

    static native long[] partsAt(byte[] layout, long unixMs);

    static native long pack(byte[] layout, long[] parts);

    static native long joinNode(byte[] layout, long datacenter, long worker);

    static native long unixMsAt(byte[] layout, long tick);

    static native String timestamp(byte[] layout, long unixMs);

    static native long bound(byte[] layout, long unixMs, boolean upper);

    static native String encode(int form, long id);

    static native long parse(int form, byte[] text);

    static native long publicIdsNew(
            byte[] keyring, byte[] domain, byte[] layout, byte[] prefix, boolean hasSince, long since);

    static native String seal(long ids, long id);

    static native long sealBits(long ids, long id);

    static native long openPublic(long ids, byte[] text, boolean hasTime, long unixMs);

    static native void publicIdsFree(long ids);

    static native String codeOf(int status);

    static native String version();
}
