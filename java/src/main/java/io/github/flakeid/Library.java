package io.github.flakeid;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Locale;
import java.util.stream.Stream;
import java.util.zip.CRC32;

/** Loads the library that has the native methods. */
final class Library {
    /** Where a class loader of this process unpacked the library, and the sum of what it unpacked. */
    private static final String UNPACKED = "io.github.flakeid.unpacked";
    private static final String SUM = "io.github.flakeid.unpacked.sum";

    private Library() {}

    /** The file that {@code -Dflakeid.library} names, or the one in this jar for this system. */
    static void load() {
        String file = System.getProperty("flakeid.library");
        if (file != null) {
            load(Path.of(file).toAbsolutePath());
            return;
        }
        String name = System.mapLibraryName("flakeid_jni");
        String resource = "native/" + platform() + "/" + name;
        try (InputStream library = Native.class.getResourceAsStream(resource)) {
            if (library == null) {
                throw new UnsatisfiedLinkError(
                        "this jar has no library for " + platform() + " (" + resource
                                + "): build libflakeid_jni for this system and name it with -Dflakeid.library=FILE");
            }
            // All class loaders share this object, so they unpack one after the other.
            synchronized (Runtime.getRuntime()) {
                unpack(library.readAllBytes(), name);
            }
        } catch (IOException error) {
            throw new UncheckedIOException("cannot unpack " + resource, error);
        }
    }

    /**
     * Unpacks it where every class loader of this process does, because then the virtual machine refuses the second: two
     * copies of the library would not know of each other's nodes.
     */
    private static void unpack(byte[] library, String name) throws IOException {
        CRC32 sum = new CRC32();
        sum.update(library);
        String known = System.getProperty(UNPACKED);
        if (known != null && !Long.toString(sum.getValue()).equals(System.getProperty(SUM))) {
            // The system would give us the one that it has, because of its path.
            throw new UnsatisfiedLinkError(
                    "this process has loaded another build of flakeid, which stays until it ends: start it again, with one"
                            + " flakeid.jar that all its applications share");
        }
        // A folder that nobody else may write to, so that nobody can put another file there.
        Path folder = known == null ? Files.createTempDirectory("flakeid") : again(Path.of(known));
        System.setProperty(UNPACKED, folder.toString());
        System.setProperty(SUM, Long.toString(sum.getValue()));
        Path copy = folder.resolve(name);
        try {
            if (!Files.exists(copy)) {
                Files.write(copy, library);
            }
            load(copy);
        } finally {
            remove(copy);
            remove(folder);
        }
    }

    /** It was removed, unless this system does not remove files in use; then it belongs to this user there. */
    private static Path again(Path folder) throws IOException {
        if (!folder.getFileSystem().supportedFileAttributeViews().contains("posix")) {
            return Files.createDirectories(folder);
        }
        return Files.createDirectory(
                folder, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
    }

    private static void load(Path file) {
        try {
            System.load(file.toString());
        } catch (UnsatisfiedLinkError refused) {
            String why = refused.getMessage();
            if (why == null || !why.contains("another classloader")) {
                throw refused;
            }
            UnsatisfiedLinkError told =
                    new UnsatisfiedLinkError(
                            "another class loader of this process has loaded flakeid, and a second copy would repeat the IDs"
                                    + " of a fixed node: put flakeid.jar where one class loader loads it for all, such as the"
                                    + " server's own library folder");
            told.initCause(refused);
            throw told;
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
        return platform(
                System.getProperty("os.name"), System.getProperty("os.arch"), hasMusl(Path.of("/proc/self/maps")));
    }

    /** What the folder in the jar is called: {@code linux-x86_64}, {@code linux-aarch64-musl}, {@code macos-aarch64} … */
    static String platform(String system, String processor, boolean musl) {
        String lower = system.toLowerCase(Locale.ROOT);
        String os = lower.startsWith("windows") ? "windows" : lower.startsWith("mac") ? "macos" : lower;
        return os + "-" + (processor.equals("amd64") ? "x86_64" : processor) + (musl ? "-musl" : "");
    }

    /** Whether Java itself runs on musl, as in Alpine, where no library for glibc can be loaded. */
    static boolean hasMusl(Path maps) {
        try (Stream<String> lines = Files.lines(maps)) {
            return lines.anyMatch(line -> line.contains("/ld-musl-") || line.contains("/libc.musl-"));
        } catch (IOException | UncheckedIOException notLinux) {
            return false;
        }
    }
}
