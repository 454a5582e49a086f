package io.github.flakeid;

import java.lang.ref.Cleaner;
import java.nio.charset.StandardCharsets;
import java.util.function.LongConsumer;

/** The native methods. */
final class Native {
    /** The flags of the options that are set, as in flakeid.h. */
    static final int HAS_NODE = 1;
    static final int HAS_DATACENTER = 2;
    static final int HAS_WORKER = 4;
    static final int HAS_EPOCH = 8;
    static final int HAS_SEQUENCE_MASK = 16;
    static final int HAS_MAX_AHEAD = 32;
    static final int HAS_MAX_WAIT = 64;
    static final int HAS_WINDOW = 128;
    static final int HAS_NODES = 256;
    static final int HAS_WINDOW_MS = 512;
    static final int HAS_TTL = 1024;
    static final int HAS_BOOST_POWER = 2048;
    static final int HAS_PADDING_FACTOR = 4096;
    static final int HAS_REFILL_INTERVAL = 8192;
    static final int HAS_MAX_AGE = 16384;

    /** The places of the options in the array of numbers that the C code reads. */
    static final int NODE = 0;
    static final int DATACENTER = 1;
    static final int WORKER = 2;
    static final int EPOCH = 3;
    static final int SEQUENCE_MASK = 4;
    static final int SEQUENCE_START = 5;
    static final int OVERFLOW = 6;
    static final int ROLLBACK = 7;
    static final int MAX_AHEAD = 8;
    static final int FIRST_NODE = 8;
    static final int MAX_WAIT = 9;
    static final int WINDOW_START = 10;
    static final int LAST_NODE = 10;
    static final int WINDOW_FENCE = 11;
    static final int WINDOW_MS = 11;
    static final int TTL = 12;
    static final int NEVER_REUSE = 13;
    static final int NODE_COUNT = 14;

    private static final Cleaner CLEANER = Cleaner.create();

    static {
        Library.load();
    }

    private Native() {}

    /** Frees a handle after its owner was garbage collected, when no call can be pending. */
    static Cleaner.Cleanable freed(Object owner, long handle, LongConsumer free) {
        return CLEANER.register(owner, () -> free.accept(handle));
    }

    /**
     * Returns the string in the library's encoding. NUL would end it there, so it is replaced by a character that no
     * layout and no form contains.
     */
    static byte[] utf8(String text) {
        return text == null ? null : text.replace('\0', '\ufffd').getBytes(StandardCharsets.UTF_8);
    }

    static native long generatorNew(
            byte[] layout, byte[] clockName, long clock, int has, long[] numbers, long[] nodes);

    static native long generatorOpen(
            byte[] url,
            byte[] layout,
            byte[] namespace,
            byte[] name,
            byte[] clockName,
            int has,
            long[] numbers,
            long listener);

    static native long listenerNew(LeaseEvents events);

    static native void listenerFree(long listener);

    static native void generatorClose(long generator);

    static native void generatorFree(long generator);

    static native long next(long generator);

    static native long tryNext(long generator);

    /** Returns the address of the function that returns the next ID of a generator, for {@link Foreign}. */
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

    static native long cachedOpen(
            long generator, int has, int boostPower, int paddingFactor, long refillInterval, long maxAge);

    static native long cachedNext(long cached);

    /** Returns the address of the function that takes an ID of a ring, for {@link Foreign}. */
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
