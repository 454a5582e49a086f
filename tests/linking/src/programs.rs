//! Programs in C, C++, Go and Java that link the unpacked archive.

use std::path::PathBuf;

use flakeid_linking::{
    IDS, Library, SHORT_RUN, companions, jar, jars, javac, newer_jars, older_jars,
};
use flakeid_steps::{Failed, Outcome, Step, files, packages, root};

const STRICT: [&str; 6] = ["-std=c99", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-g"];
const SANITIZED: [&str; 4] =
    ["-O1", "-fsanitize=address,undefined", "-fno-sanitize-recover=all", "-fno-omit-frame-pointer"];

/// The number of IDs under valgrind, which is about fifty times slower, and under sanitizers. The
/// number is large enough to reach every line of code.
const FEWER_IDS: &str = "200000";

/// Programs that fork while threads run. They do not run with sanitizers: if another thread allocates
/// memory during the fork, the sanitizer's allocator stays locked in the child, which then waits
/// forever (observed with gcc 12). They do run under valgrind, which executes one thread at a time.
const FORK_WITH_THREADS: [&str; 2] = ["fast_fork", "lease_fork"];

/// Ensures that clang's sanitizers are installed. They are in a separate package whose name contains
/// clang's version.
pub(crate) fn sanitizers_of_clang() -> Outcome {
    let version = Step::new("clang", &["-dumpversion"]).output()?;
    let folder = Step::new("clang", &["-print-resource-dir"]).output()?;
    let architecture = std::env::consts::ARCH;
    let runtime = format!("{}/lib/linux/libclang_rt.asan-{architecture}.a", folder.trim());
    let major = version.split('.').next().unwrap_or_default().trim();
    packages::ensure(&[(&runtime, &format!("libclang-rt-{major}-dev"))])
}

/// Checks that the shared library exports exactly the functions of the header.
pub(crate) fn symbols(library: &Library) -> Outcome {
    let shared = library.lib().join("libflakeid.so").display().to_string();
    let listed = Step::new("nm", &["-D", "--defined-only", "--format=just-symbols", &shared]);
    let listed = listed.output()?;
    let mut exported: Vec<&str> = listed.lines().collect();
    exported.sort_unstable();
    let header = files::text(library.prefix.join("include/flakeid.h"))?;
    let declared = flakeid_linking::declared(&header);
    if exported.is_empty() || exported != declared {
        return Err(Failed(format!(
            "{shared} exports {exported:?}, but the header declares {declared:?}"
        )));
    }
    Ok(())
}

/// A program of `tests/c`: its name, its sources, and its arguments. The second arguments are for runs
/// under valgrind or sanitizers.
struct Program {
    name: &'static str,
    sources: Vec<String>,
    arguments: [&'static str; 2],
}

fn programs() -> Result<Vec<Program>, Failed> {
    let sources = files::with_extension("tests/c/vectors", "c")?;
    let sources = sources.iter().map(|path| files::shown(path)).collect::<Result<_, _>>()?;
    let one = |name, file: &str, arguments| Program {
        name,
        sources: vec![root().join(file).display().to_string()],
        arguments,
    };
    Ok(vec![
        Program { name: "vectors", sources, arguments: ["tests/vectors"; 2] },
        one("options", "tests/c/options.c", [""; 2]),
        one("refusals", "tests/c/refusals.c", [""; 2]),
        one("fork", "tests/c/fork.c", [""; 2]),
        one("lease", "tests/c/lease.c", ["", "watched"]),
        one("lease_fork", "tests/c/lease_fork.c", [""; 2]),
        one("fast_fork", "tests/c/fast_fork.c", [""; 2]),
        one("threads", "tests/c/threads.c", [IDS, FEWER_IDS]),
        one("local", "tests/c/local.c", [IDS, FEWER_IDS]),
        one("ring", "tests/c/ring.c", [IDS, FEWER_IDS]),
        one("quickstart", "examples/quickstart.c", [""; 2]),
    ])
}

pub(crate) fn c(library: &Library) -> Outcome {
    let flags =
        library.step("pkg-config", &["--cflags", "--libs", "flakeid", "jansson"]).output()?;
    for program in programs()? {
        for compiler in ["gcc", "clang"] {
            let plain = compile(library, compiler, &program, "plain", &["-O2"], &flags)?;
            run(library.step(&plain, &[]), program.arguments[0])?;
            if compiler == "gcc" {
                let valgrind = library.step("valgrind", &VALGRIND).args(&[&plain]);
                run(valgrind, program.arguments[1])?;
            }
            if FORK_WITH_THREADS.contains(&program.name) {
                continue;
            }
            let sanitized = compile(library, compiler, &program, "sanitized", &SANITIZED, &flags)?;
            run(library.step(&sanitized, &[]), program.arguments[1])?;
        }
    }
    Ok(())
}

const VALGRIND: [&str; 6] = [
    "--quiet",
    "--error-exitcode=1",
    "--leak-check=full",
    // Only definite leaks are errors, because memory that a thread uses until the end is reported as
    // "possibly lost".
    "--errors-for-leak-kinds=definite",
    "--fair-sched=yes",
    "--suppressions=tests/c/valgrind.supp",
];

fn run(step: Step, argument: &str) -> Outcome {
    if argument.is_empty() { step.run() } else { step.args(&[argument]).run() }
}

fn compile(
    library: &Library,
    compiler: &str,
    program: &Program,
    kind: &str,
    flags: &[&str],
    libraries: &str,
) -> Result<String, Failed> {
    let output = library.work.join(format!("{}-{compiler}-{kind}", program.name));
    let output = output.display().to_string();
    let all: Vec<&str> = STRICT
        .iter()
        .chain(flags)
        .copied()
        .chain(["-pthread", "-o", &output])
        .chain(program.sources.iter().map(String::as_str))
        .chain(libraries.split_whitespace())
        .collect();
    Step::new(compiler, &all).run()?;
    Ok(output)
}

/// The programs in C that link a static library, each with the name of the library for pkg-config.
const STATIC: [(&str, &str); 3] = [
    ("flakeid", "tests/c/lease.c"),
    ("flakeid-static", "tests/c/lease.c"),
    ("flakeid-slim", "tests/c/slim.c"),
];

/// Tests that `gcc -static` accepts pkg-config's output, and that a static library defines no
/// symbols except the functions of the header.
pub(crate) fn static_executables(library: &Library) -> Outcome {
    let header = files::text(library.prefix.join("include/flakeid.h"))?;
    for name in ["libflakeid.a", "libflakeid-slim.a"] {
        let file = library.lib().join(name).display().to_string();
        let listed = Step::new("nm", &["-g", "--defined-only", "--format=just-symbols", &file]);
        let listed = listed.output()?;
        let mut defined: Vec<&str> =
            listed.lines().filter(|line| !line.is_empty() && !line.ends_with(':')).collect();
        defined.sort_unstable();
        if defined != flakeid_linking::declared(&header) {
            return Err(Failed(format!("{file} defines {defined:?}, unlike the header")));
        }
    }
    for (name, source) in STATIC {
        let words = ["--static", "--cflags", "--libs", name];
        let words = library.step("pkg-config", &words).output()?;
        let program = library.work.join(format!("{name}-static")).display().to_string();
        let source = root().join(source).display().to_string();
        Step::new("gcc", &STRICT)
            .args(&["-static", &source, "-o", &program])
            .args(&words.split_whitespace().collect::<Vec<_>>())
            .run()?;
        let headers = Step::new("readelf", &["--program-headers", &program]).output()?;
        if headers.contains("INTERP") {
            return Err(Failed(format!("{program} needs shared libraries")));
        }
        Step::new(&program, &[]).run()?;
    }
    Ok(())
}

/// Tests the `CMake` package, with the shared and the static libraries and with both compilers.
pub(crate) fn cpp(library: &Library) -> Outcome {
    for (c, cpp) in [("gcc", "g++"), ("clang", "clang++")] {
        let folder = library.work.join(format!("cmake-{c}"));
        files::remove(&folder)?;
        let folder = folder.display().to_string();
        let prefix = format!("-DCMAKE_PREFIX_PATH={}", library.prefix.display());
        let compilers = [format!("-DCMAKE_C_COMPILER={c}"), format!("-DCMAKE_CXX_COMPILER={cpp}")];
        let count = format!("-DIDS={IDS}");
        Step::new("cmake", &["-S", "tests/cpp", "-B", &folder, "-DCMAKE_BUILD_TYPE=Release"])
            .args(&[&prefix, &compilers[0], &compilers[1], &count])
            .run()?;
        Step::new("cmake", &["--build", &folder, "--parallel", "2"]).run()?;
        Step::new("ctest", &["--test-dir", &folder, "--output-on-failure", "--parallel", "2"])
            .run()?;
    }
    Ok(())
}

/// Tests the Go module through cgo, with Go's race detector, and leases with the static library.
pub(crate) fn go(library: &Library) -> Outcome {
    // Go's build cache ignores the output of pkg-config, so it would link the library of another
    // checkout.
    let folder = format!("-L{}", library.prefix.join("lib").display());
    let go = |arguments: &[&str]| {
        library.step("go", arguments).within("go").env("CGO_LDFLAGS", folder.clone())
    };
    go(&["vet", "-tags", "flakeid_shared", "./..."]).run()?;
    go(&["test", "-count=1", "-tags", "flakeid_shared", "-race", "-parallel", "8", "./..."])
        .run()?;
    go(&["test", "-count=1", "-tags", "flakeid_static", "-run", "Lease|Events", "./..."]).run()
}

/// The first Java version whose foreign-function interface the library uses.
const FOREIGN: u32 = 24;

/// Returns a Java with the foreign-function interface, in case the Java on the `PATH` is older.
fn foreign_java() -> Result<Option<String>, Failed> {
    let mut homes = files::entries("/usr/lib/jvm").unwrap_or_default();
    homes.extend(std::env::var_os("JAVA_HOME_25_X64").map(PathBuf::from));
    for home in homes.iter().filter(|home| home.join("release").is_file()) {
        let release = files::text(home.join("release"))?;
        let version = release.lines().find_map(|line| line.strip_prefix("JAVA_VERSION=\""));
        let feature = version.and_then(|version| version.split(['.', '"']).next());
        if feature.and_then(|feature| feature.parse::<u32>().ok()) >= Some(FOREIGN) {
            return files::shown(&home.join("bin/java")).map(Some);
        }
    }
    Ok(None)
}

/// Returns a step that runs a class.
fn java_step(java: &str, class_path: &str) -> Step {
    Step::new(java, &SHORT_RUN).args(&["-cp", class_path])
}

/// Tests the jar, which unpacks its native part as it does for users, and once with a check of every
/// JNI call.
pub(crate) fn java(library: &Library) -> Outcome {
    let jar = files::shown(&jar(library)?)?;
    let classes = library.work.join("classes");
    files::empty(&classes)?;
    javac(&["tests/java/tests"], &classes, &format!("{jar}:{}", jars()?))?;
    jar_contents(library, &jar)?;
    let with = |jars: String| format!("{}:{jar}:{jars}", classes.display());
    let (older, newer) = (with(older_jars()?), with(newer_jars()?));
    for class_path in [&older, &newer] {
        java_step("java", class_path).args(&["tests.SpringBoot"]).run()?;
    }
    let main = ["tests.Main", "tests/vectors"];
    java_step("java", &older).args(&["-Xcheck:jni"]).args(&main).args(&[FEWER_IDS]).run()?;
    java_step("java", &older).args(&main).args(&[IDS]).run()?;
    // With this newer Java, the library uses the foreign-function interface.
    if let Some(java) = foreign_java()? {
        return java_step(&java, &older).args(&main).args(&[IDS]).run();
    }
    println!(
        "not tested: calls through the foreign-function interface, because /usr/lib/jvm and JAVA_HOME_25_X64 have no \
         Java {FOREIGN} or later"
    );
    Ok(())
}

/// Checks the parts of the jars that only build tools and editors use, and runs a program on the module path.
fn jar_contents(library: &Library, jar: &str) -> Outcome {
    let stem = jar.trim_end_matches(".jar");
    companions(stem, &library.work.join("documentation"))?;
    let list = |file: String| Step::new("jar", &["--list", "--file", &file]).output();
    let class = ["-v", "-cp", jar, "io.github.flakeid.Layout"];
    let module = ["--describe-module", "--file", jar];
    for (contents, part) in [
        (Step::new("jar", &module).output()?, "io.github.flakeid automatic"),
        // The parameter of `joinNode`.
        (Step::new("javap", &class).output()?, "\n      datacenter"),
        (list(jar.to_owned())?, "META-INF/maven/io.github.flakeid/flakeid/pom.xml"),
        (list(format!("{stem}-sources.jar"))?, "io/github/flakeid/Generator.java"),
        (list(format!("{stem}-javadoc.jar"))?, "io/github/flakeid/Generator.html"),
    ] {
        if !contents.contains(part) {
            return Err(Failed(format!(
                "{stem}.jar, or a jar next to it, has no {part}: {contents}"
            )));
        }
    }
    let store = library.work.join("module.db");
    Step::new("java", &["-p", jar, "--add-modules", "io.github.flakeid", "examples/java/Ids.java"])
        .env("FLAKEID_STORE", format!("sqlite://{}", store.display()))
        .run()
}
