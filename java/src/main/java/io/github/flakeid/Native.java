package io.github.flakeid;

import java.io.IOException;
import java.io.InputStream;
import java.lang.ref.Cleaner;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;
import java.util.function.LongConsumer;

/** The native methods, and the library that has them. */
final class Native {
    /** Which options are given; as in flakeid.h. */
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

    /** Where options are in the array of numbers, as flakeid_jni.c reads it. */
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
        load();
    }

    private Native() {}

    /** The file that {@code -Dflakeid.library} names, or the one in this jar for this system. */
    private static void load() {
        String file = System.getProperty("flakeid.library");
        if (file != null) {
            System.load(Path.of(file).toAbsolutePath().toString());
            return;
        }
        String name = System.mapLibraryName("flakeid_jni");
        String resource = "native/" + platform() + "/" + name;
        try (InputStream library = Native.class.getResourceAsStream(resource)) {
            if (library == null) {
                throw new UnsatisfiedLinkError(
                        "this jar has no " + resource
                                + ": build libflakeid_jni for this system and name it with"
                                + " -Dflakeid.library=FILE");
            }
            // A folder that nobody else may write to, so that nobody can put another file there.
            Path folder = Files.createTempDirectory("flakeid");
            Path copy = folder.resolve(name);
            try {
                Files.copy(library, copy);
                System.load(copy.toString());
            } finally {
                remove(copy);
                remove(folder);
            }
        } catch (IOException error) {
            throw new java.io.UncheckedIOException("cannot unpack " + resource, error);
        }
    }

    /** At once where files in use can be removed, otherwise when the process ends. */
    private static void remove(Path path) {
        try {
            Files.deleteIfExists(path);
        } catch (IOException inUse) {
            path.toFile().deleteOnExit();
        }
    }

    private static String platform() {
        String system = System.getProperty("os.name").toLowerCase(Locale.ROOT);
        String os = system.startsWith("windows") ? "windows" : system.startsWith("mac") ? "macos" : "linux";
        String processor = System.getProperty("os.arch");
        return os + "-" + (processor.equals("amd64") ? "x86_64" : processor);
    }

    /** Frees a handle when nothing refers to its owner any more: so no call can be under way. */
    static Cleaner.Cleanable freed(Object owner, long handle, LongConsumer free) {
        return CLEANER.register(owner, () -> free.accept(handle));
    }

    /** The text as the library reads it. NUL would end it there; what stands for it no layout and no form has. */
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

    /** For {@link Foreign}, the address of what makes the next ID of a generator, or {@link Foreign#NONE}. */
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

    /** For {@link Foreign}, the address of what takes an ID of a ring, or {@link Foreign#NONE}. */
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
