//! The compiler for WebAssembly: rustup's target, or Debian's compiler for the web if rustup's
//! target is missing. Debian's compiler comes with the sources of the standard library instead of
//! a compiled one.

use std::env;
use std::path::Path;
use std::process::{Command, Stdio};

use flakeid_steps::{Failed, Outcome, Step, packages, root};

pub(super) const TARGET: &str = "wasm32-unknown-unknown";

/// The target directory, relative to the root of the checkout.
pub(super) const WORK: &str = "target/wasm";

/// The variable that selects the compiler. The default is the first compiler that is available or
/// can be installed.
const CHOICE: &str = "FLAKEID_WASM_COMPILER";

/// The compiler's flags. With reference types, the module would contain instructions that
/// Debian's wasm-opt does not support.
const FLAGS: &str = "-C target-feature=-reference-types";

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Compiler {
    Rustup,
    Debian,
}

impl Compiler {
    /// Returns the compiler. Installs it if necessary and possible.
    pub(super) fn find() -> Result<Self, Failed> {
        let choice = env::var_os(CHOICE).unwrap_or_default();
        let compiler = match choice.to_str() {
            Some("") if has_target() || add_target().is_ok() => Self::Rustup,
            Some("" | "debian") => Self::Debian,
            Some("rustup") => {
                if !has_target() {
                    add_target()?;
                }
                Self::Rustup
            }
            _ => {
                let choice = choice.display();
                return Err(Failed(format!(
                    "{CHOICE} is {choice}, but must be rustup or debian, or unset"
                )));
            }
        };
        if compiler == Self::Debian {
            packages::ensure(&[
                ("/usr/bin/rustc", "rustc-web"),
                ("/usr/lib/rustlib/src/rust/library/std/Cargo.toml", "rust-web-src"),
            ])?;
        }
        Ok(compiler)
    }

    /// Returns a `cargo` command for a package.
    pub(super) fn cargo(self, command: &str, package: &str) -> Result<Step, Failed> {
        let step = Step::cargo(&[command, "-p", package, "--locked"])
            .args(&["--target", TARGET, "--target-dir", WORK])
            .env("RUSTFLAGS", FLAGS);
        if self == Self::Rustup {
            return Ok(step);
        }
        let linker = rust_lld();
        if linker.is_none() {
            packages::ensure(&[("wasm-ld", "lld")])?;
        }
        Ok(step
            .args(&["-Zbuild-std=std,panic_abort"])
            .env(
                "CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_LINKER",
                linker.unwrap_or_else(|| "wasm-ld".to_owned()),
            )
            .env("RUSTC", "/usr/bin/rustc")
            .env("RUSTC_BOOTSTRAP", "1"))
    }
}

fn has_target() -> bool {
    let mut rustc = Command::new("rustc");
    output(rustc.args(["--print", "target-libdir", "--target", TARGET]))
        .is_some_and(|path| Path::new(path.trim()).exists())
}

fn add_target() -> Outcome {
    Step::new("rustup", &["target", "add", TARGET]).or_install("https://rustup.rs").run()
}

/// Returns the linker that comes with rustup's compiler.
fn rust_lld() -> Option<String> {
    let folder = output(Command::new("rustc").args(["--print", "target-libdir"]))?;
    let path = Path::new(folder.trim()).parent()?.join("bin/rust-lld");
    path.exists().then(|| path.display().to_string())
}

fn output(command: &mut Command) -> Option<String> {
    let output = command.current_dir(root()).stderr(Stdio::null()).output().ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).into_owned())
}
