//! The Go module as users get it, and the benchmark of the Go module and its rivals.
//!
//! The repository has neither the translation of the C library to Go nor static libraries, because
//! both would change with every change of the library. This task adds them to the folder `go`, where
//! git ignores them and `go test` uses them, and publishes that folder.

use std::path::Path;

use flakeid_steps::packages::Program;
use flakeid_steps::{Failed, Outcome, Step, files, packages, root, workspace};

use crate::platform::Target;
use crate::{c, header, linters, wasm};

pub(crate) const NEEDED: [Program; 3] =
    [("gcc", "gcc"), ("go", "golang-go"), ("pkg-config", "pkg-config")];

const VERSION: &str = env!("CARGO_PKG_VERSION");
pub(crate) const PATH: &str = "github.com/flakeid/flakeid/go";
/// The translation of the library to Go.
const TRANSLATION: &str = "go/internal/core/core.go";
/// The folder of the header and the static libraries.
const SLIM: &str = "go/slim";
/// The folder of the modules that the programs of the tests download.
const MODULES: &str = "target/go/modules";
/// The program that writes the archive of a module, which must not contain entries for folders.
const ZIP: &str = "
import os, sys, zipfile
with zipfile.ZipFile(sys.argv[1], 'w', zipfile.ZIP_DEFLATED) as archive:
    for folder, _, names in sorted(os.walk('github.com')):
        for name in sorted(names):
            path = os.path.join(folder, name)
            # The date is the same in each build.
            with open(path, 'rb') as file:
                archive.writestr(zipfile.ZipInfo(path), file.read(), zipfile.ZIP_DEFLATED)
";

/// The platforms with a static library, by Go's name of the processor.
const PLATFORMS: [(&str, &str); 2] =
    [("x86_64-unknown-linux-gnu", "amd64"), ("aarch64-unknown-linux-gnu", "arm64")];

/// Writes the module, with the static library of this machine, and a proxy that serves the module. After this,
/// `go test` works in the folder `go`: the tests without cgo lease from a broker, which is a process of the command.
pub(crate) fn build() -> Outcome {
    packages::ensure(&NEEDED)?;
    proxy(&Target::new(None)?)?;
    Step::cargo(&["build", "--locked", "-p", "flakeid-cli", "--bin", "flakeid"]).run()
}

/// Writes the module for a target and a proxy that serves it. Returns the path of the proxy.
pub(crate) fn proxy(target: &Target) -> Result<String, Failed> {
    assemble(target)?;
    publish(target)
}

/// Writes the module with the static libraries in the archives of the C library, and a proxy. Runs
/// a program with the module, because the module is published as it is.
pub(crate) fn release(archives: &Path) -> Outcome {
    packages::ensure(&NEEDED)?;
    module()?;
    for (triple, processor) in PLATFORMS {
        let name = format!("flakeid-{VERSION}-{triple}");
        let archive = files::shown(&root().join(archives).join(format!("{name}.tar.gz")))?;
        let library = format!("{name}/lib/libflakeid-slim.a");
        files::make_folder("target/go")?;
        Step::new("tar", &["-xzf", &archive, "-C", "target/go", &library]).run()?;
        let library = root().join("target/go").join(library);
        c::check_slim_size(&library)?;
        add(&library, processor)?;
    }
    from_nothing(&publish(&Target::new(None)?)?)
}

/// Tests the module with and without cgo in the folder `go`, and runs a program in an empty folder.
pub(crate) fn test() -> Outcome {
    packages::ensure(&NEEDED)?;
    let target = Target::tested(None)?;
    assemble(&target)?;
    let flakeid = workspace::build_programs(&["flakeid"])?.join("flakeid");
    // The translation contains unreachable code, on purpose.
    let vet = ["vet", "-unreachable=false", "./..."];
    let tests = ["test", "-count=1", "./..."];
    for (cgo, arguments) in [("0", &vet[..]), ("0", &tests), ("1", &tests)] {
        Step::new("go", arguments)
            .within("go")
            .env("CGO_ENABLED", cgo)
            .env("FLAKEID_COMMAND", &flakeid)
            .run()?;
    }
    // The race detector requires cgo, so this tag selects the code without cgo.
    Step::new("go", &["test", "-count=1", "-race", "-tags", "flakeid_pure", "./..."])
        .within("go")
        .env("FLAKEID_COMMAND", &flakeid)
        .run()?;
    from_nothing(&publish(&target)?)
}

