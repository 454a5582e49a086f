//! Programs that tests need and a machine may lack.

use std::env;
use std::fs;

use crate::command::{Failed, Outcome, Step};

/// Sees to it that each program is there; each is told with the Debian package that has it. A path
/// stands for itself, a name is looked for on the `PATH`. Installs what is missing if this is root
/// on a Debian system, and otherwise fails with the command that does.
pub(crate) fn ensure(programs: &[(&str, &str)]) -> Outcome {
    let missing: Vec<&str> = programs
        .iter()
        .filter(|(program, _)| !is_there(program))
        .map(|(_, package)| *package)
        .collect();
    if missing.is_empty() {
        return Ok(());
    }
    if !is_root() || !is_there("apt-get") {
        let packages = missing.join(" ");
        return Err(Failed(format!("missing programs; install them: apt-get install {packages}")));
    }
    Step::new("apt-get", &["update", "-q"]).run()?;
    Step::new("apt-get", &["install", "-q", "-y", "--no-install-recommends"])
        .args(&missing)
        .env("DEBIAN_FRONTEND", "noninteractive")
        .run()
}

fn is_there(program: &str) -> bool {
    if program.contains('/') {
        return fs::exists(program).unwrap_or(false);
    }
    env::var_os("PATH")
        .is_some_and(|path| env::split_paths(&path).any(|folder| folder.join(program).is_file()))
}

fn is_root() -> bool {
    fs::read_to_string("/proc/self/status").is_ok_and(|status| {
        let uid = status.lines().find_map(|line| line.strip_prefix("Uid:"));
        uid.is_some_and(|uid| uid.split_whitespace().next() == Some("0"))
    })
}
