//! The packages of compiled code that users unpack: the C library, the Go module, the command.

use std::path::{Path, PathBuf};
use std::process::Stdio;

use flakeid_steps::servers::free_port;
use flakeid_steps::{Failed, Outcome, Step, files, packages, root};

use super::artifact::{Artifact, VERSION, absolute, empty_folder, stop, sum};
use crate::platform::Target;
use crate::{c, command, go, installers};

/// Unpacks the archive in an empty folder, and builds and runs the quickstart.
pub(super) fn c(target: &Target) -> Result<Vec<Artifact>, Failed> {
    packages::ensure(&[("gcc", "gcc")])?;
    let folder = empty_folder("c")?;
    let prefix = c::installed(target, &folder)?;
    let program = quickstart(&prefix, &folder, Step::new("gcc", &[]))?;
    Step::new(&program, &[]).run()?;
    Ok(vec![Artifact::new(c::tarball(target))])
}

/// Builds the quickstart with pkg-config's words for the unpacked archive. Returns the path of the program.
pub(super) fn quickstart(prefix: &Path, folder: &str, compiler: Step) -> Result<String, Failed> {
    packages::ensure(&[("pkg-config", "pkg-config")])?;
    let words = Step::new("pkg-config", &["--cflags", "--libs", "flakeid-static"])
        .env("PKG_CONFIG_PATH", prefix.join("lib/pkgconfig"))
        .output()?;
    let program = absolute(format!("{folder}/quickstart"))?;
    compiler
        .args(&["examples/quickstart.c", "-o", &program])
        .args(&words.split_whitespace().collect::<Vec<_>>())
        .run()?;
    Ok(program)
}

/// Gets the module from a proxy in an empty folder, and runs a program with and without cgo.
pub(super) fn go(target: &Target) -> Result<Vec<Artifact>, Failed> {
    let proxy = go::rehearse(target)?;
    Ok(vec![Artifact::new(format!("{proxy}/{}/@v/v{VERSION}.zip", go::PATH))])
}

/// Serves the archive as a release does, and runs the script that installs it. The script must refuse an archive with
/// another hash. Also builds the packages of the archive, and compares their contents with the archive.
pub(super) fn command(target: &Target) -> Result<Vec<Artifact>, Failed> {
    command::build(target)?;
    let archive = command::archive(target);
    let release = empty_folder("release")?;
    let name = files::shown(archive.file_name().unwrap_or_default().as_ref())?;
    files::copy(&archive, format!("{release}/{name}"))?;
    let sums = format!("{}  {name}\n", sum(&archive)?);
    files::write(format!("{release}/SHA256SUMS"), &sums)?;
    let port = free_port()?;
    let server = Step::new("python3", &["-m", "http.server", "--bind", "127.0.0.1"])
        .args(&["--directory", &absolute(&release)?, &port.to_string()])
        .spawn(Stdio::null(), Stdio::null())?;
    let outcome = install(&release, &format!("http://127.0.0.1:{port}"), &sums);
    stop(server)?;
    outcome?;
    let script = PathBuf::from(command::DIST).join("install.sh");
    let packages = installers::build(command::DIST.as_ref(), true)?;
    let files = [archive, script].into_iter().chain(packages);
    Ok(files.map(Artifact::reproducible).collect())
}

fn install(release: &str, url: &str, sums: &str) -> Outcome {
    Step::new("curl", &["-sS", "--fail", "--retry", "20", "--retry-connrefused"])
        .args(&["--retry-delay", "1", "-o", "/dev/null", &format!("{url}/SHA256SUMS")])
        .run()?;
    let folder = empty_folder("bin")?;
    let script = || -> Result<Step, Failed> {
        Ok(Step::new("sh", &[&absolute(format!("{}/install.sh", command::DIST))?])
            .env("FLAKEID_RELEASE_URL", url)
            .env("FLAKEID_INSTALL_DIR", root().join(&folder)))
    };
    files::write(format!("{release}/SHA256SUMS"), sums.replace(['0', '1'], "2"))?;
    if script()?.run().is_ok() || root().join(&folder).join("flakeid").exists() {
        return Err(Failed("install.sh installed an archive with another hash".to_owned()));
    }
    files::write(format!("{release}/SHA256SUMS"), sums)?;
    script()?.run()?;
    Step::new(&absolute(format!("{folder}/flakeid"))?, &["next", "--node", "7"]).run()
}
