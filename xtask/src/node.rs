//! The npm package flakeid-core and its packages for each platform, which are built, packed, and
//! tested in packed form.

use std::path::{Path, PathBuf};

use flakeid_steps::servers::Servers;
use flakeid_steps::{Failed, Outcome, Step, files, packages, root, target_folder, workspace};

use crate::es_module::{Runtime, as_es_module};
use crate::npm::{NODE, esbuild, npm};
use crate::platform::{OF_TESTS, Platform, Profile, RELEASED, Target};
use crate::server_packages::POSTGRESQL;
use crate::wasm;

const VERSION: &str = env!("CARGO_PKG_VERSION");
/// The folder of the packages for users.
pub(crate) const DIST: &str = "target/dist/node";
const TYPES: &str = "node/native.d.ts";
const MANIFEST: &str = "node/package.json";
const LOADER: &str = "node/lib/addon.js";
const PLATFORMS: &str = "node/lib/platform.js";
const ALPINE: &str = "node:20-alpine";

/// Writes the tarballs to `target/dist/node`, and generates `node/native.d.ts`.
pub(crate) fn build(target: &Target) -> Outcome {
    // The package of a platform is built on its own system, and the main package only once.
    let types = pack(target, !target.released)?;
    files::write(TYPES, types)
}

/// Installs the tarballs into an empty project, and runs the tests and the example there.
pub(crate) fn test(target: &Target) -> Outcome {
    let image = target.image(ALPINE)?;
    let types = pack(target, false)?;
    if files::text(TYPES)? != types {
        return Err(Failed(format!(
            "{TYPES} does not match the sources; generate it: cargo xtask node"
        )));
    }
    let project = "target/node/project";
    files::empty(project)?;
    files::copy_folder("node/test", &format!("{project}/test"))?;
    files::remove(format!("{project}/test/frameworks"))?;
    for file in ["package.json", "package-lock.json", ".npmrc"] {
        files::copy(format!("node/test/{file}"), format!("{project}/{file}"))?;
    }
    files::copy("examples/quickstart.mjs", format!("{project}/quickstart.mjs"))?;
    install(project, target, image)?;
    let node = |arguments: &[&str]| {
        Step::new("node", arguments).within(project).env("FLAKEID_ROOT", root()).inside(image)
    };
    node(&["quickstart.mjs"]).run()?;
    for types in ["test/tsconfig.json", "test/native/tsconfig.json"] {
        node(&["node_modules/typescript/bin/tsc", "-p", types]).run()?;
    }
    let tests = tests_below(project, "test")?;
    node(&["--test"]).args(&tests.iter().map(String::as_str).collect::<Vec<_>>()).run()?;
    // One platform is enough, because these modules are plain JavaScript and the same on all
    // platforms.
    if cfg!(target_os = "linux") && !target.released {
        test_frameworks(target, &format!("{project}/node_modules"))?;
    }
    Ok(())
}

/// Runs the tests of framework integrations, in a project that has the frameworks as well as the
/// installed packages.
fn test_frameworks(target: &Target, installed: &str) -> Outcome {
    packages::ensure(&[POSTGRESQL])?;
    let servers = Servers::begin(&["postgres"])?;
    let project = "target/node/frameworks";
    files::empty(project)?;
    files::copy_folder("node/test/frameworks", project)?;
    files::copy_folder("examples/node-types", &format!("{project}/examples"))?;
    npm(&["--prefix", project, "ci", "--silent", "--ignore-scripts"]).run()?;
    for package in ["flakeid-core", &platform_package(&target.platform), "typescript"] {
        let folder = format!("node_modules/{package}");
        files::copy_folder(&format!("{installed}/{package}"), &format!("{project}/{folder}"))?;
    }
    let servers = servers.ready()?;
    Step::new("node", &["--test", "frameworks.test.mjs", "types.test.mjs"])
        .within(project)
        .env("DATABASE_URL", servers.url("postgres")?)
        .env("FLAKEID_ROOT", root())
        .run()
}

/// Returns the benchmark, with the tarballs and the rivals installed.
pub(crate) fn bench() -> Result<Step, Failed> {
    let here = Target::new(None)?;
    pack(&here, false)?;
    let project = "target/node/bench";
    files::empty(project)?;
    for file in ["package.json", "package-lock.json", ".npmrc", "bench.mjs", "start.mjs"] {
        files::copy(format!("benches/node/{file}"), format!("{project}/{file}"))?;
    }
    install(project, &here, None)?;
    let floor = root().join("target/node/floor");
    Step::cargo(&["build", "--release", "--locked"])
        .args(&["--manifest-path", "benches/node/floor/Cargo.toml"])
        .env("CARGO_TARGET_DIR", &floor)
        .run()?;
    let addon = root().join(project).join("floor.node");
    let built = here.platform.library("flakeid_floor");
    files::copy(floor.join("release").join(built), &addon)?;
    Ok(Step::new("node", &["bench.mjs"]).within(project).env("FLAKEID_FLOOR", &addon))
}

