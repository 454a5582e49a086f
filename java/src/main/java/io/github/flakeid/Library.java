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

/** Loads the library that contains the native methods. */
final class Library {
    /**
     * The names of two system properties. One property contains the folder to which a class loader of this process
     * unpacked the library, and the other property contains the library's checksum.
     */
    private static final String UNPACKED = "io.github.flakeid.unpacked";
    private static final String SUM = "io.github.flakeid.unpacked.sum";

    private Library() {}

    /**
     * Loads the library file that {@code -Dflakeid.library} names. Without this property, loads the library for this
     * system from the jar.
     */
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
                                + "): build libflakeid_jni for this system and set -Dflakeid.library=FILE");
            }
            // All class loaders share this lock, so that they unpack the library one after another.
            synchronized (Runtime.getRuntime()) {
                unpack(library.readAllBytes(), name);
            }
        } catch (IOException error) {
            throw new UncheckedIOException("cannot unpack " + resource, error);
        }
    }

    /**
     * Unpacks the library to one path for all class loaders of this process, so that the virtual machine rejects a
     * second load. Two copies of the library would not detect that they use the same node.
     */
    private static void unpack(byte[] library, String name) throws IOException {
        CRC32 sum = new CRC32();
        sum.update(library);
        String known = System.getProperty(UNPACKED);
        if (known != null && !Long.toString(sum.getValue()).equals(System.getProperty(SUM))) {
            // The operating system would return the library that is already loaded, because the path is the same.
            throw new UnsatisfiedLinkError(
                    "this process has loaded another build of flakeid, which stays loaded until the process ends:"
                            + " restart the process with one flakeid.jar that all its applications share");
        }
        // Only this user may write to the folder, so that no other user can replace the file.
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

    /**
     * Creates the folder again if an earlier load of the library removed the folder. On systems that cannot remove
     * files in use, the folder still exists. Reusing the folder is safe, because the folder belongs to this user.
     */
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
                                    + " of a fixed node: put flakeid.jar where one class loader loads it for all applications, such as"
                                    + " the server's own library folder");
            told.initCause(refused);
            throw told;
        }
    }

    /**
     * Removes a file or folder immediately if the system can remove files in use, and otherwise when the process ends.
     */
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

    /**
     * Returns the name of the jar's folder for a system and a processor, such as {@code linux-x86_64}, {@code
     * linux-aarch64-musl} or {@code macos-aarch64}.
     */
    static String platform(String system, String processor, boolean musl) {
        String lower = system.toLowerCase(Locale.ROOT);
        String os = lower.startsWith("windows") ? "windows" : lower.startsWith("mac") ? "macos" : lower;
        return os + "-" + (processor.equals("amd64") ? "x86_64" : processor) + (musl ? "-musl" : "");
    }

    /**
     * Whether Java itself uses the C library musl, as on Alpine Linux. A Java process with musl cannot load a library
     * that was built for glibc.
     */
    static boolean hasMusl(Path maps) {
        try (Stream<String> lines = Files.lines(maps)) {
            return lines.anyMatch(line -> line.contains("/ld-musl-") || line.contains("/libc.musl-"));
        } catch (IOException | UncheckedIOException notLinux) {
            return false;
        }
    }
}
