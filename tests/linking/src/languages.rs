//! Go through cgo, and Java through JNA.

use flakeid_linking::jars;
use flakeid_steps::{Outcome, Step, files};

use crate::library::{IDS, Library};

pub(crate) fn go(library: &Library) -> Outcome {
    // Go's cache does not know what pkg-config said, and would link what another checkout built.
    let folder = format!("-L{}", library.prefix.join("lib").display());
    let go = |arguments: &[&str]| {
        library.step("go", arguments).within("tests/go").env("CGO_LDFLAGS", folder.clone())
    };
    go(&["vet", "./..."]).run()?;
    go(&["test", "-count=1", "./..."]).run()
}

pub(crate) fn java(library: &Library) -> Outcome {
    let jars = jars()?;
    let classes = library.work.join("classes").display().to_string();
    let class_path = format!("{jars}/*");
    let sources = files::entries("tests/java/flakeid")?;
    let sources =
        sources.iter().map(|path| files::shown(path)).collect::<Result<Vec<String>, _>>()?;
    let sources: Vec<&str> = sources.iter().map(String::as_str).collect();
    Step::new("javac", &["--release", "17", "-Xlint:all", "-Werror", "-d", &classes])
        .args(&["-cp", &class_path])
        .args(&sources)
        .run()?;
    let library = format!("-Djna.library.path={}", library.lib().display());
    let class_path = format!("{classes}:{class_path}");
    Step::new("java", &[&library, "-Djna.encoding=UTF-8", "-cp", &class_path])
        .args(&["flakeid.Main", "tests/vectors", IDS])
        .run()
}
