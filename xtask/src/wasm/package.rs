//! The npm package: files of `node/wasm`, the class of `node/lib`, the module.

use std::fs;
use std::path::Path;

use super::module::{self, GLUE};
use crate::command::{Failed, Outcome, Step, root};

pub(super) const DIST: &str = "target/dist/wasm";
const PACKAGE: &str = "target/wasm/package";

/// An npm tarball in `target/dist/wasm`.
pub(crate) fn build() -> Outcome {
    module::make()?;
    for folder in [PACKAGE, DIST] {
        remove(folder)?;
    }
    for folder in ["lib", "web"] {
        make_folder(&format!("{PACKAGE}/{folder}"))?;
    }
    check_version()?;
    copy_all("node/wasm", PACKAGE)?;
    copy_all("node/wasm/web", &format!("{PACKAGE}/web"))?;
    copy("node/api.d.ts", &format!("{PACKAGE}/api.d.ts"))?;
    for name in ["LICENSE-APACHE", "LICENSE-MIT"] {
        copy(name, &format!("{PACKAGE}/{name}"))?;
    }
    for folder in ["node/lib", "node/wasm/lib"] {
        for name in names(folder)?.iter().filter(|name| *name != "native.js") {
            let source = text(&format!("{folder}/{name}"))?;
            let module = as_es_module(&source).map_err(|why| Failed(format!("{name}: {why}")))?;
            write(&format!("{PACKAGE}/lib/{name}"), &source)?;
            write(&format!("{PACKAGE}/web/{name}"), &module)?;
        }
    }
    write(&format!("{PACKAGE}/web/package.json"), "{ \"type\": \"module\" }\n")?;
    copy(&format!("{GLUE}/node/flakeid.js"), &format!("{PACKAGE}/lib/flakeid.js"))?;
    copy(&format!("{GLUE}/node/flakeid_bg.wasm"), &format!("{PACKAGE}/lib/flakeid_bg.wasm"))?;
    copy(&format!("{GLUE}/web/flakeid.js"), &format!("{PACKAGE}/web/flakeid.js"))?;
    make_folder(DIST)?;
    npm(&["pack", "--silent", "--pack-destination", DIST, &format!("./{PACKAGE}")]).run()
}

pub(super) fn npm(arguments: &[&str]) -> Step {
    Step::new("npm", arguments).or_install("apt-get install nodejs npm (Node 20 or later)")
}

/// The files of `node/lib` keep to two forms of lines, so that this is all there is to do.
fn as_es_module(source: &str) -> Result<String, String> {
    let mut module = String::new();
    for line in source.lines().filter(|line| *line != "'use strict';") {
        let import = line
            .strip_prefix("const ")
            .and_then(|rest| rest.strip_suffix("');"))
            .and_then(|rest| rest.split_once(" = require('"));
        let line = match (import, line.strip_prefix("module.exports = ")) {
            (Some((names, file)), _) => format!("import {names} from '{file}';"),
            (None, Some(names)) => format!("export {names}"),
            (None, None) if line.trim_start().starts_with("//") => line.to_owned(),
            (None, None) if line.contains("require(") || line.contains("module.exports") => {
                return Err(format!("cannot become an ES module: {line}"));
            }
            (None, None) => line.to_owned(),
        };
        module.push_str(&line);
        module.push('\n');
    }
    Ok(module.trim_start().to_owned())
}

/// npm has a version of its own.
fn check_version() -> Outcome {
    let version = concat!("\"version\": \"", env!("CARGO_PKG_VERSION"), "\"");
    if text("node/wasm/package.json")?.contains(version) {
        return Ok(());
    }
    Err(Failed(format!("node/wasm/package.json must have {version}, as Cargo.toml has")))
}

fn names(folder: &str) -> Result<Vec<String>, Failed> {
    let files = fs::read_dir(root().join(folder)).map_err(|error| failed(folder, &error))?;
    let mut names: Vec<String> = files
        .filter_map(Result::ok)
        .filter(|file| file.path().is_file())
        .map(|file| file.file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    Ok(names)
}

pub(super) fn copy_all(from: &str, to: &str) -> Outcome {
    names(from)?
        .iter()
        .try_for_each(|name| copy(&format!("{from}/{name}"), &format!("{to}/{name}")))
}

pub(super) fn copy(from: &str, to: &str) -> Outcome {
    fs::copy(root().join(from), root().join(to)).map_err(|error| failed(from, &error))?;
    Ok(())
}

pub(super) fn text(path: &str) -> Result<String, Failed> {
    fs::read_to_string(root().join(path)).map_err(|error| failed(path, &error))
}

pub(super) fn write(path: &str, text: &str) -> Outcome {
    fs::write(root().join(path), text).map_err(|error| failed(path, &error))
}

pub(super) fn make_folder(path: &str) -> Outcome {
    fs::create_dir_all(root().join(path)).map_err(|error| failed(path, &error))
}

pub(super) fn remove(path: &str) -> Outcome {
    let path: &Path = &root().join(path);
    match fs::remove_dir_all(path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(failed(&path.display().to_string(), &error))
        }
        _ => Ok(()),
    }
}

fn failed(what: &str, error: &std::io::Error) -> Failed {
    Failed(format!("{what}: {error}"))
}