/// Writes the module with the static library of one platform, and runs a program with it. Returns the path of the proxy.
pub(crate) fn rehearse(target: &Target) -> Result<String, Failed> {
    packages::ensure(&NEEDED)?;
    let proxy = proxy(target)?;
    from_nothing(&proxy)?;
    Ok(proxy)
}

/// Gets the module from the proxy in an empty folder, and runs a program, with and without cgo.
fn from_nothing(proxy: &str) -> Outcome {
    // Go would use a module of the same version that an earlier run downloaded.
    files::empty(MODULES)?;
    ["0", "1"].iter().try_for_each(|cgo| three_commands(proxy, cgo))
}

fn three_commands(proxy: &str, cgo: &str) -> Outcome {
    let folder = format!("target/go/empty-{cgo}");
    files::empty(&folder)?;
    files::copy("examples/go/first/main.go", format!("{folder}/main.go"))?;
    let proxy = format!("file://{proxy}");
    let module = format!("{PATH}@v{VERSION}");
    // Without cgo, there is no embedded store.
    let store = format!("sqlite://{}/ids.db", root().join(&folder).display());
    let run = if cgo == "1" { vec!["run", ".", &store] } else { vec!["run", "."] };
    for arguments in [&["mod", "init", "orders"][..], &["get", &module], &run] {
        Step::new("go", arguments)
            .within(&folder)
            .env("CGO_ENABLED", cgo)
            .env("GOPROXY", &proxy)
            .env("GONOSUMDB", PATH)
            // The module of a test is not kept for other programs of this user.
            .env("GOMODCACHE", root().join(MODULES))
            .env("GOFLAGS", "-modcacherw")
            .run()?;
    }
    Ok(())
}

/// Writes the module, with the static library of the target if the module has one.
fn assemble(target: &Target) -> Outcome {
    module()?;
    let triple = target.platform.triple;
    match PLATFORMS.iter().find(|(known, _)| *known == triple) {
        Some((_, processor)) => add(&c::slim_library(target)?, processor),
        None => Ok(()),
    }
}

/// Writes the module without static libraries.
fn module() -> Outcome {
    header::check()?;
    files::empty(SLIM)?;
    files::copy("include/flakeid.h", format!("{SLIM}/flakeid.h"))?;
    let wasm = wasm::for_go()?;
    Step::new(&linters::wasm2go()?, &["-pkg", "core", "-o", TRANSLATION, &wasm]).run()?;
    let name = "// RunCargoXtaskGo is the name in the error of a build without this file.\n\
        const RunCargoXtaskGo = 0\n";
    // With cgo, the compiler and `go vet` skip the translation.
    let caller = files::text("go/pure_library.go")?;
    let constraint = caller.lines().next().unwrap_or_default();
    let translated = files::text(TRANSLATION)?;
    files::write(TRANSLATION, format!("{constraint}\n\n{translated}\n{name}"))
}

/// Adds a static library to the module.
fn add(library: &Path, processor: &str) -> Outcome {
    files::copy(library, format!("{SLIM}/linux_{processor}/libflakeid.a"))
}

