//! The packages that users install from registries: crates, Python, npm, Maven.

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use flakeid_steps::servers::free_port;
use flakeid_steps::venv::{PYTHON, Venv};
use flakeid_steps::{Failed, Outcome, Step, files, packages, root};

use super::artifact::{Artifact, PLATFORM, VERSION, absolute, empty_folder, stop, sum};
use crate::npm::{install_once_from, npm};
use crate::platform::Target;
use crate::python::{self, Wheel};
use crate::{jar, node, publish};

/// The folder with the versions of the tools that only the rehearsal needs.
const PINS: &str = "xtask/rehearsal";
const VERDACCIO: &str = "target/tools/verdaccio";

/// Builds the packages of the crates, as for publishing, and runs the quickstart with the packages from a registry.
pub(super) fn crates() -> Result<Vec<Artifact>, Failed> {
    // Cargo builds each crate from its package, with the packages of the crates on which it depends. For this, it
    // writes a registry.
    let registry = "target/package/tmp-registry";
    files::empty("target/package")?;
    publish::run(publish::Registry::Crates, true)?;
    let port = free_port()?;
    let server = Step::new("python3", &["-B", &format!("{PINS}/crates.py"), registry])
        .args(&[&port.to_string()])
        .spawn(Stdio::null(), Stdio::null())?;
    let outcome = with_crates(&format!("http://127.0.0.1:{port}/index"));
    stop(server)?;
    outcome?;
    let packages = files::with_extension(registry, "crate")?;
    Ok(packages.into_iter().map(Artifact::reproducible).collect())
}

/// Runs the quickstart in an empty folder, with the crates of a registry in place of crates.io.
fn with_crates(index: &str) -> Outcome {
    Step::new("curl", &["-sS", "--fail", "--retry", "20", "--retry-connrefused"])
        .args(&["--retry-delay", "1", "-o", "/dev/null", &format!("{index}/config.json")])
        .run()?;
    let project = empty_folder("crates")?;
    // The empty table keeps Cargo from searching for a workspace in the folders above.
    files::write(
        format!("{project}/Cargo.toml"),
        format!(
            "[workspace]\n[package]\nname = \"quickstart\"\nedition = \"2024\"\n[dependencies]\n\
             flakeid = \"={VERSION}\"\n"
        ),
    )?;
    let sources = format!(
        "[source.crates-io]\nreplace-with = \"rehearsal\"\n[source.rehearsal]\nregistry = \"sparse+{index}/\"\n"
    );
    files::write(format!("{project}/.cargo/config.toml"), sources)?;
    files::copy("examples/quickstart.rs", format!("{project}/src/main.rs"))?;
    // Cargo would keep the packages of each registry in the folder of the user.
    Step::cargo(&["run", "--quiet"])
        .within(&project)
        .env("CARGO_HOME", root().join(&project).join("home"))
        .run()
}

/// Installs the wheel from an index in a clean environment, and runs the quickstart and the command.
pub(super) fn python(target: &Target) -> Result<Vec<Artifact>, Failed> {
    python::build(&Wheel { target: *target, free_threaded: None })?;
    let wheel = python::wheel(target)?;
    let sdist = files::only(target.packages("python"), "gz")?;
    let tools = Venv::lasting("rehearsal-tools")?;
    tools.pip(&["install", "-q", "-r", &format!("{PINS}/requirements.txt")])?;
    tools.python(&["-m", "twine", "check", "--strict", &wheel, &sdist])?.run()?;
    let index = format!("{}/flakeid-core", empty_folder("simple")?);
    let mut links = String::from("<!DOCTYPE html>\n");
    for path in [&wheel, &sdist] {
        let name = files::shown(Path::new(path).file_name().unwrap_or_default().as_ref())?;
        files::copy(path, format!("{index}/{name}"))?;
        let sum = sum(Path::new(path))?;
        _ = writeln!(links, "<a href=\"{name}#sha256={sum}\">{name}</a>");
    }
    files::write(format!("{index}/index.html"), links)?;
    let clean = Venv::clean("rehearsal", PYTHON, None)?;
    let index = format!("file://{}", absolute("target/rehearsal/simple")?);
    clean.pip(&["install", "-q", "--index-url", &index, &format!("flakeid-core=={VERSION}")])?;
    clean.python(&["-P", "examples/quickstart.py"])?.run()?;
    Step::new(&clean.program("flakeid")?, &["next", "--node", "7"]).run()?;
    python::test_sdist()?;
    Ok(vec![Artifact::new(wheel), Artifact::reproducible(sdist)])
}

/// Publishes the packages to a private registry, and installs them from there in an empty folder.
pub(super) fn npm_packages(target: &Target) -> Result<Vec<Artifact>, Failed> {
    node::build(target)?;
    let tarballs = node::paths(target);
    install_once_from(VERDACCIO, &format!("{PINS}/package-lock.json"), || {
        files::empty(VERDACCIO)?;
        for file in ["package.json", "package-lock.json", ".npmrc"] {
            files::copy(format!("{PINS}/{file}"), format!("{VERDACCIO}/{file}"))?;
        }
        npm(&["--prefix", VERDACCIO, "ci", "--silent", "--ignore-scripts"]).run()
    })?;
    let folder = empty_folder("npm")?;
    let (port, config) = (free_port()?, format!("{folder}/verdaccio.yaml"));
    files::write(
        &config,
        "storage: ./storage\npackages:\n  '**':\n    access: $all\n    publish: $all\n\
         max_body_size: 100mb\nlog: { type: stdout, level: warn }\n",
    )?;
    let listens = format!("127.0.0.1:{port}");
    let server = Step::new("node", &[&format!("{VERDACCIO}/node_modules/verdaccio/bin/verdaccio")])
        .args(&["--config", &config, "--listen", &listens])
        .spawn(Stdio::null(), Stdio::inherit())?;
    let outcome = through_registry(&folder, &listens, &tarballs);
    stop(server)?;
    outcome?;
    let is_addon = |path: &String| path.contains(&target.platform.suffix());
    let artifact = |path: String| {
        if is_addon(&path) { Artifact::new(path) } else { Artifact::reproducible(path) }
    };
    Ok(tarballs.into_iter().map(artifact).collect())
}

