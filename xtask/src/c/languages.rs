//! Go through cgo, and Java through JNA.

use std::fs;
use std::path::Path;

use super::programs::{IDS, Place};
use crate::command::{Failed, Outcome, Step, root};

const FETCH: &str = "org.apache.maven.plugins:maven-dependency-plugin:3.6.1:copy-dependencies";

pub(super) fn go(place: &Place) -> Outcome {
    let go = |arguments: &[&str]| place.step("env", &["-C", "tests/go", "go"]).args(arguments);
    go(&["vet", "./..."]).run()?;
    go(&["test", "-count=1", "./..."]).run()
}

pub(super) fn java(place: &Place) -> Outcome {
    let jars = jars(place)?;
    let classes = place.work.join("classes").display().to_string();
    let class_path = format!("{jars}/*");
    let folder = root().join("tests/java/flakeid");
    let mut sources = Vec::new();
    let entries =
        fs::read_dir(&folder).map_err(|error| Failed(format!("{}: {error}", folder.display())))?;
    for entry in entries.flatten() {
        sources.push(entry.path().display().to_string());
    }
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
fn jars(place: &Place) -> Result<String, Failed> {
    let wanted = read(&root().join("tests/java/pom.xml"))?;
    let jars = place.work.join("jars");
    let fetched = jars.join("pom.xml");
    if read(&fetched).ok().as_ref() != Some(&wanted) {
        let output = format!("-DoutputDirectory={}", jars.display());
        Step::new("mvn", &["-q", "-B", "-f", "tests/java/pom.xml", FETCH, &output]).run()?;
        fs::write(&fetched, wanted).map_err(|error| Failed(format!("pom.xml: {error}")))?;
    }
    Ok(jars.display().to_string())
}

fn read(path: &Path) -> Result<String, Failed> {
    fs::read_to_string(path).map_err(|error| Failed(format!("{}: {error}", path.display())))
}
