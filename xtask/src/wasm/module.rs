//! The WebAssembly modules, and the JavaScript that loads them.

use std::io::Write;
use std::process::{Command, Stdio};

use flakeid_steps::{Failed, Outcome, Step, files, packages, target_folder};

use super::compiler::{Compiler, TARGET, WORK};

/// The folder of the JavaScript, relative to the root of the checkout.
pub(super) const GLUE: &str = "target/wasm/glue";

/// The features that the compiler and the JavaScript use, which every browser of the last five
/// years supports.
const FEATURES: [&str; 4] = [
    "--enable-bulk-memory",
    "--enable-mutable-globals",
    "--enable-nontrapping-float-to-int",
    "--enable-sign-ext",
];

/// A WebAssembly module.
pub(super) struct Module {
    /// The name of its files.
    pub(super) name: &'static str,
    /// The package to compile, and its features.
    package: &'static str,
    features: &'static [&'static str],
    /// The largest allowed compressed size. It is limited because every visitor of a page
    /// downloads the module.
    most_bytes: usize,
}

const WASM: &str = "flakeid-wasm";

/// The C library, which the Go module without cgo contains.
const C: &str = "flakeid-c";

/// The modules of the npm package. The second one contains only leases, so that programs without
/// leases download less.
pub(super) const MODULES: [Module; 2] = [
    Module { name: "flakeid", package: WASM, features: &[], most_bytes: 40 * 1024 },
    Module {
        name: "flakeid_lease",
        package: WASM,
        features: &["--features", "lease"],
        most_bytes: 100 * 1024,
    },
];

/// The module of the page. It contains more than the core.
pub(super) const PAGE: Module =
    Module { name: "flakeid_page", package: "flakeid-page", features: &[], most_bytes: 72 * 1024 };

/// Writes the modules and their JavaScript to the folder `GLUE`.
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
    // The program is not optimised, because compiling it takes longer than running it.
    Step::cargo(&["run", "--quiet", "--locked"])
        .args(&["--manifest-path", "bindings/wasm/glue/Cargo.toml", "--", &linked, GLUE, name])
        .env("CARGO_PROFILE_DEV_DEBUG", "false")
        .env("CARGO_TARGET_DIR", target_folder())
        .run()?;
    let linked = format!("{GLUE}/{name}_bg.wasm");
    let optimised = format!("{GLUE}/{name}.wasm");
    Step::new("wasm-opt", &["-O3", "--strip-producers", "--strip-target-features"])
        .args(&FEATURES)
        .args(&[&linked, "-o", &optimised])
        .run()?;
    check_size(module, &files::bytes(&optimised)?)
}

/// Compiles the C library for the Go module without cgo. Returns the path of the module.
pub(crate) fn for_go() -> Result<String, Failed> {
    packages::ensure(&[("wasm-opt", "binaryen")])?;
    let compiler = Compiler::find()?;
    // The other kind of library would be compiled, too, and is not needed.
    compiler
        .cargo("rustc", C)?
        .args(&["--lib", "--crate-type", "cdylib", "--profile", "wasm"])
        .run()?;
    let built = format!("{WORK}/{TARGET}/wasm/flakeid.wasm");
    let optimised = format!("{WORK}/go.wasm");
    Step::new("wasm-opt", &["-O2", "--strip-producers", "--strip-target-features"])
        .args(&FEATURES)
        .args(&[&built, "-o", &optimised])
        .run()?;
    Ok(optimised)
}

/// Runs clippy for WebAssembly, with the compiler that builds the modules.
pub(crate) fn lint() -> Outcome {
    match Compiler::find()? {
        // The profile matches the build, so that macros are compiled once for both.
        Compiler::Rustup => {
            let profile = ["--profile", "wasm"];
            let all = "--all-features";
            // Both modules of the npm package have parts that the other one omits.
            let packages =
                [(WASM, all), (WASM, "--no-default-features"), (PAGE.package, all), (C, all)];
            packages.iter().try_for_each(|(package, features)| {
                let step = Compiler::Rustup.cargo("clippy", package)?.args(&profile);
                step.args(&[features, "--", "-D", "warnings"]).run()
            })
        }
        Compiler::Debian => {
            println!(
                "\nthe packages for WebAssembly were linted only for this machine: Debian's compiler has no clippy"
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
        return Err(Failed(format!("{name} must have 1 to {most_bytes} bytes gzipped")));
    }
    Ok(())
}
