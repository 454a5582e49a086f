//! What Java programs need to link the C library. The programs that link it are started by this
//! package's binary.

use flakeid_steps::{Failed, Step, files, root};

const FETCH: &str = "org.apache.maven.plugins:maven-dependency-plugin:3.6.1:copy-dependencies";

/// The folder of the jars that `pom.xml` names. Maven is asked once for each version of that file, so that later
/// runs need no network.
///
/// # Errors
/// When Maven fails.
pub fn jars() -> Result<String, Failed> {
    let wanted = files::text("tests/java/pom.xml")?;
    let jars = root().join("target/c/jars");
    let fetched = jars.join("pom.xml");
    if files::text(&fetched).ok().as_ref() != Some(&wanted) {
        let output = format!("-DoutputDirectory={}", jars.display());
        Step::new("mvn", &["-q", "-B", "-f", "tests/java/pom.xml", FETCH, &output]).run()?;
        files::write(&fetched, wanted)?;
    }
    Ok(jars.display().to_string())
}
