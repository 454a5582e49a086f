//! The Java library: its native part, which is the C library with a shim for JNI, and the jar
//! that contains the native part.

use std::env::consts::{ARCH, DLL_PREFIX, DLL_SUFFIX, OS};
use std::path::{Path, PathBuf};

use flakeid_steps::{Failed, Step, files, root};

use crate::Library;

const EXPORTS: &str = "java/src/main/c/exports.map";
const FETCH: &str = "org.apache.maven.plugins:maven-dependency-plugin:3.6.1:copy-dependencies";

/// Returns the folder with the jars that `pom.xml` lists. Maven runs once for each version of
/// that file, so that later runs need no network.
///
/// # Errors
/// If Maven fails.
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

/// Returns the folder of the JDK, which contains JNI's headers.
fn jdk() -> Result<PathBuf, Failed> {
    let settings = Step::new("java", &["-XshowSettings:properties", "-version"]).error_output()?;
    let home = settings.lines().find_map(|line| line.trim().strip_prefix("java.home = "));
    home.map(PathBuf::from).ok_or_else(|| Failed("java does not report java.home".to_owned()))
}

/// Returns the linker's options for `linux`, `macos` or `windows`.
///
/// The library must stay loaded when its class loader is collected (`nodelete`), because its
/// threads may still be running. macOS never unloads such libraries. On Windows, the shim
/// prevents unloading.
fn on_system(system: &str) -> Result<Vec<String>, Failed> {
    let exports = format!("-Wl,--version-script={}", root().join(EXPORTS).display());
    let options: &[&str] = match system {
        "linux" => &["-fPIC", "-s", &exports, "-Wl,--gc-sections", "-Wl,-z,nodelete"],
        "macos" => &["-fPIC", "-Wl,-dead_strip"],
        // The headers come from a JDK for Linux. MinGW's libraries are linked statically, because
        // Windows does not include them.
        "windows" => &["-s", "-static", "-DJNIEXPORT=__declspec(dllexport)", "-Wl,--gc-sections"],
        other => return Err(Failed(format!("the jar has no library for {other}"))),
    };
    Ok(options.iter().map(ToString::to_string).collect())
}

/// Returns the platform's folder in the jar, in which `Library.java` searches on this system.
fn platform() -> String {
    let musl = if cfg!(target_env = "musl") { "-musl" } else { "" };
    format!("{OS}-{ARCH}{musl}")
}

/// Compiles the native part, including the C library, with a compiler for `system` (`linux`,
/// `macos` or `windows`). `linked` contains the linker's arguments for the C library.
///
/// # Errors
/// If the compiler fails.
pub fn native(compiler: Step, system: &str, linked: &[&str], to: &Path) -> Result<(), Failed> {
    let include = jdk()?.join("include");
    let headers = include.join(if OS == "macos" { "darwin" } else { OS });
    let own = root().join("include");
    let sources = files::with_extension("java/src/main/c", "c")?;
    let sources = sources.iter().map(|path| files::shown(path)).collect::<Result<Vec<_>, _>>()?;
    to.parent().map_or(Ok(()), files::make_folder)?;
    let options = on_system(system)?;
    let folders = [&include, &headers, &own].map(|folder| format!("-I{}", folder.display()));
    compiler
        .args(&["-std=c99", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-O2", "-shared", "-o"])
        .args(&[&files::shown(to)?])
        .args(&folders.each_ref().map(String::as_str))
        .args(&sources.iter().map(String::as_str).collect::<Vec<_>>())
        .args(&options.iter().map(String::as_str).collect::<Vec<_>>())
        .args(linked)
        .run()
}

/// Builds `flakeid.jar` for this system, with the C library inside.
///
/// # Errors
/// If a compiler fails.
pub fn jar(library: &Library) -> Result<PathBuf, Failed> {
    let natives = library.work.join("natives");
    files::empty(&natives)?;
    let linked = library.step("pkg-config", &["--libs", "flakeid-static"]).output()?;
    let linked: Vec<&str> = linked.split_whitespace().collect();
    let file = natives.join(platform()).join(format!("{DLL_PREFIX}flakeid_jni{DLL_SUFFIX}"));
    native(Step::new("gcc", &[]), OS, &linked, &file)?;
    let jar = library.work.join("flakeid.jar");
    jar_of(&natives, &library.work.join("jar"), &jar)?;
    Ok(jar)
}

/// Builds the jar `to` from a folder with the native part for each platform. Empties the folder
/// `classes`, and writes the classes there.
///
/// # Errors
/// If a compiler fails.
pub fn jar_of(natives: &Path, classes: &Path, to: &Path) -> Result<(), Failed> {
    files::empty(classes)?;
    let inside = classes.join("io/github/flakeid/native");
    files::copy_folder(&files::shown(natives)?, &files::shown(&inside)?)?;
    javac(&["java/src/main/java"], classes, &format!("{}/*", jars()?))?;
    let resources = root().join("java/src/main/resources");
    files::copy_folder(&files::shown(&resources)?, &files::shown(classes)?)?;
    to.parent().map_or(Ok(()), files::make_folder)?;
    let (to, from) = (files::shown(to)?, files::shown(classes)?);
    Step::new("jar", &["--create", "--file", &to, "-C", &from, "."]).run()
}

/// Compiles all sources in these folders.
///
/// # Errors
/// If the compiler fails or prints a warning.
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