/// Creates a project from files of a folder, and installs its locked dependencies and the tarballs.
pub(crate) fn project(project: &str, from: &str, names: &[&str]) -> Outcome {
    let here = Target::tested(None)?;
    pack(&here, false)?;
    for file in names {
        files::copy(format!("{from}/{file}"), format!("{project}/{file}"))?;
    }
    install(project, &here, None)
}

/// Installs the dependencies of the project's lock file, and the tarballs.
fn install(project: &str, target: &Target, image: Option<&'static str>) -> Outcome {
    npm(&["--prefix", project, "ci", "--silent", "--ignore-scripts"]).inside(image).run()?;
    npm(&["--prefix", project, "install", "--silent", "--no-save", "--ignore-scripts"])
        .args(&paths(target).iter().map(String::as_str).collect::<Vec<_>>())
        .inside(image)
        .run()
}

/// Builds and packs everything. Returns the paths of the tarballs.
pub(crate) fn tarballs(target: &Target) -> Result<Vec<String>, Failed> {
    pack(target, true)?;
    Ok(paths(target))
}

pub(crate) fn paths(target: &Target) -> Vec<String> {
    let names = ["flakeid-core".to_owned(), platform_package(&target.platform)];
    names.iter().map(|name| tarball(target, name)).collect()
}

/// Returns all test files below a folder of a project. Listing them avoids differences between Node
/// versions in the patterns that `node --test` accepts.
pub(crate) fn tests_below(project: &str, folder: &str) -> Result<Vec<String>, Failed> {
    let mut found = Vec::new();
    for path in files::entries(Path::new(project).join(folder))? {
        let below = format!("{folder}/{}", path.file_name().unwrap_or_default().display());
        if path.is_dir() {
            found.extend(tests_below(project, &below)?);
        } else if below.ends_with(".test.mjs") {
            found.push(below);
        }
    }
    Ok(found)
}

/// Builds and packs everything, with the `WebAssembly` modules or without. Returns the expected content of
/// `native.d.ts`.
fn pack(target: &Target, has_wasm: bool) -> Result<String, Failed> {
    let (addon, types) = compile(target)?;
    let (main, platform) = ("target/node/flakeid-core", "target/node/platform");
    let packed = target.packages("node");
    for folder in [platform, &packed] {
        files::empty(folder)?;
    }
    assemble(main)?;
    if has_wasm {
        wasm::add_to(main)?;
    }
    copy_licences(platform)?;
    files::copy(addon, format!("{platform}/flakeid.node"))?;
    let command = target.platform.program("flakeid");
    files::copy(target.built_folder().join(&command), format!("{platform}/{command}"))?;
    files::write(format!("{platform}/package.json"), platform_manifest(&target.platform))?;
    for folder in [main, platform] {
        let folder = format!("./{folder}");
        npm(&["pack", "--silent", "--pack-destination", &packed, &folder]).run()?;
    }
    Ok(types)
}

/// Writes the files of the main package, except those for `WebAssembly`, to an empty folder.
pub(crate) fn assemble(main: &str) -> Outcome {
    check_manifest()?;
    files::empty(main)?;
    bundle(main)?;
    copy_frameworks(&format!("{main}/frameworks"))?;
    files::copy("node/bin/flakeid.js", format!("{main}/bin/flakeid.js"))?;
    for file in ["package.json", "README.md", "index.mjs", "init.mjs"] {
        files::copy(format!("node/{file}"), format!("{main}/{file}"))?;
    }
    for file in ["index.d.ts", "index.d.mts", "init.d.mts", "api.d.ts", "leases.d.ts"] {
        files::copy(format!("node/{file}"), format!("{main}/{file}"))?;
    }
    copy_licences(main)
}

fn copy_licences(folder: &str) -> Outcome {
    let mut names = ["LICENSE-APACHE", "LICENSE-MIT"].into_iter();
    names.try_for_each(|name| files::copy(name, format!("{folder}/{name}")))
}

/// Bundles `index.js`, because Node takes a third of a millisecond to load each file. The files are
/// first converted to ES modules, which the bundler merges into one scope. The bundler would wrap
/// each other module in a function, and V8 would parse the content of these functions twice. The
/// modules for frameworks and the command also need a file of `lib`, so these files are copied.
fn bundle(main: &str) -> Outcome {
    let modules = format!("{main}-modules");
    files::empty(&modules)?;
    let converted = |name: &str| {
        let module =
            as_es_module(name, &files::text(format!("node/{name}"))?, Runtime::NodeBundle)?;
        files::write(format!("{modules}/{name}"), module)
    };
    for name in files::names("node/lib")? {
        converted(&format!("lib/{name}"))?;
    }
    converted("index.js")?;
    let (entry, out) = (format!("{modules}/index.js"), format!("--outfile={main}/index.js"));
    esbuild(&[&entry, "--bundle", "--platform=node", "--target=node20", "--format=cjs", &out])?
        .args(&["--external:flakeid-core-*", "--log-level=warning", "--charset=utf8"])
        // Code in ES modules is always strict, and the bundle is not an ES module.
        .args(&["--banner:js='use strict';"])
        // The entry point exports with `module.exports`. The function `addonPaths` is unused but must stay.
        .args(&["--log-override:commonjs-variable-in-esm=silent", "--tree-shaking=false"])
        .run()?;
    for file in ["error.js", "platform.js"] {
        files::copy(format!("node/lib/{file}"), format!("{main}/lib/{file}"))?;
    }
    let error = as_es_module("error.js", &files::text("node/lib/error.js")?, Runtime::Web)?;
    files::write(format!("{main}/lib/error.mjs"), error)
}

