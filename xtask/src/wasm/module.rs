//! The WebAssembly module and the JavaScript that loads it.

use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::command::{Failed, Outcome, Step, root};
use crate::packages;

const TARGET: &str = "wasm32-unknown-unknown";

/// Folders under the root of the checkout.
pub(super) const WORK: &str = "target/wasm";
pub(super) const GLUE: &str = "target/wasm/glue";

/// Compiled without reference types: with them the module has instructions that Debian's wasm-opt
/// does not know.
const FLAGS: &str = "-C target-feature=-reference-types";

/// What the compiler and the glue use, and every browser of the last five years has.
const FEATURES: [&str; 4] = [
    "--enable-bulk-memory",
    "--enable-mutable-globals",
    "--enable-nontrapping-float-to-int",
    "--enable-sign-ext",
];

/// 40 KB. Download size is the price of a page that uses it.
const MOST_BYTES: usize = 40 * 1024;

/// Leaves `node/` and `web/` in the folder of the glue, with the same module in both.
pub(super) fn make() -> Outcome {
    packages::ensure(&[("wasm-opt", "binaryen"), ("gzip", "gzip")])?;
    let profile = ["--profile", "wasm", "-p", "flakeid-wasm", "--target", TARGET, "--locked"];
    compile(&profile)?;
    let compiled = format!("{WORK}/{TARGET}/wasm/flakeid_wasm.wasm");
    let manifest = ["--manifest-path", "bindings/wasm/glue/Cargo.toml", "--target-dir", WORK];
    Step::cargo(&["run", "--quiet", "--release", "--locked"])
        .args(&manifest)
        .args(&["--", &compiled, GLUE])
        .run()?;
    let [node, web] = ["node", "web"].map(|folder| format!("{GLUE}/{folder}/flakeid_bg.wasm"));
    if read(&node)? != read(&web)? {
        return Err(Failed("the modules for Node and for the web differ".to_owned()));
    }
    Step::new("wasm-opt", &["-O3", "--strip-producers", "--strip-target-features"])
        .args(&FEATURES)
        .args(&[&node, "-o", &node])
        .run()?;
    check_size(&read(&node)?)
}

/// With rustup's target, or else with Debian's compiler for the web, which brings the sources of
/// the standard library instead of a compiled one.
fn compile(arguments: &[&str]) -> Outcome {
    let build = || Step::cargo(&["build", "--target-dir", WORK]).args(arguments);
    if has_target()
        || (has_rustup() && Step::new("rustup", &["target", "add", TARGET]).run().is_ok())
    {
        return build().env("RUSTFLAGS", FLAGS).run();
    }
    packages::ensure(&[
        ("/usr/bin/rustc", "rustc-web"),
        ("/usr/lib/rustlib/src/rust/library/std/Cargo.toml", "rust-web-src"),
    ])?;
    let linker = rust_lld();
    if linker.is_none() {
        packages::ensure(&[("wasm-ld", "lld")])?;
    }
    build()
        .args(&["-Zbuild-std=std,panic_abort"])
        .env(
            "CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_LINKER",
            linker.unwrap_or_else(|| "wasm-ld".to_owned()),
        )
        .env("RUSTC", "/usr/bin/rustc")
        .env("RUSTC_BOOTSTRAP", "1")
        .env("RUSTFLAGS", FLAGS)
        .run()
}

fn has_target() -> bool {
    let mut rustc = Command::new("rustc");
    output(rustc.args(["--print", "target-libdir", "--target", TARGET]))
        .is_some_and(|path| fs::exists(path.trim()).unwrap_or(false))
}

/// The linker that comes with rustup's compiler.
fn rust_lld() -> Option<String> {
    let folder = output(Command::new("rustc").args(["--print", "target-libdir"]))?;
    let path = Path::new(folder.trim()).parent()?.join("bin/rust-lld");
    path.exists().then(|| path.display().to_string())
}

fn has_rustup() -> bool {
    output(Command::new("rustup").arg("--version")).is_some()
}

fn output(command: &mut Command) -> Option<String> {
    let output = command.current_dir(root()).stderr(Stdio::null()).output().ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).into_owned())
}

fn check_size(module: &[u8]) -> Outcome {
    let failed = |error: std::io::Error| Failed(format!("gzip: {error}"));
    let mut gzip = Command::new("gzip")
        .arg("-9c")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .map_err(failed)?;
    let input = gzip.stdin.take().map(|mut pipe| {
        let module = module.to_vec();
        std::thread::spawn(move || pipe.write_all(&module))
    });
    let size = gzip.wait_with_output().map_err(failed)?.stdout.len();
    drop(input);
    println!("the module: {} bytes, {size} gzipped", module.len());
    if size == 0 || size > MOST_BYTES {
        return Err(Failed(format!("the module must be from 1 to {MOST_BYTES} bytes gzipped")));
    }
    Ok(())
}

pub(super) fn read(path: &str) -> Result<Vec<u8>, Failed> {
    fs::read(root().join(path)).map_err(|error| Failed(format!("{path}: {error}")))
}
