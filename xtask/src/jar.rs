//! The Java library: its native part for each platform, and the jar that contains them.

use std::path::Path;

use flakeid_steps::packages::Program;
use flakeid_steps::{Failed, Outcome, Step, files, packages, root, target_folder};

use crate::c;
use crate::platform::{Platform, RELEASED, Target, WINDOWS_GNU};

const VERSION: &str = env!("CARGO_PKG_VERSION");
pub(crate) const DIST: &str = "target/dist/java";
const POM: &str = "java/pom.xml";
/// The Maven projects that use the artifact.
const EXAMPLES: [&str; 2] = ["examples/java/pom.xml", "examples/tutorials/spring-boot/pom.xml"];
const NAME: &str = "flakeid_jni";
const JDK: (&str, &str) = ("javac", "openjdk-17-jdk-headless");
pub(crate) const NEEDED: [Program; 3] = [("gcc", "gcc"), JDK, ("mvn", "maven")];

/// Returns the platforms of a released jar. The library for Windows is built on Linux with MinGW,
/// so that the options of one compiler suit all platforms.
fn platforms() -> Vec<Platform> {
    let unix = RELEASED.into_iter().filter(|platform| platform.system != "win32");
    unix.chain([WINDOWS_GNU]).collect()
}

/// Returns the system's name and the folder in the jar, as `Library.java` names them.
fn folder(platform: &Platform) -> (&'static str, String) {
    let system = match platform.system {
        "darwin" => "macos",
        "win32" => "windows",
        other => other,
    };
    let processor = platform.triple.split('-').next().unwrap_or_default();
    let musl = if platform.abi == Some("musl") { "-musl" } else { "" };
    (system, format!("{system}-{processor}{musl}"))
}

/// Writes the native part for a platform to a folder of `target/dist/java/native`. The folder has
/// the same name in the jar.
pub(crate) fn native(triple: &str) -> Outcome {
    packages::ensure(&[JDK])?;
    let target = if triple == WINDOWS_GNU.triple {
        packages::ensure(&[("x86_64-w64-mingw32-gcc", "gcc-mingw-w64-x86-64")])?;
        Target { platform: WINDOWS_GNU, ..Target::new(Some("x86_64-pc-windows-msvc"))? }
    } else if triple.contains("windows") {
        return Err(Failed(format!(
            "--target is {triple}, but for Java it must be {}",
            WINDOWS_GNU.triple
        )));
    } else {
        Target::new(Some(triple))?
    };
    let (library, linked) = c::static_library(&target)?;
    let linked: Vec<&str> =
        [library.as_str()].into_iter().chain(linked.split_whitespace()).collect();
    let (system, folder) = folder(&target.platform);
    let file = format!("{DIST}/native/{folder}/{}", target.platform.library(NAME));
    flakeid_linking::native(target.c_compiler()?, system, &linked, &root().join(&file))?;
    if system == "windows" {
        needs_no_mingw(&file)?;
    }
    println!("{file}");
    Ok(())
}

/// Checks that Windows can load the library without MinGW.
fn needs_no_mingw(file: &str) -> Outcome {
    let headers = Step::new("x86_64-w64-mingw32-objdump", &["-p", file]).output()?;
    let needed = headers.lines().filter_map(|line| line.trim().strip_prefix("DLL Name: "));
    let of_mingw: Vec<&str> = needed.filter(|name| name.starts_with("lib")).collect();
    if of_mingw.is_empty() {
        return Ok(());
    }
    Err(Failed(format!("{file} needs libraries of MinGW: {}", of_mingw.join(", "))))
}

/// Checks that the artifact and the examples have the version of the workspace.
pub(crate) fn check_version() -> Outcome {
    for file in [POM].into_iter().chain(EXAMPLES) {
        let text = files::text(file)?;
        let version =
            text.split_once("<artifactId>flakeid</artifactId>").map(|(_, rest)| rest.trim_start());
        if !version.is_some_and(|rest| rest.starts_with(&format!("<version>{VERSION}</version>"))) {
            return Err(Failed(format!("{file}: the version is not {VERSION}, as in Cargo.toml")));
        }
    }
    Ok(())
}

/// Writes `flakeid.jar` to `target/dist/java`, with the native part for this system inside, and the jars with the
/// sources and the documentation.
pub(crate) fn build() -> Outcome {
    let jar = format!("{DIST}/flakeid.jar");
    c::linking(&Target::new(None)?)?.args(&["--jar", &jar]).run()?;
    let stem = files::shown(&root().join(DIST).join("flakeid"))?;
    flakeid_linking::companions(&stem, &target_folder().join("java/documentation"))?;
    println!("{jar}, flakeid-sources.jar, flakeid-javadoc.jar");
    Ok(())
}

/// Builds a jar with the profile of the tests, and tests it. `mvn test` in `java` runs this task.
pub(crate) fn test() -> Outcome {
    c::linking(&Target::tested(None)?)?.args(&["--only-java"]).run()
}

/// Writes the files that Maven Central requires to `target/dist/java`: the jar with the native
/// parts in `natives`, its sources, its documentation, and the description of the artifact.
/// Generates IDs with the jar.
pub(crate) fn release(natives: &Path) -> Outcome {
    packages::ensure(&NEEDED)?;
    let missing: Vec<String> = platforms()
        .iter()
        .map(|platform| natives.join(folder(platform).1).join(platform.library(NAME)))
        .filter(|file| !root().join(file).is_file())
        .map(|file| file.display().to_string())
        .collect();
    if !missing.is_empty() {
        return Err(Failed(format!(
            "not built: {}; build each with cargo xtask java --target TRIPLE",
            missing.join(", ")
        )));
    }
    assemble(natives)
}

/// Does the same as [`release`], with the native parts that exist.
pub(crate) fn assemble(natives: &Path) -> Outcome {
    let artifact = |ending: &str| root().join(DIST).join(format!("flakeid-{VERSION}{ending}"));
    let work = target_folder().join("java/release");
    let (classes, documentation) = (work.join("classes"), work.join("documentation"));
    flakeid_linking::jar_of(&root().join(natives), &classes, &artifact(".jar"))?;
    flakeid_linking::companions(&files::shown(&artifact(""))?, &documentation)?;
    files::copy(POM, artifact(".pom"))?;
    let class_path = files::shown(&artifact(".jar"))?;
    Step::new("java", &["-cp", &class_path, "examples/java/Ids.java"]).run()?;
    println!("{DIST}/flakeid-{VERSION}.jar, -sources.jar, -javadoc.jar, .pom");
    Ok(())
}
