//! The Java library: the native part, which is the C library behind a shim, and the jar that holds it.

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

/// Builds `flakeid.jar` for this system, with the C library inside.
///
/// # Errors
/// When a compiler fails.
pub fn jar(library: &Library) -> Result<PathBuf, Failed> {
    let include = jdk()?.join("include");
    let classes = library.work.join("jar");
    let native = classes.join("io/github/flakeid/native/linux-x86_64");
    files::empty(&classes)?;
    files::make_folder(&native)?;
    Step::new("gcc", &["-std=c99", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-O2", "-fPIC"])
        .args(&["-shared", "-s", "-o", &files::shown(&native.join("libflakeid_jni.so"))?])
        .args(&[&format!("-I{}", include.display()), &format!("-I{}/linux", include.display())])
        .args(&[&format!("-I{}", library.prefix.join("include").display())])
        .args(&["java/src/main/c/flakeid_jni.c", "java/src/main/c/flakeid_events.c"])
        .args(&[&files::shown(&library.lib().join("libflakeid.a"))?])
        .args(&["-Wl,--exclude-libs,ALL", "-Wl,--gc-sections", "-lm", "-lpthread", "-ldl"])
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
