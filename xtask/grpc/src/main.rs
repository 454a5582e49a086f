//! Generates `src/grpc/flakeid.v1.rs` of flakeid-server, and `flakeid.v1.bin` for reflection, from
//! `flakeid.proto`.

use std::error::Error;
use std::fs;
use std::path::Path;

use prost::Message;

fn main() -> Result<(), Box<dyn Error>> {
    let package = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../crates/flakeid-server");
    let (folder, source) = (package.join("proto"), "flakeid/v1/flakeid.proto");
    let files = protox::compile([source], [&folder])?;
    let generated = package.join("src/grpc");
    let descriptors = files.encode_to_vec();
    fs::write(generated.join("flakeid.v1.bin"), &descriptors)?;
    tonic_prost_build::configure().build_transport(false).out_dir(&generated).compile_fds(files)?;
    // A test of flakeid-server compares this hash, so none of these files can change without the
    // others.
    let code = generated.join("flakeid.v1.rs");
    let text = fs::read_to_string(&code)?;
    let all = [fs::read(folder.join(source))?, descriptors, text.clone().into_bytes()].concat();
    fs::write(code, format!("// With flakeid.proto, FNV-1a: {:016x}.\n{text}", fnv_1a(&all)))?;
    Ok(())
}

fn fnv_1a(bytes: &[u8]) -> u64 {
    let start = 0xcbf2_9ce4_8422_2325;
    bytes.iter().fold(start, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3))
}
