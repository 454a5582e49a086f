//! What servers are deployed with: the checks of `deploy`, and the image with a static executable.

use std::process::{Child, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use flakeid_steps::venv::Venv;
use flakeid_steps::{Failed, Outcome, Step, files, packages, root, target_folder, workspace};

use crate::platform::Target;
use crate::wasm;
use crate::wasm::page::PAGE_FILE;

/// What the checks call.
const NEEDED: [(&str, &str); 4] = [
    ("openssl", "openssl"),
    ("promtool", "prometheus"),
    ("python3", "python3"),
    ("systemd-analyze", "systemd"),
];

/// Where the Dockerfile finds everything.
const CONTEXT: &str = "target/dist/image";
/// What the image's file system is like, for the test.
const FILE_SYSTEM: &str = "target/image";
const AUTHORITIES: &str = "/etc/ssl/certs/ca-certificates.crt";
const USER: &str = "65532:65532";
/// On a machine that is busy with other things.
const PATIENCE: Duration = Duration::from_secs(30);

/// Manifests, unit, alerts and dashboard fit each other and the server.
pub(crate) fn check() -> Outcome {
    packages::ensure(&NEEDED)?;
    let tools = Venv::lasting("deploy")?;
    let pins = "tests/deploy/requirements.txt";
    tools.pip(&["install", "-q", "--no-deps", "--require-hashes", "-r", pins])?;
    workspace::build_programs()?;
    let flakeid = files::shown(&target_folder().join("release/flakeid"))?;
    // -B: its folder is a part of the sources.
    tools.python(&["-B", "tests/deploy/check.py", "--flakeid", &flakeid])?.run()
}

/// Leaves in `target/dist/image` what an image is built from, for one processor.
pub(crate) fn image(triple: Option<&str>) -> Outcome {
    packages::ensure(&[(AUTHORITIES, "ca-certificates")])?;
    let target = Target::new(Some(triple.unwrap_or("x86_64-unknown-linux-musl")))?;
    let build = ["--profile", target.profile, "--locked", "-p", "flakeid-cli"];
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

/// The executable is static, and serves IDs where there is nothing else: in a file system like the
/// image's, as the image's user. Only root may do that.
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
    let outcome = asks_for_ids();
    let ended = stop(&mut server);
    outcome.and(ended)
}

fn asks_for_ids() -> Outcome {
    let socket = files::shown(&root().join(FILE_SYSTEM).join("store/socket"))?;
    let start = Instant::now();
    while !root().join(&socket).exists() {
        if start.elapsed() > PATIENCE {
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
    Err(Failed(format!("the server in the image answers {answer:?}")))
}

/// It ends when it is asked to, as its first process in a container has to.
fn stop(server: &mut Child) -> Outcome {
    Step::new("kill", &["-TERM", &server.id().to_string()]).run()?;
    let start = Instant::now();
    while start.elapsed() < PATIENCE {
        let ended = server.try_wait().map_err(|error| Failed(format!("the server: {error}")))?;
        if let Some(status) = ended {
            let why = Failed(format!("the server ended with {status}"));
            return if status.success() { Ok(()) } else { Err(why) };
        }
        sleep(Duration::from_millis(20));
    }
    // It may have ended, and then this has nothing to do.
    drop(server.kill());
    Err(Failed("the server does not end when it is asked to".to_owned()))
}
