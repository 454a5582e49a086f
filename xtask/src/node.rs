//! The npm package flakeid-core and its package for this platform: built, packed, and tested as
//! they are packed.

use std::env::consts::{ARCH, DLL_PREFIX, DLL_SUFFIX, OS};
use std::fs;
use std::path::{Path, PathBuf};

use crate::command::{Failed, Outcome, Step, root};

const VERSION: &str = env!("CARGO_PKG_VERSION");
const DIST: &str = "target/dist/node";
const TYPES: &str = "node/native.d.ts";

/// The tarballs in `target/dist/node`; writes `node/native.d.ts` anew.
pub(crate) fn build() -> Outcome {
    let types = pack()?;
    write(TYPES, &types)
}

/// Installs the tarballs into an empty project, and runs the tests and the example there.
pub(crate) fn test() -> Outcome {
    let types = pack()?;
    if read(TYPES)? != types {
        return Err(Failed(format!("{TYPES} is not what the sources say; run: cargo xtask node")));
    }
    let project = "target/node/project";
    empty(project)?;
    copy_folder("node/test", &format!("{project}/test"))?;
    for file in ["package.json", "package-lock.json", ".npmrc"] {
        copy(&format!("node/test/{file}"), &format!("{project}/{file}"))?;
    }
    copy("examples/quickstart.mjs", &format!("{project}/quickstart.mjs"))?;
    install(project)?;
    let in_project = |arguments: &[&str]| {
        Step::new("env", &["-C", project]).args(arguments).env("FLAKEID_ROOT", root())
    };
    in_project(&["node", "quickstart.mjs"]).run()?;
    in_project(&["node_modules/.bin/tsc", "-p", "test/tsconfig.json"]).run()?;
    in_project(&["node_modules/.bin/tsc", "-p", "test/native/tsconfig.json"]).run()?;
    let mut tests = Vec::new();
    find_tests(&root().join(project), Path::new("test"), &mut tests)?;
    let tests: Vec<&str> = tests.iter().map(String::as_str).collect();
    in_project(&["node", "--test"]).args(&tests).run()
}

/// Installs the tarballs beside the rivals, and measures.
pub(crate) fn bench() -> Outcome {
    pack()?;
    let project = "target/node/bench";
    empty(project)?;
    for file in ["package.json", "package-lock.json", ".npmrc", "bench.mjs"] {
        copy(&format!("benches/node/{file}"), &format!("{project}/{file}"))?;
    }
    install(project)?;
    let floor = root().join("target/node/floor");
    Step::cargo(&["build", "--release", "--locked"])
        .args(&["--manifest-path", "benches/node/floor/Cargo.toml"])
        .env("CARGO_TARGET_DIR", &floor)
        .run()?;
    let built = floor.join(format!("release/{DLL_PREFIX}flakeid_floor{DLL_SUFFIX}"));
    let addon = root().join(project).join("floor.node");
    fs::copy(&built, &addon).map_err(|error| failed(&built.display().to_string(), &error))?;
    Step::new("env", &["-C", project, "node", "bench.mjs"]).env("FLAKEID_FLOOR", &addon).run()
}

/// What the project's own lock file says, and the tarballs.
fn install(project: &str) -> Outcome {
    let tarballs = [tarball("flakeid-core"), tarball(&platform_package())];
    npm(&["--prefix", project, "ci", "--silent", "--ignore-scripts"]).run()?;
    // The packages of other platforms are not there yet when this one is tested.
    npm(&["--prefix", project, "install", "--silent", "--no-save", "--omit=optional"])
        .args(&tarballs.each_ref().map(String::as_str))
        .run()
}

/// Every test file below a folder: what else `node --test` takes differs between its versions.
fn find_tests(project: &Path, folder: &Path, found: &mut Vec<String>) -> Outcome {
    let shown = folder.display().to_string();
    for entry in fs::read_dir(project.join(folder)).map_err(|error| failed(&shown, &error))? {
        let entry = entry.map_err(|error| failed(&shown, &error))?;
        let path = folder.join(entry.file_name());
        if entry.path().is_dir() {
            find_tests(project, &path, found)?;
        } else if path.to_string_lossy().ends_with(".test.mjs") {
            found.push(path.display().to_string());
        }
    }
    found.sort();
    Ok(())
}

/// Builds and packs everything, and returns what `native.d.ts` must be.
fn pack() -> Result<String, Failed> {
    let (addon, types) = compile()?;
    let (main, platform) = ("target/node/flakeid-core", "target/node/platform");
    for folder in [main, platform, DIST] {
        empty(folder)?;
    }
    copy_folder("node/lib", &format!("{main}/lib"))?;
    for file in ["package.json", "README.md", "index.js", "index.mjs", "index.d.ts", "index.d.mts"]
    {
        copy(&format!("node/{file}"), &format!("{main}/{file}"))?;
    }
    copy("node/api.d.ts", &format!("{main}/api.d.ts"))?;
    for folder in [main, platform] {
        for file in ["LICENSE-APACHE", "LICENSE-MIT"] {
            copy(file, &format!("{folder}/{file}"))?;
        }
    }
    let target = root().join(platform).join("flakeid.node");
    fs::copy(&addon, target).map_err(|error| failed(&addon.display().to_string(), &error))?;
    write(&format!("{platform}/package.json"), &platform_manifest())?;
    for folder in [main, platform] {
        let folder = format!("./{folder}");
        npm(&["pack", "--silent", "--pack-destination", DIST, &folder]).run()?;
    }
    Ok(types)
}

