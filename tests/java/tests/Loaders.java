package tests;

import java.io.File;
import java.io.IOException;
import java.lang.ref.WeakReference;
import java.lang.reflect.InvocationTargetException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Path;

/** Tests the library in two class loaders, like two applications of one server, in a separate process. */
public final class Loaders {
    private Loaders() {}

    private static void check(boolean condition, String what) {
        if (!condition) {
            throw new AssertionError(what);
        }
    }

    /** Starts {@link #main} in a new process, because this one cannot unload the library. */
    static void run() throws IOException, InterruptedException {
        String java = Path.of(System.getProperty("java.home"), "bin", "java").toString();
        int code =
                new ProcessBuilder(java, "-cp", System.getProperty("java.class.path"), "tests.Loaders")
                        .inheritIO()
                        .start()
                        .waitFor();
        check(code == 0, "two class loaders: " + code);
    }

    public static void main(String[] arguments) throws Exception {
        for (String file : System.getProperty("java.class.path").split(File.pathSeparator)) {
            if (file.endsWith("flakeid.jar")) {
                URL jar = Path.of(file).toUri().toURL();
                WeakReference<ClassLoader> first = one(jar);
                // The references were in the frame of a method that has returned.
                for (int turn = 0; first.get() != null; turn++) {
                    check(turn < 400, "the class loader was not collected");
                    System.gc();
                    Thread.sleep(50);
                }
                check(use(loader(jar)) > 0, "loaded again");
                return;
            }
        }
        throw new AssertionError("no flakeid.jar");
    }

    private static ClassLoader loader(URL jar) {
        return new URLClassLoader(new URL[] {jar}, ClassLoader.getPlatformClassLoader());
    }

    private static WeakReference<ClassLoader> one(URL jar) throws Exception {
        ClassLoader first = loader(jar);
        check(use(first) > 0, "an ID");
        for (int turn = 0; turn < 2; turn++) {
            try {
                use(loader(jar));
                throw new AssertionError("a second copy");
            } catch (InvocationTargetException refused) {
                Throwable cause = refused.getCause();
                String why = turn == 0 ? String.valueOf(cause.getMessage()) : "another class loader";
                check(why.contains("another class loader"), why);
                check(cause instanceof LinkageError, cause.toString());
            }
        }
        check(use(first) > 0, "the first class loader continues");
        return new WeakReference<>(first);
    }

    /** Uses a generator, a ring and an error with the classes of one class loader. */
    private static long use(ClassLoader loader) throws Exception {
        Class<?> generators = loader.loadClass("io.github.flakeid.Generator");
        Object generator = generators.getMethod("of", long.class).invoke(null, 7L);
        Object ring = generators.getMethod("cached").invoke(generator);
        long id = (long) ring.getClass().getMethod("nextId").invoke(ring);
        ring.getClass().getMethod("close").invoke(ring);
        try {
            generators.getMethod("of", long.class).invoke(null, -1L);
            throw new AssertionError("node -1");
        } catch (InvocationTargetException refused) {
            Class<?> exception = loader.loadClass("io.github.flakeid.FlakeidException");
            check(exception.isInstance(refused.getCause()), refused.getCause().toString());
        }
        return id;
    }
}
