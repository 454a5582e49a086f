//! The archive with the command `flakeid`, for users without Rust, and the script that installs it.

use std::path::PathBuf;

use flakeid_steps::venv::PYTHON;
use flakeid_steps::{Outcome, Step, files, packages, root};

use crate::platform::Target;

const VERSION: &str = env!("CARGO_PKG_VERSION");
pub(crate) const DIST: &str = "target/dist/command";
/// The programs that make archives with the same bytes from the same files.
const NEEDED: [(&str, &str); 2] = [("tar", "tar"), ("gzip", "gzip")];

/// Writes the archive for a platform to `target/dist/command`. For musl, the executable needs no system library.
pub(crate) fn build(target: &Target) -> Outcome {
    let build = ["--profile", target.profile.name(), "--locked", "-p", "flakeid-cli"];
    let step = if target.platform.abi == Some("musl") {
        target.cargo_static()?
    } else {
        target.cargo("build")?
    };
    step.args(&build).run()?;
    let name = name(target.platform.triple);
    let folder = root().join(DIST).join(&name);
    files::empty(DIST)?;
    let program = target.platform.program("flakeid");
    files::copy(target.built_folder().join(&program), folder.join(&program))?;
    for file in ["LICENSE-APACHE", "LICENSE-MIT"] {
        files::copy(file, folder.join(file))?;
    }
    files::copy("crates/flakeid-cli/README.md", folder.join("README.md"))?;
    pack(target)?;
    files::remove(&folder)?;
    install_script()?;
    println!("{}", archive(target).display());
    Ok(())
}

/// Packs the folder of a platform. On Linux, the same files make the same bytes.
fn pack(target: &Target) -> Outcome {
    let triple = target.platform.triple;
    let (name, file) = (name(triple), file(triple));
    if target.platform.system == "win32" {
        return Step::new(PYTHON, &["-m", "zipfile", "-c", &file, &name]).within(DIST).run();
    }
    if !cfg!(target_os = "linux") {
        return Step::new("tar", &["-czf", &file, &name]).within(DIST).run();
    }
    packages::ensure(&NEEDED)?;
    Step::new("tar", &["--sort=name", "--mtime=@0", "--owner=0", "--group=0", "--numeric-owner"])
        .args(&["--mode=go=rX,u+rw,a-s", "--use-compress-program=gzip -9n", "-cf", &file, &name])
        .within(DIST)
        .run()
}

/// Writes the script that downloads the archive of this version.
fn install_script() -> Outcome {
    let script = files::text("deploy/command/install.sh.in")?.replace("@VERSION@", VERSION);
    files::write(format!("{DIST}/install.sh"), script)
}

/// Returns the path of the archive.
pub(crate) fn archive(target: &Target) -> PathBuf {
    root().join(DIST).join(file(target.platform.triple))
}

/// Returns the file name of the archive for a platform. winget reads only zip archives.
pub(crate) fn file(triple: &str) -> String {
    let ending = if triple.contains("windows") { "zip" } else { "tar.gz" };
    format!("{}.{ending}", name(triple))
}

/// Returns the name of the archive without its ending. The archive of the C library has the shorter name.
fn name(triple: &str) -> String {
    format!("flakeid-command-{VERSION}-{triple}")
}

#[cfg(test)]
mod tests {
    #[test]
    fn cargo_binstall_finds_the_archive() {
        let name = "flakeid-command-{ version }-{ target }";
        let manifest =
            flakeid_steps::files::text("crates/flakeid-cli/Cargo.toml").unwrap_or_default();
        for ending in ["tar.gz", "zip"] {
            assert!(manifest.contains(&format!("/v{{ version }}/{name}.{ending}\"")));
        }
        assert!(manifest.contains(&format!("bin-dir = \"{name}/")));
    }
}
