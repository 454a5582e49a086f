//! Writes a WebAssembly module and its JavaScript glue, which is an ES module.
//!
//! The command line is `flakeid-wasm-glue <compiled.wasm> <folder> <name>`.

use std::env;
use std::fs;
use std::path::Path;
use std::process::ExitCode;

use wasm_bindgen_cli_support::Bindgen;

fn main() -> ExitCode {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let [input, folder, name] = arguments.as_slice() else {
        eprintln!("usage: flakeid-wasm-glue <compiled.wasm> <folder> <name>");
        return ExitCode::FAILURE;
    };
    match generate(Path::new(input), Path::new(folder), name) {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            eprintln!("flakeid-wasm-glue: {why}");
            ExitCode::FAILURE
        }
    }
}

fn generate(input: &Path, folder: &Path, name: &str) -> Result<(), String> {
    let compiled = fs::read(input).map_err(|error| format!("{}: {error}", input.display()))?;
    // The section `target_features` is removed, because it lists the feature `reference-types`, which the precompiled
    // standard library enables. If the section lists this feature, wasm-bindgen adds instructions that Debian's
    // wasm-opt cannot read. The binding itself is compiled without the feature.
    let module = without_custom(&compiled, "target_features")
        .ok_or_else(|| format!("{} is not a WebAssembly module", input.display()))?;
    let say = |error| format!("{error:?}");
    Bindgen::new()
        .input_bytes(name, module)
        .typescript(false)
        .remove_name_section(true)
        .remove_producers_section(true)
        .omit_default_module_path(true)
        .web(true)
        .map_err(say)?
        .generate(folder)
        .map_err(say)
}

/// The length of a module's magic number and version, in bytes.
const HEADER: usize = 8;

/// Returns the module without any custom sections of the given name. Returns `None` if the bytes are not a WebAssembly
/// module.
fn without_custom(module: &[u8], name: &str) -> Option<Vec<u8>> {
    let mut kept = module.get(..HEADER).filter(|header| header.starts_with(b"\0asm"))?.to_vec();
    let mut rest = &module[HEADER..];
    while let [id, after_id @ ..] = rest {
        let (size, content) = number(after_id)?;
        let content = content.get(..size)?;
        let whole = 1 + (after_id.len() - number(after_id)?.1.len()) + size;
        if *id != 0 || custom_name(content)? != name.as_bytes() {
            kept.extend_from_slice(&rest[..whole]);
        }
        rest = &rest[whole..];
    }
    Some(kept)
}

fn custom_name(content: &[u8]) -> Option<&[u8]> {
    let (length, rest) = number(content)?;
    rest.get(..length)
}

/// Reads a LEB128 number, and returns the number and the bytes that follow it.
fn number(mut bytes: &[u8]) -> Option<(usize, &[u8])> {
    let mut value = 0;
    for shift in (0..35).step_by(7) {
        let (byte, rest) = bytes.split_first()?;
        bytes = rest;
        value |= usize::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            return Some((value, bytes));
        }
    }
    None
}
