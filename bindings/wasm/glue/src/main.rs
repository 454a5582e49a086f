//! `flakeid-wasm-glue <compiled.wasm> <folder>`: writes the module and its JavaScript, once for
//! Node's `require` (`node/`) and once as an ES module (`web/`).

mod section;

use std::env;
use std::fs;
use std::path::Path;
use std::process::ExitCode;

use wasm_bindgen_cli_support::Bindgen;

fn main() -> ExitCode {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let [input, folder] = arguments.as_slice() else {
        eprintln!("usage: flakeid-wasm-glue <compiled.wasm> <folder>");
        return ExitCode::FAILURE;
    };
    match generate(Path::new(input), Path::new(folder)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            eprintln!("flakeid-wasm-glue: {why}");
            ExitCode::FAILURE
        }
    }
}

fn generate(input: &Path, folder: &Path) -> Result<(), String> {
    let compiled = fs::read(input).map_err(|error| format!("{}: {error}", input.display()))?;
    // The precompiled standard library is listed there with reference types, and then the module
    // gets instructions that Debian's wasm-opt does not read. The binding is compiled without.
    let module = section::without_custom(&compiled, "target_features")
        .ok_or_else(|| format!("{} is not a WebAssembly module", input.display()))?;
    let say = |error| format!("{error:?}");
    bindgen(&module).nodejs(true).map_err(say)?.generate(folder.join("node")).map_err(say)?;
    bindgen(&module).web(true).map_err(say)?.generate(folder.join("web")).map_err(say)
}

fn bindgen(module: &[u8]) -> Bindgen {
    let mut bindgen = Bindgen::new();
    bindgen
        .input_bytes("flakeid", module.to_vec())
        .typescript(false)
        .remove_name_section(true)
        .remove_producers_section(true)
        .omit_default_module_path(true);
    bindgen
}
