//! Running other programs, and saying which.

use std::ffi::OsStr;
use std::io::ErrorKind;
use std::path::PathBuf;
use std::process::Command;
use std::time::Instant;

/// Why a task ended early, for people.
pub(crate) struct Failed(pub(crate) String);

pub(crate) type Outcome = Result<(), Failed>;

/// The root of the checkout.
pub(crate) fn root() -> PathBuf {
    let mut root = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    root.pop();
    root
}

/// One command of a task, run from the root of the checkout.
pub(crate) struct Step {
    command: Command,
    shown: String,
    install: Option<&'static str>,
}

impl Step {
    pub(crate) fn new(program: &str, arguments: &[&str]) -> Self {
        let mut command = Command::new(program);
        command.args(arguments).current_dir(root());
        Self { command, shown: format!("{program} {}", arguments.join(" ")), install: None }
    }

    /// Another `cargo` command, with the toolchain that runs this one.
    pub(crate) fn cargo(arguments: &[&str]) -> Self {
        Self::new("cargo", arguments)
    }

    pub(crate) fn args(mut self, arguments: &[&str]) -> Self {
        self.shown = format!("{} {}", self.shown, arguments.join(" "));
        self.command.args(arguments);
        self
    }

    pub(crate) fn env(mut self, name: &str, value: impl AsRef<OsStr>) -> Self {
        self.shown = format!("{name}={} {}", value.as_ref().display(), self.shown);
        self.command.env(name, value);
        self
    }

    /// Compiler flags of its own, and so a target directory of its own: changing flags would
    /// otherwise rebuild everything, each time.
    pub(crate) fn configured(self, cfg: &str) -> Self {
        let target = root().join("target").join(cfg);
        self.env("RUSTFLAGS", format!("--cfg {cfg}")).env("CARGO_TARGET_DIR", target)
    }

    /// What installs the program, if it is one that a machine may lack.
    pub(crate) fn or_install(mut self, command: &'static str) -> Self {
        self.install = Some(command);
        self
    }

    fn not_started(&self, error: &std::io::Error) -> Failed {
        let hint = match self.install {
            Some(install) if error.kind() == ErrorKind::NotFound => {
                format!("\ninstall it with: {install}")
            }
            _ => String::new(),
        };
        Failed(format!("cannot run {}: {error}{hint}", self.shown))
    }

    pub(crate) fn run(mut self) -> Outcome {
        println!("\n$ {}", self.shown);
        let start = Instant::now();
        let status = self.command.status().map_err(|error| self.not_started(&error))?;
        if !status.success() {
            return Err(Failed(format!("failed ({status}): {}", self.shown)));
        }
        println!("({:.1} s)", start.elapsed().as_secs_f32());
        Ok(())
    }

    /// Runs it and returns what it wrote to standard output.
    pub(crate) fn output(mut self) -> Result<String, Failed> {
        println!("\n$ {}", self.shown);
        let output = self.command.output().map_err(|error| self.not_started(&error))?;
        if !output.status.success() {
            let errors = String::from_utf8_lossy(&output.stderr);
            return Err(Failed(format!("failed ({}): {}\n{errors}", output.status, self.shown)));
        }
        String::from_utf8(output.stdout)
            .map_err(|_| Failed(format!("{} did not write UTF-8", self.shown)))
    }
}
