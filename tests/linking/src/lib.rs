//! Where the C library is, how programs find it, and what Java programs need besides. The programs
//! are started by this package's binary.

use std::path::PathBuf;

use flakeid_steps::{Failed, Step, files, root};

const FETCH: &str = "org.apache.maven.plugins:maven-dependency-plugin:3.6.1:copy-dependencies";

/// How many IDs each program makes.
pub const IDS: &str = "10000000";

/// An unpacked archive, and a folder for what is built against it.
#[derive(Debug)]
pub struct Library {
    /// Has `lib` and `include`.
    pub prefix: PathBuf,
    /// Where programs are built.
    pub work: PathBuf,
}

impl Library {
    /// The folder of the library itself.
    #[must_use]
    pub fn lib(&self) -> PathBuf {
        self.prefix.join("lib")
    }

    /// A step that finds the library by pkg-config, and at run time.
    pub fn step(&self, program: &str, arguments: &[&str]) -> Step {
        Step::new(program, arguments)
            .env("PKG_CONFIG_PATH", self.lib().join("pkgconfig"))
            .env("LD_LIBRARY_PATH", self.lib())
    }
}

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
        let output = format!("-DoutputDirectory={}", jars.display());
        Step::new("mvn", &["-q", "-B", "-f", "tests/java/pom.xml", FETCH, &output]).run()?;
        files::write(&fetched, wanted)?;
    }
    Ok(jars.display().to_string())
}
