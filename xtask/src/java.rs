//! The benchmark of the Java library and its rivals.

use std::env;
use std::path::PathBuf;

use flakeid_steps::{Failed, Step, files, packages, root};

use crate::jar::{self, NEEDED};

const SOURCES: &str = "benches/java";
const WORK: &str = "target/java/bench";
const FETCH: &str = "org.apache.maven.plugins:maven-dependency-plugin:3.6.1:copy-dependencies";
/// The first Java version whose foreign-function interface the library uses.
const FOREIGN: u32 = 24;

/// Returns the compiled benchmark for the Java on the `PATH`, and also for a newer Java with the
/// foreign-function interface, if one is installed. The rivals come from Maven Central.
pub(crate) fn bench() -> Result<Vec<(&'static str, Step)>, Failed> {
    packages::ensure(&NEEDED)?;
    jar::build()?;
    files::empty(WORK)?;
    let (jars, nothing) = (in_work("jars")?, in_work("libnothing.so")?);
    Step::new("mvn", &["-q", "-B", "-f", &format!("{SOURCES}/pom.xml"), FETCH])
        .args(&[&format!("-DoutputDirectory={jars}")])
        .run()?;
    let properties =
        Step::new("java", &["-XshowSettings:properties", "-version"]).error_output()?;
    let property = |name: &str| {
        let value =
            properties.lines().find_map(|line| line.trim().strip_prefix(name)?.strip_prefix(" = "));
        value.ok_or_else(|| Failed(format!("java does not report its {name}")))
    };
    let home = property("java.home")?;
    Step::new("gcc", &["-O2", "-shared", "-fPIC", "-o", &nothing])
        .args(&[&format!("-I{home}/include"), &format!("-I{home}/include/linux")])
        .args(&[&format!("{SOURCES}/nothing.c")])
        .run()?;
    let feature = feature(property("java.specification.version")?);
    let mut all = vec![("java", compiled("", feature)?)];
    if feature < Some(FOREIGN)
        && let Some((bin, feature)) = newer()?
    {
        all.push(("java-foreign", compiled(&bin, Some(feature))?));
    }
    Ok(all)
}

fn in_work(name: &str) -> Result<String, Failed> {
    files::shown(&root().join(WORK).join(name))
}

/// Returns the benchmark, compiled with the Java whose programs are in `bin` (empty for the Java
/// on the `PATH`).
fn compiled(bin: &str, feature: Option<u32>) -> Result<Step, Failed> {
    let version = feature.unwrap_or_default();
    let (jars, nothing) = (in_work("jars")?, in_work("libnothing.so")?);
    let classes = in_work(&format!("classes-{version}"))?;
    let class_path = format!("{classes}:target/dist/java/flakeid.jar:{jars}/*");
    let mut sources = files::with_extension(SOURCES, "java")?;
    if feature >= Some(FOREIGN) {
        sources.extend(files::with_extension(format!("{SOURCES}/foreign"), "java")?);
    }
    let sources = sources.iter().map(|path| files::shown(path)).collect::<Result<Vec<_>, _>>()?;
    Step::new(&format!("{bin}javac"), &["-d", &classes, "-cp", &class_path])
        .args(&sources.iter().map(String::as_str).collect::<Vec<_>>())
        .run()?;
    let allowed: &[&str] =
        if feature >= Some(FOREIGN) { &["--enable-native-access=ALL-UNNAMED"] } else { &[] };
    // The heap must have room for the IDs that the benchmark stores and sorts.
    Ok(Step::new(&format!("{bin}java"), &["-Xms3g", "-Xmx3g"]).args(allowed).args(&[
        &format!("-Dnothing={nothing}"),
        "-cp",
        &class_path,
        "Bench",
    ]))
}

/// Returns the folder of the programs and the version of an installed Java that is new enough.
fn newer() -> Result<Option<(String, u32)>, Failed> {
    let mut homes = files::entries("/usr/lib/jvm").unwrap_or_default();
    homes.extend(env::var_os("JAVA_HOME_25_X64").map(PathBuf::from));
    for home in homes.iter().filter(|home| home.join("release").is_file()) {
        let release = files::text(home.join("release"))?;
        let version = release.lines().find_map(|line| line.strip_prefix("JAVA_VERSION=\""));
        if let Some(feature) = version.and_then(feature).filter(|feature| *feature >= FOREIGN)
            && home.join("bin/javac").is_file()
        {
            return Ok(Some((files::shown(&home.join("bin/"))?, feature)));
        }
    }
    Ok(None)
}

/// Returns the number before the first dot.
fn feature(version: &str) -> Option<u32> {
    version.split(['.', '"']).next()?.parse().ok()
}
