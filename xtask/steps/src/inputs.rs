//! The inputs of a step as one hash, and a record of the hash with which the step last passed.

use std::env;
use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use crate::files;
use crate::step::{Failed, Outcome, Step, root, target_folder};

/// The commands that print the versions of the machine's tools. A missing tool counts as a
/// separate version.
const VERSIONS: [(&str, &[&str]); 4] = [
    ("rustc", &["-vV"]),
    ("node", &["--version"]),
    ("python3", &["--version"]),
    ("dpkg-query", &["--show"]),
];

/// The inputs of a step.
#[derive(Clone)]
pub(crate) struct Inputs {
    record: PathBuf,
    hash: String,
}

impl Inputs {
    /// Hashes the project's files except the unrelated ones, the versions of tools, and the
    /// variables that tests and compilers read. If a file is missing in `unrelated`, the step may
    /// run unnecessarily, but it is never skipped by mistake.
    pub(crate) fn of(step: &str, unrelated: &[&[&str]]) -> Result<Self, Failed> {
        let unrelated: Vec<&Path> = unrelated.iter().copied().flatten().map(Path::new).collect();
        if let Some(path) = unrelated.iter().find(|path| !root().join(path).exists()) {
            let path = path.display();
            return Err(Failed(format!("the step {step:?} lists {path}, which does not exist")));
        }
        let mut hasher = DefaultHasher::new();
        for path in files::of_project()? {
            if !unrelated.iter().any(|other| path.starts_with(other)) {
                files::bytes(&path)?.hash(&mut hasher);
                path.hash(&mut hasher);
            }
        }
        for (program, arguments) in VERSIONS {
            Step::new(program, arguments).captured().ok().hash(&mut hasher);
        }
        let is_read = |name: &str| name.starts_with("FLAKEID_") || name.ends_with("FLAGS");
        let mut variables: Vec<_> =
            env::vars_os().filter(|(name, _)| name.to_str().is_some_and(is_read)).collect();
        variables.sort();
        variables.hash(&mut hasher);
        Ok(Self { record: record(step), hash: format!("{:016x}\n", hasher.finish()) })
    }

    /// Returns the same inputs for a part of the step.
    pub(crate) fn of_part(&self, part: &str) -> Self {
        Self { record: record(part), ..self.clone() }
    }

    /// Whether the step passed with these inputs.
    pub(crate) fn passed(&self) -> bool {
        files::text(&self.record).is_ok_and(|passed| passed == self.hash)
    }

    /// Records that the step passed with these inputs.
    pub(crate) fn remember(&self) -> Outcome {
        files::write(&self.record, &self.hash)
    }

    /// Removes the record, so that the step does not count as passed.
    pub(crate) fn forget(&self) -> Outcome {
        match fs::remove_file(&self.record) {
            Err(error) if error.kind() != ErrorKind::NotFound => {
                Err(files::failed(&self.record, &error))
            }
            _ => Ok(()),
        }
    }
}

fn record(name: &str) -> PathBuf {
    target_folder().join("passed").join(files::plain_name(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hash(unrelated: &[&str]) -> Option<String> {
        Inputs::of("a step", &[unrelated]).ok().map(|inputs| inputs.hash)
    }

    #[test]
    fn step_input_hash_ignores_unrelated_files() {
        assert!(hash(&[]).is_some());
        assert_eq!(hash(&["xtask"]), hash(&["xtask", "xtask/steps"]));
        assert_ne!(hash(&["xtask"]), hash(&["xtask/steps"]));
        assert_eq!(hash(&["xtas"]), None);
    }

    #[test]
    fn step_counts_as_passed_only_if_its_inputs_are_unchanged() -> Result<(), Failed> {
        let name = format!("inputs, a test {}", std::process::id());
        let inputs = Inputs::of(&name, &[])?;
        assert!(!inputs.passed());
        inputs.remember()?;
        assert!(Inputs::of(&name, &[])?.passed());
        assert!(!Inputs::of(&name, &[&["docs"]])?.passed());
        assert!(!inputs.of_part(&format!("{name}, a part")).passed());
        inputs.forget()?;
        assert!(!inputs.passed());
        inputs.forget()
    }
}
