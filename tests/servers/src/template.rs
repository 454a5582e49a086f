//! Data folders that are created once and copied for each server, because creating one takes
//! seconds.

use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, PoisonError};

use crate::account::{Account, run};
use crate::installed;

/// A kind of data folder.
#[derive(Debug)]
pub(crate) struct Template<'a> {
    /// The name of the server.
    pub(crate) name: &'a str,
    /// The server's program. A new version of it gets a new template.
    pub(crate) program: &'a Path,
    /// The source code that creates the data. Changed code gets a new template.
    pub(crate) recipe: &'a str,
    /// The owner of the data.
    pub(crate) account: Account,
}

impl Template<'_> {
    /// Copies the data to a folder that does not exist. `create` writes the data to the folder that
    /// it gets if no process has created the template yet.
    pub(crate) fn copy(&self, to: &Path, create: impl FnOnce() -> PathBuf) {
        /// Only one thread creates templates. The others then find them.
        static CREATES: Mutex<()> = Mutex::new(());
        let templates = installed::folder().join("templates");
        let template = templates.join(format!("{}-{:016x}", self.name, self.key()));
        let guard = CREATES.lock().unwrap_or_else(PoisonError::into_inner);
        if !template.exists() {
            fs::create_dir_all(&templates).expect("a folder below target");
            // A folder with the final name is complete, also if several processes create it at
            // once or a process is killed.
            let new = tempfile::tempdir_in(&templates).expect("a temporary directory");
            let data = new.path().join("data");
            copy(&create(), &data);
            let renamed = fs::rename(&data, &template);
            assert!(renamed.is_ok() || template.exists(), "{}: {renamed:?}", template.display());
        }
        drop(guard);
        copy(&template, to);
    }

    fn key(&self) -> u64 {
        let program = fs::metadata(self.program);
        let program = program.unwrap_or_else(|error| panic!("{}: {error}", self.program.display()));
        let mut hasher = DefaultHasher::new();
        let modified = program.modified().expect("Linux records times");
        (self.program, program.len(), modified, self.recipe).hash(&mut hasher);
        (include_str!("template.rs"), format!("{:?}", self.account)).hash(&mut hasher);
        hasher.finish()
    }
}

/// Copies a folder without the blocks that contain only zeros, which are most of a new log.
pub(crate) fn copy(from: &Path, to: &Path) {
    run(Command::new("cp").args(["-a", "--sparse=always"]).args([from, to]));
}
