//! Programs that tests need, and that may be missing on a machine.

use std::collections::BTreeSet;
use std::env;
use std::fs;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::step::{Failed, Outcome, Step, target_folder};

/// The folders in which Debian installs servers, which are often missing in the `PATH` of users.
const SERVERS: [&str; 2] = ["/usr/sbin", "/usr/local/sbin"];

/// A program, as [`find`] accepts it, and its Debian package.
pub type Program = (&'static str, &'static str);

static IS_FORBIDDEN: AtomicBool = AtomicBool::new(false);

/// Lets [`ensure`] fail if a program is missing, also for root.
pub fn forbid_installation() {
    IS_FORBIDDEN.store(true, Ordering::Relaxed);
}

/// Ensures that each program is installed. The pairs are a program, as [`find`] accepts it, and its
/// Debian package. Installs missing packages if the process runs as root on a Debian system;
/// otherwise fails with the command that installs them.
pub fn ensure(programs: &[(&str, &str)]) -> Outcome {
    let packages = missing(programs);
    if packages.is_empty() {
        return Ok(());
    }
    let shown = packages.join(" ");
    if IS_FORBIDDEN.load(Ordering::Relaxed) || !is_root() || find("apt-get").is_none() {
        return Err(Failed(format!("missing programs; install them: apt-get install {shown}")));
    }
    println!("as root, this command installs the Debian packages of missing programs: {shown}");
    // The lock is needed because apt-get fails if another step is running it.
    let lock = target_folder().join("packages.lock").display().to_string();
    let apt_get = |arguments| Step::new("apt-get", arguments).through("flock", &[&lock]);
    apt_get(&["update", "-q"]).run()?;
    apt_get(&["install", "-q", "-y", "--no-install-recommends"])
        .args(&packages)
        .env("DEBIAN_FRONTEND", "noninteractive")
        // The variable prevents the packages from starting servers, because the tests start their
        // own.
        .env("RUNLEVEL", "1")
        .run()?;
    let packages = missing(programs);
    if packages.is_empty() {
        return Ok(());
    }
    Err(Failed(format!(
        "installed, but the programs of these packages are still missing: {}",
        packages.join(" ")
    )))
}

/// Searches for a program. A name is searched for on the `PATH` and in the folders of servers. In
/// a path, a folder `*` matches any version, as in `/usr/lib/postgresql/*/bin/postgres`. If
/// several paths match, the last one in the order of names is returned.
pub fn find(program: &str) -> Option<PathBuf> {
    if let Some((before, after)) = program.split_once("/*/") {
        let versions = fs::read_dir(before).ok()?;
        return versions
            .filter_map(|version| Some(version.ok()?.path().join(after)))
            .filter(|path| path.exists())
            .max();
    }
    if program.contains('/') {
        return Some(PathBuf::from(program)).filter(|path| path.exists());
    }
    let path = env::var_os("PATH").unwrap_or_default();
    let file = format!("{program}{}", env::consts::EXE_SUFFIX);
    env::split_paths(&path)
        .chain(SERVERS.iter().map(PathBuf::from))
        .map(|folder| folder.join(&file))
        .find(|path| path.is_file())
}

/// Returns the packages of the programs that are not installed.
fn missing<'a>(programs: &[(&str, &'a str)]) -> Vec<&'a str> {
    let missing = programs.iter().filter(|(program, _)| find(program).is_none());
    missing.map(|(_, package)| *package).collect::<BTreeSet<_>>().into_iter().collect()
}

/// Whether the process runs as root, according to `/proc`. Only Linux has `/proc`, and only
/// Debian systems matter here.
fn is_root() -> bool {
    fs::read_to_string("/proc/self/status").is_ok_and(|status| {
        let uid = status.lines().find_map(|line| line.strip_prefix("Uid:"));
        // The kernel checks the effective user ID, which is the second one.
        uid.is_some_and(|uid| uid.split_whitespace().nth(1) == Some("0"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wildcard_matches_the_highest_version_that_contains_the_file() -> std::io::Result<()> {
        let folder = env::temp_dir().join(format!("flakeid-packages-{}", std::process::id()));
        for version in ["9", "15", "16"] {
            fs::create_dir_all(folder.join(version).join("bin"))?;
        }
        fs::write(folder.join("15/bin/server"), "")?;
        let pattern = format!("{}/*/bin/server", folder.display());
        assert_eq!(find(&pattern), Some(folder.join("15/bin/server")));
        assert_eq!(find(&format!("{}/*/bin/client", folder.display())), None);
        assert_eq!(missing(&[(&pattern, "there"), ("/no/*/x", "a"), ("/no/y", "b")]), ["a", "b"]);
        fs::remove_dir_all(&folder)
    }
}
