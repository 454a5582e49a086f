//! Where the library is, and where programs are built against it.

use std::path::PathBuf;

use flakeid_steps::Step;

/// How many IDs each program makes.
pub(crate) const IDS: &str = "10000000";

/// An unpacked archive, and a folder for what is built against it.
pub(crate) struct Library {
    pub(crate) prefix: PathBuf,
    pub(crate) work: PathBuf,
}

impl Library {
    pub(crate) fn lib(&self) -> PathBuf {
        self.prefix.join("lib")
    }

    /// A step that finds the library by pkg-config, and at run time.
    pub(crate) fn step(&self, program: &str, arguments: &[&str]) -> Step {
        Step::new(program, arguments)
            .env("PKG_CONFIG_PATH", self.lib().join("pkgconfig"))
            .env("LD_LIBRARY_PATH", self.lib())
    }
}
