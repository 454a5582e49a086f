package io.github.flakeid;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** Tests the name of the library for each system. It is in the library's package, because the method is not public. */
public final class Platforms {
    private Platforms() {}

    private static void same(String actual, String expected) {
        if (!actual.equals(expected)) {
            throw new AssertionError(actual + " instead of " + expected);
        }
    }

    /** Checks the platform for values of os.name and os.arch, and musl by the mapped files of the process. */
    public static void run() throws IOException {
        same(Library.platform("Linux", "amd64", false), "linux-x86_64");
        same(Library.platform("Linux", "aarch64", true), "linux-aarch64-musl");
        same(Library.platform("Mac OS X", "x86_64", false), "macos-x86_64");
        same(Library.platform("Windows Server 2022", "amd64", false), "windows-x86_64");
        same(Library.platform("FreeBSD", "amd64", false), "freebsd-x86_64");
        Path maps = Files.createTempFile("flakeid", "maps");
        for (String line : new String[] {"/lib/ld-musl-x86_64.so.1", "/lib/libc.musl-aarch64.so.1", "/lib/libc.so.6"}) {
            Files.writeString(maps, "7f0000000000-7f0000001000 r--p 00000000 00:2d 77 " + line + "\n");
            same(Boolean.toString(Library.hasMusl(maps)), Boolean.toString(line.contains("musl")));
        }
        Files.delete(maps);
        same(Boolean.toString(Library.hasMusl(maps)), "false");
    }
}
