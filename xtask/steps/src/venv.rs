//! Virtual environments of Python, one for each purpose, under `target/python`.

use std::env;
use std::ffi::OsString;
use std::path::PathBuf;

use crate::files;
use crate::step::{Failed, Outcome, Step, root};

/// Where such an environment has its programs.
const PROGRAMS: &str = if cfg!(windows) { "Scripts" } else { "bin" };

/// The name of Python where nothing else is asked for.
pub const PYTHON: &str = if cfg!(windows) { "python" } else { "python3" };

/// Where what belongs to that purpose lies.
pub fn folder(name: &str) -> PathBuf {
    root().join("target/python").join(name)
}

/// An environment.
pub struct Venv {
    folder: PathBuf,
    image: Option<&'static str>,
}

impl Venv {
    /// For what is pinned: made if it is not there yet.
    pub fn lasting(name: &str) -> Result<Self, Failed> {
        let venv = Self { folder: folder(name), image: None };
        if !venv.programs().join(format!("pip{}", env::consts::EXE_SUFFIX)).exists() {
            venv.make(PYTHON)?;
        }
        Ok(venv)
    }

    /// With nothing in it, of that interpreter, and if an image is named then of the one in there.
    pub fn clean(
        name: &str,
        interpreter: &str,
        image: Option<&'static str>,
    ) -> Result<Self, Failed> {
        let venv = Self { folder: folder(name), image };
        files::remove(&venv.folder)?;
        venv.make(interpreter)?;
        Ok(venv)
    }

    fn make(&self, interpreter: &str) -> Outcome {
        Step::new(interpreter, &["-m", "venv", "--clear", &files::shown(&self.folder)?])
            .or_install("apt-get install python3 python3-venv")
            .inside(self.image)
            .run()
    }

    fn programs(&self) -> PathBuf {
        self.folder.join(PROGRAMS)
    }

    /// The path of one of its programs.
    pub fn program(&self, name: &str) -> Result<String, Failed> {
        files::shown(&self.programs().join(name))
    }

    /// Its interpreter.
    pub fn python(&self, arguments: &[&str]) -> Result<Step, Failed> {
        Ok(Step::new(&self.program("python")?, arguments).inside(self.image))
    }

    /// Runs its pip.
    pub fn pip(&self, arguments: &[&str]) -> Outcome {
        self.python(&["-m", "pip", "--disable-pip-version-check"])?.args(arguments).run()
    }

    /// The `PATH` with these programs first.
    pub fn path(&self) -> Result<OsString, Failed> {
        let path = env::var_os("PATH").unwrap_or_default();
        let folders = [self.programs()].into_iter().chain(env::split_paths(&path));
        env::join_paths(folders).map_err(|error| Failed(format!("PATH: {error}")))
    }
}
