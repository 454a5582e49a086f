//! The WebAssembly module and the JavaScript that loads it.

use std::io::Write;
use std::process::{Command, Stdio};

use flakeid_steps::{Failed, Outcome, Step, files, packages, target_folder};

use super::compiler::{Compiler, TARGET, WORK};

/// Under the root of the checkout.
pub(super) const GLUE: &str = "target/wasm/glue";

/// What the compiler and the glue use, and every browser of the last five years has.
const FEATURES: [&str; 4] = [
    "--enable-bulk-memory",
    "--enable-mutable-globals",
    "--enable-nontrapping-float-to-int",
    "--enable-sign-ext",
];

/// One of the modules.
pub(super) struct Module {
    /// Of its files.
    pub(super) name: &'static str,
    /// What it is compiled from, and with which features.
    package: &'static str,
    features: &'static [&'static str],
    /// How large it may be, compressed. Download size is the price of a page that uses it.
    most_bytes: usize,
}

const WASM: &str = "flakeid-wasm";

/// Those of the npm package. Leases have a module of their own, so that the other one does not grow.
pub(super) const MODULES: [Module; 2] = [
    Module { name: "flakeid", package: WASM, features: &[], most_bytes: 40 * 1024 },
    Module {
        name: "flakeid_lease",
        package: WASM,
        features: &["--features", "lease"],
        most_bytes: 96 * 1024,
    },
];

/// That of the page, in which it is not the only thing.
pub(super) const PAGE: Module =
    Module { name: "flakeid_page", package: "flakeid-page", features: &[], most_bytes: 72 * 1024 };

/// Leaves `node/` and `web/` in the folder of the glue, with the same modules in both.
pub(super) fn make(modules: &[Module]) -> Outcome {
    packages::ensure(&[("wasm-opt", "binaryen"), ("gzip", "gzip")])?;
    let compiler = Compiler::find()?;
    modules.iter().try_for_each(|module| make_one(compiler, module))
}

fn make_one(compiler: Compiler, module: &Module) -> Outcome {
    let name = module.name;
    let build = compiler.cargo("build", module.package)?;
    build.args(&["--profile", "wasm"]).args(module.features).run()?;
    let linked = format!("{WORK}/{TARGET}/wasm/{}.wasm", module.package.replace('-', "_"));
    // Not optimised: it takes longer to compile than it runs.
    Step::cargo(&["run", "--quiet", "--release", "--locked"])
        .args(&["--manifest-path", "bindings/wasm/glue/Cargo.toml", "--", &linked, GLUE, name])
        .env("CARGO_PROFILE_RELEASE_LTO", "off")
        .env("CARGO_PROFILE_RELEASE_OPT_LEVEL", "0")
        .env("CARGO_TARGET_DIR", target_folder())
        .run()?;
    let [node, web] = ["node", "web"].map(|folder| format!("{GLUE}/{folder}/{name}_bg.wasm"));
    if files::bytes(&node)? != files::bytes(&web)? {
        return Err(Failed("the modules for Node and for the web differ".to_owned()));
    }
    Step::new("wasm-opt", &["-O3", "--strip-producers", "--strip-target-features"])
        .args(&FEATURES)
        .args(&[&node, "-o", &node])
        .run()?;
    check_size(module, &files::bytes(&node)?)
}

/// For WebAssembly, with the same compiler.
pub(crate) fn lint() -> Outcome {
    match Compiler::find()? {
        // In the profile that is built, so that macros are compiled once for both.
        Compiler::Rustup => {
            let profile = ["--profile", "wasm", "--all-features", "--", "-D", "warnings"];
            [WASM, PAGE.package].iter().try_for_each(|package| {
                Compiler::Rustup.cargo("clippy", package)?.args(&profile).run()
            })
        }
        Compiler::Debian => {
            println!(
                "\nWebAssembly is linted for this machine only: Debian's compiler has no clippy"
            );
            Ok(())
        }
    }
}

fn check_size(module: &Module, bytes: &[u8]) -> Outcome {
    let Module { name, most_bytes, .. } = module;
    let failed = |error: std::io::Error| Failed(format!("gzip: {error}"));
    let mut gzip = Command::new("gzip")
        .arg("-9c")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .map_err(failed)?;
    let input = gzip.stdin.take().map(|mut pipe| {
        let bytes = bytes.to_vec();
        std::thread::spawn(move || pipe.write_all(&bytes))
    });
    let size = gzip.wait_with_output().map_err(failed)?.stdout.len();
    drop(input);
    println!("{name}: {} bytes, {size} gzipped", bytes.len());
    if size == 0 || size > *most_bytes {
        return Err(Failed(format!("{name} must be from 1 to {most_bytes} bytes gzipped")));
    }
    Ok(())
}
