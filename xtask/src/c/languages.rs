//! Go through cgo, and Java through JNA.

use flakeid_steps::{Failed, Outcome, Step, files};

use super::archive::{IDS, Place};

const FETCH: &str = "org.apache.maven.plugins:maven-dependency-plugin:3.6.1:copy-dependencies";

pub(super) fn go(place: &Place) -> Outcome {
    // Go's cache does not know what pkg-config said, and would link what another checkout built.
    let folder = format!("-L{}", place.prefix.join("lib").display());
    let go = |arguments: &[&str]| {
        place.step("go", arguments).within("tests/go").env("CGO_LDFLAGS", folder.clone())
    };
    go(&["vet", "./..."]).run()?;
    go(&["test", "-count=1", "./..."]).run()
}

pub(super) fn java(place: &Place) -> Outcome {
    let jars = jars(place)?;
    let classes = place.work.join("classes").display().to_string();
    let class_path = format!("{jars}/*");
    let sources = files::entries("tests/java/flakeid")?;
    let sources =
        sources.iter().map(|path| files::shown(path)).collect::<Result<Vec<String>, _>>()?;
    let sources: Vec<&str> = sources.iter().map(String::as_str).collect();
    Step::new("javac", &["--release", "17", "-Xlint:all", "-Werror", "-d", &classes])
        .args(&["-cp", &class_path])
        .args(&sources)
        .run()?;
    let library = format!("-Djna.library.path={}", place.lib().display());
    let class_path = format!("{classes}:{class_path}");
    Step::new("java", &[&library, "-Djna.encoding=UTF-8", "-cp", &class_path])
        .args(&["flakeid.Main", "tests/vectors", IDS])
        .run()
}

/// The jars that `pom.xml` names. Maven is asked once for each version of that file, so that later
/// runs need no network.
pub(crate) fn jars(place: &Place) -> Result<String, Failed> {
    let wanted = files::text("tests/java/pom.xml")?;
    let jars = place.work.join("jars");
    let fetched = jars.join("pom.xml");
    if files::text(&fetched).ok().as_ref() != Some(&wanted) {
        let output = format!("-DoutputDirectory={}", jars.display());
        Step::new("mvn", &["-q", "-B", "-f", "tests/java/pom.xml", FETCH, &output]).run()?;
        files::write(&fetched, wanted)?;
    }
    Ok(jars.display().to_string())
}
