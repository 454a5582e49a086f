//! The packages for Linux on ARM64 and with musl. This machine builds all of them, and runs the programs that need
//! neither Python nor Node.

use std::path::Path;

use flakeid_steps::{Failed, Outcome, Step, files, packages};

use super::artifact::{Artifact, WORK, empty_folder};
use super::compiled;
use crate::platform::Target;
use crate::python::{self, Wheel};
use crate::{c, command, node};

/// The platforms of a release for Linux, except this machine's.
const TRIPLES: [&str; 3] =
    ["aarch64-unknown-linux-gnu", "aarch64-unknown-linux-musl", "x86_64-unknown-linux-musl"];

/// Builds the wheel, the add-on for Node and the archive of the C library, and the static command for ARM64. The part
/// `command` builds the static command for this machine's processor.
pub(super) fn build() -> Result<Vec<Artifact>, Failed> {
    let mut artifacts = Vec::new();
    for triple in TRIPLES {
        Step::new("rustup", &["target", "add", triple])
            .or_install("see https://rustup.rs")
            .run()?;
        let target = Target::new(Some(triple))?;
        let is_arm = target.platform.processor == "arm64";
        python::build(&Wheel { target, free_threaded: None })?;
        node::build(&target)?;
        let addon = node::paths(&target).pop().unwrap_or_default();
        let folder = empty_folder(triple)?;
        run_quickstart(&target, &folder)?;
        let mut built = vec![
            Artifact::new(python::wheel(&target)?),
            Artifact::new(addon),
            Artifact::new(c::tarball(&target)),
        ];
        if is_arm && target.platform.abi == Some("musl") {
            command::build(&target)?;
            let program = target.built_folder().join("flakeid");
            emulated(&target, &program)?.args(&["next", "--node", "7"]).run()?;
            built.push(Artifact::reproducible(command::archive(&target)));
        }
        // The other parts empty the folders of the packages.
        for artifact in built {
            let path = format!("{WORK}/{triple}/{}", artifact.name());
            files::copy(&artifact.path, &path)?;
            artifacts.push(Artifact { path: path.into(), ..artifact });
        }
    }
    Ok(artifacts)
}

/// Unpacks the archive of the C library, and builds and runs the quickstart.
fn run_quickstart(target: &Target, folder: &str) -> Outcome {
    packages::ensure(&[
        ("aarch64-linux-gnu-gcc", "gcc-aarch64-linux-gnu"),
        ("/usr/aarch64-linux-gnu/lib/crti.o", "libc6-dev-arm64-cross"),
        ("qemu-aarch64", "qemu-user"),
    ])?;
    let prefix = c::installed(target, &format!("{folder}/c"))?;
    // With glibc, users have gcc. With musl, a static program needs no loader, which this machine lacks.
    let compiler = match target.platform.abi {
        Some("musl") => target.c_compiler()?.args(&["-static"]),
        _ => Step::new("aarch64-linux-gnu-gcc", &[]),
    };
    let program = compiled::quickstart(&prefix, folder, compiler)?;
    emulated(target, program.as_ref())?.run()
}

/// Returns the step that runs a program, in an emulator if the program is for ARM64.
fn emulated(target: &Target, program: &Path) -> Result<Step, Failed> {
    let program = files::shown(program)?;
    if target.platform.processor != "arm64" {
        return Ok(Step::new(&program, &[]));
    }
    Ok(Step::new("qemu-aarch64", &["-L", "/usr/aarch64-linux-gnu", &program]))
}
