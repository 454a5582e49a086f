//! Virtual environments of Python in `target/python`, one for each purpose.

use std::env;
use std::ffi::OsString;
use std::path::PathBuf;

use crate::files;
use crate::step::{Failed, Outcome, Step, root};

/// The folder of an environment's programs.
const PROGRAMS: &str = if cfg!(windows) { "Scripts" } else { "bin" };

/// The default interpreter.
pub const PYTHON: &str = if cfg!(windows) { "python" } else { "python3" };

/// Returns the folder of the environment for a purpose.
pub fn folder(name: &str) -> PathBuf {
    root().join("target/python").join(name)
}

/// A virtual environment.
pub struct Venv {
    folder: PathBuf,
    image: Option<&'static str>,
}

impl Venv {
    /// Returns an environment for pinned packages, and creates it if it does not exist yet.
    pub fn lasting(name: &str) -> Result<Self, Failed> {
        let venv = Self { folder: folder(name), image: None };
        if !venv.has_pip() {
            venv.make(PYTHON, &[])?;
        }
        Ok(venv)
    }

    /// Creates an empty environment with the given interpreter. If an image is given, the
    /// interpreter is the container's. Otherwise the environment has no pip, because installing pip takes seconds.
    pub fn clean(
        name: &str,
        interpreter: &str,
        image: Option<&'static str>,
    ) -> Result<Self, Failed> {
        let venv = Self { folder: folder(name), image };
        files::remove(&venv.folder)?;
        venv.make(interpreter, if image.is_some() { &[] } else { &["--without-pip"] })?;
        Ok(venv)
    }

    fn has_pip(&self) -> bool {
        self.programs().join(format!("pip{}", env::consts::EXE_SUFFIX)).exists()
    }

    fn make(&self, interpreter: &str, options: &[&str]) -> Outcome {
        Step::new(interpreter, &["-m", "venv", "--clear", &files::shown(&self.folder)?])
            .args(options)
            .or_install("apt-get install python3 python3-venv")
            .inside(self.image)
            .run()
    }

    fn programs(&self) -> PathBuf {
        self.folder.join(PROGRAMS)
    }

    /// Returns the path of a program in the environment.
    pub fn program(&self, name: &str) -> Result<String, Failed> {
        files::shown(&self.programs().join(name))
    }

    /// Returns a step that runs the environment's interpreter.
    pub fn python(&self, arguments: &[&str]) -> Result<Step, Failed> {
        Ok(Step::new(&self.program("python")?, arguments).inside(self.image))
    }

    /// Runs pip in the environment. If the environment has no pip, runs the pip of the environment that builds
    /// packages.
    pub fn pip(&self, arguments: &[&str]) -> Outcome {
        let quiet = "--disable-pip-version-check";
        let step = if self.has_pip() || self.image.is_some() {
            self.python(&["-m", "pip", quiet])?
        } else {
            let python = self.program("python")?;
            Self::lasting("build")?.python(&["-m", "pip", "--python", &python, quiet])?
        };
        step.args(arguments).run()
    }

    /// Returns the `PATH` with the environment's programs first.
    pub fn path(&self) -> Result<OsString, Failed> {
        let path = env::var_os("PATH").unwrap_or_default();
        let folders = [self.programs()].into_iter().chain(env::split_paths(&path));
        env::join_paths(folders).map_err(|error| Failed(format!("PATH: {error}")))
    }
}