/// The add-on, and the declarations of its functions.
fn compile() -> Result<(PathBuf, String), Failed> {
    let target = std::env::var_os("CARGO_TARGET_DIR")
        .map_or_else(|| root().join("target"), |given| root().join(given));
    // The macros write there while they are expanded, which they are only when something changed.
    let types = target.join("napi-types");
    fs::create_dir_all(&types).map_err(|error| failed(&types.display().to_string(), &error))?;
    Step::cargo(&["rustc", "--release", "-p", "flakeid-node", "--", "-C", "strip=symbols"])
        .env("NAPI_TYPE_DEF_TMP_FOLDER", &types)
        .run()?;
    let types = types.join("flakeid-node").display().to_string();
    let declarations = Step::new("node", &["bindings/node/declarations.mjs", &types])
        .or_install("apt-get install nodejs npm (Node 20 or later)")
        .output()?;
    Ok((target.join(format!("release/{DLL_PREFIX}flakeid_node{DLL_SUFFIX}")), declarations))
}

/// Node's names of this platform: system, processor, C library.
fn platform() -> (&'static str, &'static str, Option<&'static str>) {
    let system = match OS {
        "macos" => "darwin",
        "windows" => "win32",
        other => other,
    };
    let processor = match ARCH {
        "x86_64" => "x64",
        "aarch64" => "arm64",
        other => other,
    };
    let libc = if cfg!(target_env = "musl") { "musl" } else { "gnu" };
    (system, processor, (system == "linux").then_some(libc))
}

fn platform_package() -> String {
    let (system, processor, libc) = platform();
    let libc = libc.map_or_else(String::new, |libc| format!("-{libc}"));
    format!("flakeid-core-{system}-{processor}{libc}")
}

fn platform_manifest() -> String {
    let (system, processor, libc) = platform();
    let libc = match libc {
        Some("gnu") => "\n  \"libc\": [\"glibc\"],",
        Some(_) => "\n  \"libc\": [\"musl\"],",
        None => "",
    };
    format!(
        r#"{{
  "name": "{name}",
  "version": "{VERSION}",
  "description": "The add-on of flakeid-core for {system} on {processor}",
  "license": "MIT OR Apache-2.0",
  "repository": {{ "type": "git", "url": "git+{repository}.git", "directory": "node" }},
  "engines": {{ "node": ">=20" }},
  "os": ["{system}"],
  "cpu": ["{processor}"],{libc}
  "main": "flakeid.node",
  "files": ["flakeid.node"]
}}
"#,
        name = platform_package(),
        repository = env!("CARGO_PKG_REPOSITORY"),
    )
}

fn tarball(package: &str) -> String {
    root().join(DIST).join(format!("{package}-{VERSION}.tgz")).display().to_string()
}

fn npm(arguments: &[&str]) -> Step {
    Step::new("npm", arguments).or_install("apt-get install nodejs npm (Node 20 or later)")
}

fn empty(folder: &str) -> Outcome {
    let path = root().join(folder);
    if path.exists() {
        fs::remove_dir_all(&path).map_err(|error| failed(folder, &error))?;
    }
    fs::create_dir_all(&path).map_err(|error| failed(folder, &error))
}

fn copy_folder(from: &str, to: &str) -> Outcome {
    fs::create_dir_all(root().join(to)).map_err(|error| failed(to, &error))?;
    for entry in fs::read_dir(root().join(from)).map_err(|error| failed(from, &error))? {
        let entry = entry.map_err(|error| failed(from, &error))?;
        let name = entry.file_name().to_string_lossy().into_owned();
        // Left there by somebody who ran npm in the checkout.
        if name == "node_modules" {
            continue;
        }
        let (from, to) = (format!("{from}/{name}"), format!("{to}/{name}"));
        if entry.path().is_dir() { copy_folder(&from, &to)? } else { copy(&from, &to)? }
    }
    Ok(())
}

fn copy(from: &str, to: &str) -> Outcome {
    fs::copy(root().join(from), root().join(to)).map_err(|error| failed(from, &error))?;
    Ok(())
}

fn read(path: &str) -> Result<String, Failed> {
    fs::read_to_string(root().join(path)).map_err(|error| failed(path, &error))
}

fn write(path: &str, text: &str) -> Outcome {
    fs::write(root().join(Path::new(path)), text).map_err(|error| failed(path, &error))
}

fn failed(what: &str, error: &std::io::Error) -> Failed {
    Failed(format!("{what}: {error}"))
}
