//! Deployment of servers: the checks of `deploy`, and the image with a static executable.

use std::process::{Child, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use flakeid_steps::packages::Program;
use flakeid_steps::venv::Venv;
use flakeid_steps::{Failed, Outcome, Step, files, packages, root, workspace};

use crate::platform::Target;
use crate::wasm;
use crate::wasm::page::PAGE_FILE;

/// The programs that the checks call.
pub(crate) const NEEDED: [Program; 6] = [
    ("curl", "curl"),
    ("openssl", "openssl"),
    ("prometheus", "prometheus"),
    ("promtool", "prometheus"),
    ("python3", "python3"),
    ("systemd-analyze", "systemd"),
];

/// The build context of the Dockerfile.
pub(crate) const CONTEXT: &str = "target/dist/image";
/// The test's copy of the image's file system.
const FILE_SYSTEM: &str = "target/image";
const AUTHORITIES: &str = "/etc/ssl/certs/ca-certificates.crt";
const USER: &str = "65532:65532";
/// The limit for starting and stopping a server on a busy machine.
const TIMEOUT: Duration = Duration::from_secs(30);

/// Checks that the manifests, the unit, the alerts and the dashboard match each other and the
/// server.
pub(crate) fn check() -> Outcome {
    packages::ensure(&NEEDED)?;
    let tools = python()?;
    let flakeid = files::shown(&workspace::build_programs(&["flakeid"])?.join("flakeid"))?;
    // -B: Python must not write bytecode into the sources.
    tools.python(&["-B", "tests/deploy/check.py", "--flakeid", &flakeid])?.run()
}

/// Returns the environment with the packages of the checks.
pub(crate) fn python() -> Result<Venv, Failed> {
    let tools = Venv::lasting("deploy")?;
    let pins = "tests/deploy/requirements.txt";
    tools.pip(&["install", "-q", "--no-deps", "--require-hashes", "-r", pins])?;
    Ok(tools)
}

/// Writes the build context of an image for one processor to `target/dist/image`.
pub(crate) fn image(triple: Option<&str>) -> Outcome {
    packages::ensure(&[(AUTHORITIES, "ca-certificates")])?;
    let target = Target::new(Some(triple.unwrap_or("x86_64-unknown-linux-musl")))?;
    let build = ["--profile", target.profile.name(), "--locked", "-p", "flakeid-cli"];
    target.cargo_static()?.args(&build).run()?;
    files::empty(CONTEXT)?;
    files::copy(target.built_folder().join("flakeid"), format!("{CONTEXT}/flakeid"))?;
    wasm::page::build()?;
    files::copy(PAGE_FILE, format!("{CONTEXT}/page.html"))?;
    files::copy(AUTHORITIES, format!("{CONTEXT}/ca-certificates.crt"))?;
    files::copy("deploy/image/Dockerfile", format!("{CONTEXT}/Dockerfile"))?;
    println!("docker build -t flakeid {CONTEXT}");
    Ok(())
}

/// Checks that the executable is static, and that it serves IDs as the image's user in an
/// otherwise empty file system. Requires root.
pub(crate) fn test_image() -> Outcome {
    image(None)?;
    packages::ensure(&[("curl", "curl"), ("chroot", "coreutils"), ("readelf", "binutils")])?;
    let flakeid = format!("{CONTEXT}/flakeid");
    let headers = Step::new("readelf", &["--program-headers", "--dynamic", &flakeid]).output()?;
    if headers.contains("INTERP") || headers.contains("(NEEDED)") {
        return Err(Failed(format!("{flakeid} needs libraries:\n{headers}")));
    }
    files::empty(FILE_SYSTEM)?;
    files::copy(&flakeid, format!("{FILE_SYSTEM}/usr/bin/flakeid"))?;
    files::make_folder(format!("{FILE_SYSTEM}/store"))?;
    Step::new("chown", &[USER, &format!("{FILE_SYSTEM}/store")]).run()?;
    let user = format!("--userspec={USER}");
    let serve = ["serve", "--store", "sqlite:///store/flakeid.db", "--unix", "/store/socket"];
    let server = Step::new("chroot", &[&user, FILE_SYSTEM, "/usr/bin/flakeid"]).args(&serve);
    let mut server = server.spawn(Stdio::null(), Stdio::inherit())?;
    let outcome = check_ids();
    let ended = stop(&mut server);
    outcome.and(ended)
}

fn check_ids() -> Outcome {
    let socket = files::shown(&root().join(FILE_SYSTEM).join("store/socket"))?;
    let start = Instant::now();
    while !root().join(&socket).exists() {
        if start.elapsed() > TIMEOUT {
            return Err(Failed(format!("no server listens on {socket}")));
        }
        sleep(Duration::from_millis(20));
    }
    let ids = ["-X", "POST", "http://localhost/v1/default/ids?count=3"];
    let answer = Step::new("curl", &["-sS", "--fail", "--unix-socket", &socket]).args(&ids);
    let answer = answer.output()?;
    println!("{}", answer.trim());
    if answer.starts_with("{\"ids\":[\"") {
        return Ok(());
    }
    Err(Failed(format!("the server in the image returned {answer:?}")))
}

/// Checks that the server ends after SIGTERM, as required of the first process of a container.
fn stop(server: &mut Child) -> Outcome {
    Step::new("kill", &["-TERM", &server.id().to_string()]).run()?;
    let start = Instant::now();
    while start.elapsed() < TIMEOUT {
        let ended = server.try_wait().map_err(|error| Failed(format!("the server: {error}")))?;
        if let Some(status) = ended {
            let why = Failed(format!("the server ended with {status}"));
            return if status.success() { Ok(()) } else { Err(why) };
        }
        sleep(Duration::from_millis(20));
    }
    // If the server has ended in the meantime, `kill` has no effect.
    drop(server.kill());
    Err(Failed("the server did not end within 30 s of SIGTERM".to_owned()))
}
