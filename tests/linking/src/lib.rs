//! Where the C library is, how programs find it, and what Java programs need besides. The programs
//! are started by this package's binary.

use std::path::PathBuf;

use flakeid_steps::Step;

mod java;

pub use java::{jar, jar_of, jars, javac, native};

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
