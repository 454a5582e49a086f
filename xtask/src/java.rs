//! What measures the Java library beside its rivals.

use flakeid_steps::{Failed, Step, files, packages, root};

use crate::c;

const NEEDED: [(&str, &str); 3] =
    [("gcc", "gcc"), ("javac", "openjdk-17-jdk-headless"), ("mvn", "maven")];
const SOURCES: &str = "benches/java";
const WORK: &str = "target/java/bench";
const FETCH: &str = "org.apache.maven.plugins:maven-dependency-plugin:3.6.1:copy-dependencies";
/// The first that has the foreign-function interface.
const FOREIGN: u32 = 22;

/// The benchmark, compiled. Its rivals come from Maven Central.
pub(crate) fn bench() -> Result<Step, Failed> {
    packages::ensure(&NEEDED)?;
    c::jar()?;
    files::empty(WORK)?;
    let in_work = |name: &str| files::shown(&root().join(WORK).join(name));
    let (jars, classes, nothing) =
        (in_work("jars")?, in_work("classes")?, in_work("libnothing.so")?);
    Step::new("mvn", &["-q", "-B", "-f", &format!("{SOURCES}/pom.xml"), FETCH])
        .args(&[&format!("-DoutputDirectory={jars}")])
        .run()?;
    let told = Step::new("java", &["-XshowSettings:properties", "-version"]).complaints()?;
    let property = |name: &str| {
        let value =
            told.lines().find_map(|line| line.trim().strip_prefix(name)?.strip_prefix(" = "));
        value.ok_or_else(|| Failed(format!("java does not tell its {name}")))
    };
    let home = property("java.home")?;
    Step::new("gcc", &["-O2", "-shared", "-fPIC", "-o", &nothing])
        .args(&[&format!("-I{home}/include"), &format!("-I{home}/include/linux")])
        .args(&[&format!("{SOURCES}/nothing.c")])
        .run()?;
    let class_path = format!("{classes}:target/dist/java/flakeid.jar:{jars}/*");
    let javac = Step::new("javac", &["-d", &classes, "-cp", &class_path]);
    let mut sources = files::with_extension(SOURCES, "java")?;
    if property("java.specification.version")?
        .parse::<u32>()
        .is_ok_and(|version| version >= FOREIGN)
    {
        sources.extend(files::with_extension(format!("{SOURCES}/foreign"), "java")?);
    }
    let sources = sources.iter().map(|path| files::shown(path)).collect::<Result<Vec<_>, _>>()?;
    javac.args(&sources.iter().map(String::as_str).collect::<Vec<_>>()).run()?;
    // Room for the IDs that are kept and sorted.
    Ok(Step::new(
        "java",
        &["-Xms3g", "-Xmx3g", &format!("-Dnothing={nothing}"), "-cp", &class_path],
    )
    .args(&["Bench"]))
}