/// Writes the files of a module proxy with this version of the module. Returns the path of the
/// proxy.
fn publish(target: &Target) -> Result<String, Failed> {
    let folder = target.packages("go");
    let proxy = format!("{folder}/proxy");
    let versions = format!("{proxy}/{PATH}/@v");
    files::empty(&folder)?;
    files::make_folder(&versions)?;
    files::write(format!("{versions}/list"), format!("v{VERSION}\n"))?;
    files::write(
        format!("{versions}/v{VERSION}.info"),
        format!("{{\"Version\": \"v{VERSION}\", \"Time\": \"2026-01-01T00:00:00Z\"}}\n"),
    )?;
    files::copy("go/go.mod", format!("{versions}/v{VERSION}.mod"))?;
    let prefix = format!("{PATH}@v{VERSION}");
    let staged = "target/go/staged";
    files::empty(staged)?;
    files::copy_folder("go", &format!("{staged}/{prefix}"))?;
    let zip = files::shown(&root().join(format!("{versions}/v{VERSION}.zip")))?;
    // The names in the archive begin with the path of the module.
    Step::new("python3", &["-c", ZIP, &zip]).within(staged).run()?;
    println!("{proxy}");
    files::shown(&root().join(proxy))
}

/// Commits the module on top of this commit, and pushes the tag that publishes the module. Without
/// the push, nothing remains. The module comes from the proxy, with which programs were run.
pub(crate) fn tag(dry_run: bool) -> Outcome {
    let tag = format!("refs/tags/go/v{VERSION}");
    let archive = format!("target/dist/go/proxy/{PATH}/@v/v{VERSION}.zip");
    if !root().join(&archive).is_file() {
        return Err(Failed(format!("not built: {archive}; run cargo xtask go --archives FOLDER")));
    }
    if !dry_run && Step::new("git", &["ls-remote", "origin", &tag]).output()?.contains(&tag) {
        println!("{tag} is published already");
        return Ok(());
    }
    let (unpacked, tree) = ("target/go/unpacked", "target/go/tree");
    files::empty(unpacked)?;
    Step::new("python3", &["-m", "zipfile", "-e", &archive, unpacked]).run()?;
    files::remove(tree)?;
    Step::new("git", &["worktree", "prune"]).run()?;
    Step::new("git", &["worktree", "add", "--quiet", "--detach", tree, "HEAD"]).run()?;
    files::remove(format!("{tree}/go"))?;
    files::copy_folder(&format!("{unpacked}/{PATH}@v{VERSION}"), &format!("{tree}/go"))?;
    let git = |arguments: &[&str]| Step::new("git", arguments).within(tree);
    git(&["add", "--force", "--all", "go"]).run()?;
    let changed = git(&["diff", "--cached", "--name-only", "HEAD"]).output()?;
    let is_generated = |file: &&str| *file == TRANSLATION || file.starts_with(&format!("{SLIM}/"));
    if let Some(file) = changed.lines().find(|file| !is_generated(file)) {
        return Err(Failed(format!(
            "{archive} does not contain the {file} of this commit; run cargo xtask go --archives FOLDER"
        )));
    }
    let message = "Add the libraries of the Go module";
    git(&["-c", "user.name=github-actions[bot]"])
        .args(&["-c", "user.email=41898282+github-actions[bot]@users.noreply.github.com"])
        .args(&["commit", "--quiet", "-m", message])
        .run()?;
    git(&["show", "--stat", "--format=%s"]).run()?;
    if !dry_run {
        git(&["push", "origin", &format!("HEAD:{tag}")]).run()?;
    }
    Step::new("git", &["worktree", "remove", "--force", tree]).run()
}

/// Returns the compiled benchmark. Its rivals come from the module proxy.
pub(crate) fn bench() -> Result<Step, Failed> {
    packages::ensure(&NEEDED)?;
    let library = c::installed(&Target::new(None)?, "target/go/bench")?.join("lib");
    let program = root().join("target/go/bench/program").display().to_string();
    // The library is linked statically, as the guide describes, so that calls do not go through a
    // procedure linkage table.
    Step::new("go", &["build", "-tags", "flakeid_static", "-o", &program, "."])
        .within("benches/go")
        .env("PKG_CONFIG_PATH", library.join("pkgconfig"))
        // Go's build cache ignores the output of pkg-config, so it would link the library of
        // another checkout.
        .env("CGO_LDFLAGS", format!("-L{}", library.display()))
        .run()?;
    Ok(Step::new(&program, &[]))
}
