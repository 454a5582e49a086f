//! The Java library: its native part, which is the C library with a shim for JNI, and the jar
//! that contains the native part.

use std::env::consts::{ARCH, DLL_PREFIX, DLL_SUFFIX, OS};
use std::path::{Path, PathBuf};

use flakeid_steps::{Failed, Step, files, root};

use crate::Library;

/// Java's options for programs that run for seconds: the optimising compiler and the threads of the garbage collector
/// would take more time than they save.
pub const SHORT_RUN: [&str; 2] = ["-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC"];

const EXPORTS: &str = "java/src/main/c/exports.map";
const FETCH: &str = "org.apache.maven.plugins:maven-dependency-plugin:3.6.1:copy-dependencies";
const POM: &str = "java/pom.xml";
const SOURCES: &str = "java/src/main/java";
const MANIFEST: &str = "java/src/main/MANIFEST.MF";
/// The time of the files in each jar, so that the same files make the same bytes.
const DATE: &str = "--date=2026-01-01T00:00:00Z";
/// The folder of the artifact's description in the jar, from which Maven installs the jar.
const IN_JAR: &str = "META-INF/maven/io.github.flakeid/flakeid";

/// Returns the class path of the frameworks' older versions, which most programs use: Spring Boot 3 and Jackson 2.
///
/// # Errors
/// If Maven fails.
pub fn older_jars() -> Result<String, Failed> {
    fetched("tests/java/pom.xml", "jars")
}

/// Returns the class path of the frameworks' newer versions: Spring Boot 4 and Jackson 3.
///
/// # Errors
/// If Maven fails.
pub fn newer_jars() -> Result<String, Failed> {
    fetched("tests/java/newer/pom.xml", "newer-jars")
}

/// Returns the class path with which the library is compiled. If both versions of a framework have a class, the class
/// of the older version is used.
///
/// # Errors
/// If Maven fails.
pub fn jars() -> Result<String, Failed> {
    Ok(format!("{}:{}", older_jars()?, newer_jars()?))
}

/// Returns the class path of the jars that a `pom.xml` lists. Maven runs once for each version of
/// that file, so that later runs need no network.
fn fetched(pom: &str, folder: &str) -> Result<String, Failed> {
    let wanted = files::text(pom)?;
    let jars = root().join("target/c").join(folder);
    let copy = jars.join("pom.xml");
    if files::text(&copy).ok().as_ref() != Some(&wanted) {
        files::empty(&jars)?;
        let output = format!("-DoutputDirectory={}", jars.display());
        Step::new("mvn", &["-q", "-B", "-f", pom, FETCH, &output])
            .env("MAVEN_OPTS", SHORT_RUN.join(" "))
            .run()?;
        files::write(&copy, wanted)?;
    }
    Ok(format!("{}/*", jars.display()))
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
    javac(&[SOURCES], classes, &jars()?)?;
    let resources = root().join("java/src/main/resources");
    files::copy_folder(&files::shown(&resources)?, &files::shown(classes)?)?;
    files::make_folder(classes.join(IN_JAR))?;
    files::copy(POM, classes.join(IN_JAR).join("pom.xml"))?;
    to.parent().map_or(Ok(()), files::make_folder)?;
    let (to, from) = (files::shown(to)?, files::shown(classes)?);
    let manifest = files::shown(&root().join(MANIFEST))?;
    Step::new("jar", &["--create", DATE, "--file", &to, "--manifest", &manifest, "-C", &from, "."])
        .run()
}

/// Empties the folder `pages`, and writes the documentation there.
///
/// # Errors
/// If javadoc prints a warning.
pub fn javadoc(pages: &Path) -> Result<(), Failed> {
    files::empty(pages)?;
    // Without times, the same sources make the same pages.
    Step::new("javadoc", &["-quiet", "-notimestamp", "--release", "17"])
        .args(&["-Xdoclint:all,-missing", "-Werror"])
        .args(&["-cp", &jars()?, "-sourcepath", SOURCES, "-d", &files::shown(pages)?])
        .args(&["-subpackages", "io.github.flakeid"])
        .run()
}

/// Builds the jars with the sources and the documentation, for a jar whose path without its extension is `stem`.
/// Empties the folder `pages`, and writes the documentation there.
///
/// # Errors
/// If javadoc prints a warning.
pub fn companions(stem: &str, pages: &Path) -> Result<(), Failed> {
    javadoc(pages)?;
    let pages = files::shown(pages)?;
    for (ending, folder) in [("sources", SOURCES), ("javadoc", pages.as_str())] {
        let file = format!("{stem}-{ending}.jar");
        Step::new("jar", &["--create", DATE, "--file", &file, "-C", folder, "."]).run()?;
    }
    Ok(())
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
    Step::new(
        "javac",
        &SHORT_RUN.map(|option| format!("-J{option}")).each_ref().map(String::as_str),
    )
    .args(&["--release", "17", "-Xlint:all", "-Werror", "-parameters"])
    .args(&["-d", &files::shown(to)?, "-cp", class_path])
    .args(&sources)
    .run()
}
