//! The Java library: the native part, which is the C library behind a shim, and the jar that holds it.

use std::env::consts::{ARCH, DLL_PREFIX, DLL_SUFFIX, OS};
use std::path::{Path, PathBuf};

use flakeid_steps::{Failed, Step, files, root};

use crate::Library;

const FETCH: &str = "org.apache.maven.plugins:maven-dependency-plugin:3.6.1:copy-dependencies";

/// The folder of the jars that `pom.xml` names. Maven is asked once for each version of that file,
/// so that later runs need no network.
///
/// # Errors
/// When Maven fails.
pub fn jars() -> Result<String, Failed> {
    let wanted = files::text("tests/java/pom.xml")?;
    let jars = root().join("target/c/jars");
    let fetched = jars.join("pom.xml");
    if files::text(&fetched).ok().as_ref() != Some(&wanted) {
        files::empty(&jars)?;
        let output = format!("-DoutputDirectory={}", jars.display());
        Step::new("mvn", &["-q", "-B", "-f", "tests/java/pom.xml", FETCH, &output]).run()?;
        files::write(&fetched, wanted)?;
    }
    Ok(jars.display().to_string())
}

/// The folder of the JDK, by its compiler, for JNI's headers.
fn jdk() -> Result<PathBuf, Failed> {
    let settings = Step::new("java", &["-XshowSettings:properties", "-version"]).complaints()?;
    let home = settings.lines().find_map(|line| line.trim().strip_prefix("java.home = "));
    home.map(PathBuf::from).ok_or_else(|| Failed("java does not say where it is".to_owned()))
}

/// What a system calls the folder of JNI's own header, and what its linker is told.
///
/// The library stays in the process when its class loader is collected (`nodelete`), because its threads
/// may still be running; macOS keeps such libraries anyway.
fn on_system(system: &str) -> Result<(&'static str, &'static [&'static str]), Failed> {
    match system {
        "linux" => {
            Ok(("linux", &["-s", "-Wl,--exclude-libs,ALL", "-Wl,--gc-sections", "-Wl,-z,nodelete"]))
        }
        "macos" => Ok(("darwin", &["-Wl,-dead_strip"])),
        other => Err(Failed(format!("the jar is built on Linux and macOS only, not on {other}"))),
    }
}

/// What `Library.java` looks for on the system that this was compiled for.
fn platform() -> String {
    let musl = if cfg!(target_env = "musl") { "-musl" } else { "" };
    format!("{OS}-{ARCH}{musl}")
}

/// Builds `flakeid.jar` for this system, with the C library inside.
///
/// # Errors
/// When a compiler fails.
pub fn jar(library: &Library) -> Result<PathBuf, Failed> {
    let include = jdk()?.join("include");
    let classes = library.work.join("jar");
    let native = classes.join("io/github/flakeid/native").join(platform());
    let (headers, flags) = on_system(OS)?;
    let linked = library.step("pkg-config", &["--libs", "flakeid-static"]).output()?;
    files::empty(&classes)?;
    files::make_folder(&native)?;
    let shim = native.join(format!("{DLL_PREFIX}flakeid_jni{DLL_SUFFIX}"));
    let sources = files::with_extension("java/src/main/c", "c")?;
    let sources = sources.iter().map(|path| files::shown(path)).collect::<Result<Vec<_>, _>>()?;
    Step::new("gcc", &["-std=c99", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-O2", "-fPIC"])
        .args(&["-shared", "-o", &files::shown(&shim)?])
        .args(&[&format!("-I{}", include.display()), &format!("-I{}/{headers}", include.display())])
        .args(&[&format!("-I{}", library.prefix.join("include").display())])
        .args(&sources.iter().map(String::as_str).collect::<Vec<_>>())
        .args(flags)
        .args(&linked.split_whitespace().collect::<Vec<_>>())
        .run()?;
    javac(&["java/src/main/java"], &classes, &format!("{}/*", jars()?))?;
    let resources = root().join("java/src/main/resources");
    files::copy_folder(&files::shown(&resources)?, &files::shown(&classes)?)?;
    let jar = library.work.join("flakeid.jar");
    let (to, from) = (files::shown(&jar)?, files::shown(&classes)?);
    Step::new("jar", &["--create", "--file", &to, "-C", &from, "."]).run()?;
    Ok(jar)
}

/// Compiles everything in these folders.
///
/// # Errors
/// When the compiler fails, or warns.
pub fn javac(folders: &[&str], to: &Path, class_path: &str) -> Result<(), Failed> {
    let in_folders = |path: &&PathBuf| folders.iter().any(|folder| path.starts_with(folder));
    let sources = files::of_project()?;
    let sources = sources.iter().filter(in_folders);
    let sources = sources
        .filter(|path| path.extension().is_some_and(|extension| extension == "java"))
        .map(|path| files::shown(path))
        .collect::<Result<Vec<String>, _>>()?;
    let sources: Vec<&str> = sources.iter().map(String::as_str).collect();
    Step::new("javac", &["--release", "17", "-Xlint:all", "-Werror", "-d", &files::shown(to)?])
        .args(&["-cp", class_path])
        .args(&sources)
        .run()
}