/// Copies the modules for frameworks, as `CommonJS` and as ES modules, whose imports depend on the
/// runtime. TypeScript requires separate declaration files for `import` and `require`.
fn copy_frameworks(folder: &str) -> Outcome {
    files::copy_folder("node/frameworks", folder)?;
    for path in files::with_extension(folder, "ts")? {
        let text = files::text(&path)?.replace(".js';", ".mjs';");
        files::write(path.with_extension("mts"), text)?;
    }
    for path in files::with_extension(folder, "js")? {
        let module = as_es_module(&path.display().to_string(), &files::text(&path)?, Runtime::Web)?
            .replace("'../index.js'", "'flakeid-core'")
            .replace("'../lib/error.js'", "'../lib/error.mjs'")
            .replace("from './shared.js'", "from './shared.mjs'");
        files::write(path.with_extension("mjs"), module)?;
    }
    Ok(())
}

/// Compiles the add-on and the command. Returns the path of the add-on, and the declarations of its
/// functions.
fn compile(target: &Target) -> Result<(PathBuf, String), Failed> {
    // The macros write to this folder when they are expanded, and they are expanded only after a
    // change.
    let types = target_folder().join("napi-types");
    files::make_folder(&types)?;
    target
        .cargo("rustc")?
        .args(&target.options(OF_TESTS))
        .args(&["-p", "flakeid-node", "--", "-C", "strip=symbols"])
        .env("NAPI_TYPE_DEF_TMP_FOLDER", &types)
        .run()?;
    command(target)?;
    let types = files::shown(&types.join("flakeid-node"))?;
    let declarations =
        Step::new("node", &["bindings/node/declarations.mjs", &types]).or_install(NODE).output()?;
    let addon = target.built_folder().join(target.platform.library("flakeid_node"));
    Ok((addon, declarations))
}

/// Compiles the command. Tests use the command that other tests have built.
fn command(target: &Target) -> Outcome {
    if !target.released && matches!(target.profile, Profile::Dev) {
        return workspace::build_programs(&["flakeid"]).map(drop);
    }
    target
        .cargo("rustc")?
        .args(&["--profile", target.profile.name(), "--locked", "-p", "flakeid-cli"])
        .args(&["--bin", "flakeid", "--", "-C", "strip=symbols"])
        .run()
}

pub(crate) fn platform_package(platform: &Platform) -> String {
    format!("flakeid-core-{}", platform.suffix())
}

/// Checks the versions and platforms that `package.json` and the loader must repeat.
pub(crate) fn check_manifest() -> Outcome {
    let manifest = files::text(MANIFEST)?;
    let version = format!("\n  \"version\": \"{VERSION}\",\n");
    let platforms: Vec<String> = RELEASED
        .iter()
        .map(|platform| format!("\n    \"{}\": \"{VERSION}\"", platform_package(platform)))
        .collect();
    let platforms = format!("\n  \"optionalDependencies\": {{{}\n  }}\n", platforms.join(","));
    for part in [version, platforms] {
        if !manifest.contains(&part) {
            return Err(Failed(format!("{MANIFEST} must contain:{part}")));
        }
    }
    for platform in &RELEASED {
        let loaded = format!("require.resolve('{}')", platform_package(platform));
        for (file, name) in [(LOADER, loaded), (PLATFORMS, format!("'{}'", platform.suffix()))] {
            if !files::text(file)?.contains(&name) {
                return Err(Failed(format!("{file} must contain: {name}")));
            }
        }
    }
    Ok(())
}

fn platform_manifest(platform: &Platform) -> String {
    let Platform { system, processor, abi, .. } = platform;
    let libc = match abi {
        Some("gnu") => "\n  \"libc\": [\"glibc\"],",
        Some("musl") => "\n  \"libc\": [\"musl\"],",
        _ => "",
    };
    format!(
        r#"{{
  "name": "{name}",
  "version": "{VERSION}",
  "description": "The add-on and the command of flakeid-core for {system} on {processor}",
  "license": "MIT OR Apache-2.0",
  "author": "The flakeid developers",
  "homepage": "{repository}#readme",
  "bugs": "{repository}/issues",
  "repository": {{ "type": "git", "url": "git+{repository}.git", "directory": "node" }},
  "engines": {{ "node": ">=20" }},
  "os": ["{system}"],
  "cpu": ["{processor}"],{libc}
  "main": "flakeid.node",
  "files": ["flakeid.node", "{command}"]
}}
"#,
        command = platform.program("flakeid"),
        name = platform_package(platform),
        repository = env!("CARGO_PKG_REPOSITORY"),
    )
}

fn tarball(target: &Target, package: &str) -> String {
    let name = format!("{package}-{VERSION}.tgz");
    root().join(target.packages("node")).join(name).display().to_string()
}