fn through_registry(folder: &str, listens: &str, tarballs: &[String]) -> Outcome {
    let url = format!("http://{listens}/");
    Step::new("curl", &["-sS", "--fail", "--retry", "20", "--retry-connrefused"])
        .args(&["--retry-delay", "1", "-o", "/dev/null", &format!("{url}-/ping")])
        .run()?;
    let project = format!("{folder}/project");
    // npm requires a token, which the registry ignores.
    files::write(
        format!("{project}/.npmrc"),
        format!("registry={url}\n//{listens}/:_authToken=none\n"),
    )?;
    for tarball in tarballs {
        npm(&["publish", "--access", "public", tarball]).within(&project).run()?;
    }
    npm(&["init", "-y", "--silent"]).within(&project).run()?;
    npm(&["install", "--silent", &format!("flakeid-core@{VERSION}")]).within(&project).run()?;
    let example = files::text("examples/quickstart.mjs")?;
    files::write(format!("{project}/native.mjs"), &example)?;
    files::write(
        format!("{project}/wasm.mjs"),
        example.replace("'flakeid-core'", "'flakeid-core/wasm'"),
    )?;
    for program in ["native.mjs", "wasm.mjs"] {
        Step::new("node", &[program]).within(&project).run()?;
    }
    Step::new("npx", &["--no-install", "flakeid", "next", "--node", "7"]).within(&project).run()
}

/// Writes the bundle for Maven Central, signed with a key that is made for the rehearsal. Unpacks the bundle as a
/// repository, and runs a Maven project with it.
pub(super) fn java() -> Result<Vec<Artifact>, Failed> {
    packages::ensure(&jar::NEEDED)?;
    packages::ensure(&[("gpg", "gnupg"), ("md5sum", "coreutils"), ("sha1sum", "coreutils")])?;
    files::empty(jar::DIST)?;
    jar::native(PLATFORM)?;
    jar::assemble(Path::new(&format!("{}/native", jar::DIST)))?;
    let folder = empty_folder("java")?;
    let group = format!("{folder}/repository/io/github/flakeid/flakeid/{VERSION}");
    let endings = [".jar", "-sources.jar", "-javadoc.jar", ".pom"];
    let artifacts: Vec<PathBuf> = endings
        .iter()
        .map(|ending| PathBuf::from(format!("{}/flakeid-{VERSION}{ending}", jar::DIST)))
        .collect();
    // The path of the agent's socket must be short, so the key is not below the checkout.
    let keys = Step::new("mktemp", &["-d"]).output()?;
    let gpg = |arguments: &[&str]| {
        Step::new("gpg", &["--batch", "--quiet", "--passphrase", "", "--pinentry-mode", "loopback"])
            .args(arguments)
            .env("GNUPGHOME", keys.trim())
    };
    gpg(&["--quick-generate-key", "rehearsal", "default", "default", "1d"]).run()?;
    for path in &artifacts {
        let name = files::shown(path.file_name().unwrap_or_default().as_ref())?;
        let file = format!("{group}/{name}");
        files::copy(path, &file)?;
        for (program, ending) in [("md5sum", "md5"), ("sha1sum", "sha1")] {
            let sum = Step::new(program, &[&file]).output()?;
            let sum = sum.split_whitespace().next().unwrap_or_default().to_owned();
            files::write(format!("{file}.{ending}"), sum)?;
        }
        gpg(&["--armor", "--detach-sign", &file]).run()?;
        gpg(&["--verify", &format!("{file}.asc"), &file]).run()?;
    }
    Step::new("gpgconf", &["--kill", "all"]).env("GNUPGHOME", keys.trim()).run()?;
    Step::new("rm", &["-r", keys.trim()]).run()?;
    let bundle = format!("{}/flakeid-{VERSION}-bundle.zip", jar::DIST);
    let from = format!("{folder}/repository");
    Step::new("jar", &["--create", "--no-manifest", "--file", &bundle, "-C", &from, "io"]).run()?;
    run_project(&folder)?;
    let jars = artifacts.into_iter().map(Artifact::reproducible);
    Ok(jars.chain([Artifact::new(bundle)]).collect())
}

/// Runs the Maven project of the guide with the artifact in the local repository.
fn run_project(folder: &str) -> Outcome {
    let project = format!("{folder}/project");
    files::copy_folder("examples/java", &project)?;
    let repository = format!(
        "<id>rehearsal</id><url>file://{}</url>",
        absolute(format!("{folder}/repository"))?
    );
    files::write(
        format!("{folder}/settings.xml"),
        format!(
            "<settings><profiles><profile><id>rehearsal</id><repositories><repository>{repository}</repository>\
             </repositories></profile></profiles><activeProfiles><activeProfile>rehearsal</activeProfile>\
             </activeProfiles></settings>\n"
        ),
    )?;
    let settings = absolute(format!("{folder}/settings.xml"))?;
    // Maven would use an artifact of the same version that an earlier run installed.
    let local = format!("-Dmaven.repo.local={}", root().join(folder).join("m2").display());
    Step::new("mvn", &["-q", "--settings", &settings, &local, "--strict-checksums"])
        .args(&["compile", "exec:java"])
        .within(&project)
        .run()
}
