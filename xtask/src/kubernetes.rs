//! Kubernetes: the Helm chart, and the store in the cluster, on a private API server. The API
//! server and Helm are built once for this machine, from Go modules.

use std::path::Path;

use flakeid_steps::packages::Program;
use flakeid_steps::venv::Venv;
use flakeid_steps::{Failed, Outcome, Step, files, machine, packages, workspace};

use crate::deploy;
use crate::server_packages::go_version;

/// The folder with the module that pins the API server.
const PINS: &str = "xtask/kubernetes";
const HELM: &str = "helm.sh/helm/v4/cmd/helm@v4.3.1";
const API_SERVER: &str = "k8s.io/kubernetes/cmd/kube-apiserver";
const VERSION: &str = env!("CARGO_PKG_VERSION");
pub(crate) const NEEDED: [Program; 3] =
    [("etcd", "etcd-server"), ("openssl", "openssl"), ("python3", "python3")];

/// Checks the chart, runs the tests of the store in the cluster, and runs the brokers that the
/// chart installs.
pub(crate) fn test() -> Outcome {
    packages::ensure(&NEEDED)?;
    let (helm, api_server) = (helm()?, api_server()?);
    let python = deploy::python()?;
    check_chart(&python, &helm, &[])?;
    let folder = workspace::build_programs(&["flakeid", "flakeid-campaign"])?;
    let program = |name: &str| files::shown(&folder.join(name));
    let (flakeid, campaign) = (program("flakeid")?, program("flakeid-campaign")?);
    let tests = ["cargo", "test", "--locked", "-p", "flakeid-stores", "--all-features"];
    on_server(&tests)?.args(&["--test", "kubernetes", "--", "--ignored"]).run()?;
    python
        .python(&["-B", "tests/deploy/rollout.py", "--helm", &helm, "--flakeid", &flakeid])?
        .args(&["--campaign", &campaign, "--kube-apiserver", &api_server])
        .run()?;
    println!("\ncargo xtask kubernetes: everything passed");
    Ok(())
}

/// Returns a step that runs a command while a private API server runs.
pub(crate) fn on_server(command: &[&str]) -> Result<Step, Failed> {
    packages::ensure(&NEEDED)?;
    let (python, api_server) = (deploy::python()?, api_server()?);
    let start = ["-B", "tests/deploy/cluster.py", "--kube-apiserver", &api_server, "--"];
    Ok(python.python(&start)?.args(command))
}

/// Writes the manifests of `deploy/kubernetes` from the chart.
pub(crate) fn render() -> Outcome {
    check_chart(&deploy::python()?, &helm()?, &["--write"])
}

/// Writes the package of the chart to a folder. Returns the path of the package.
pub(crate) fn package(folder: &str) -> Result<String, Failed> {
    Step::new(&helm()?, &["package", "deploy/chart", "--destination", folder]).run()?;
    Ok(format!("{folder}/flakeid-{VERSION}.tgz"))
}

fn check_chart(python: &Venv, helm: &str, arguments: &[&str]) -> Outcome {
    // -B: Python must not write bytecode into the sources.
    python.python(&["-B", "tests/deploy/chart.py", "--helm", helm])?.args(arguments).run()
}

/// Checks that the chart has the workspace's version, and installs the image with this tag.
pub(crate) fn check_version() -> Outcome {
    const FILE: &str = "deploy/chart/Chart.yaml";
    let text = files::text(FILE)?;
    for line in [format!("version: {VERSION}"), format!("appVersion: \"{VERSION}\"")] {
        if !text.lines().any(|found| found == line) {
            return Err(Failed(format!("{FILE} has no line {line:?}, the version in Cargo.toml")));
        }
    }
    Ok(())
}

/// Returns the path of Helm.
fn helm() -> Result<String, Failed> {
    built("helm", HELM.to_owned(), |folder| {
        // Go checks the module against its checksum database.
        let step = go(&["install", "-trimpath", HELM]).env("GOBIN", folder);
        step.env("GOFLAGS", "-buildvcs=false").run()
    })
}

/// Returns the path of the API server.
fn api_server() -> Result<String, Failed> {
    let module = files::text(format!("{PINS}/go.mod"))?;
    let version = pinned(&module)?;
    built("kube-apiserver", module, |folder| {
        // Without the flag, the server reports version 0.0.0.
        let version = format!("-X k8s.io/component-base/version.gitVersion={version}");
        let to = files::shown(&folder.join("kube-apiserver"))?;
        go(&["build", "-trimpath", "-ldflags", &version, "-o", &to, API_SERVER])
            .within(PINS)
            .env("GOFLAGS", "-mod=readonly -buildvcs=false")
            .run()
    })
}

/// Returns the version of Kubernetes in the text of `go.mod`, such as `v1.34.1`.
fn pinned(module: &str) -> Result<String, Failed> {
    let version = module.lines().find_map(|line| {
        let line = line.trim().trim_start_matches("require ");
        line.strip_prefix("k8s.io/kubernetes ")
    });
    let version = version.and_then(|rest| rest.split_whitespace().next());
    version.map(str::to_owned).ok_or_else(|| {
        Failed(format!("{PINS}/go.mod: expected a line with k8s.io/kubernetes and its version"))
    })
}

/// Builds a program once for this machine, and returns its path.
fn built(name: &str, pins: String, build: impl FnOnce(&Path) -> Outcome) -> Result<String, Failed> {
    let folder = machine::built(name, &[go_version()?, pins], build)?;
    files::shown(&folder.join(name))
}

/// Returns a step of the Go tool, which downloads a newer Go if a module requires one.
fn go(arguments: &[&str]) -> Step {
    Step::new("go", arguments).env("CGO_ENABLED", "0").env("GOTOOLCHAIN", "auto")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chart_has_the_version_of_the_workspace() {
        assert!(check_version().is_ok());
    }

    #[test]
    fn pinned_version_is_read_from_the_requirement_and_not_from_a_replacement() {
        let module =
            "require (\n\tk8s.io/kubernetes v1.34.1\n)\nreplace k8s.io/api => k8s.io/api v0.34.1\n";
        assert_eq!(pinned(module).ok().as_deref(), Some("v1.34.1"));
        assert_eq!(pinned("require k8s.io/kubernetes v1.35.0").ok().as_deref(), Some("v1.35.0"));
        assert!(pinned("module flakeid.example/kubernetes\n").is_err());
    }
}
