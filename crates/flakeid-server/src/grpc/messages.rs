//! Messages and services of `flakeid.proto`, as `xtask/grpc` writes them.

#[allow(clippy::all, clippy::pedantic, clippy::nursery, missing_docs, unreachable_pub)]
mod generated {
    include!("flakeid.v1.rs");
}

pub(super) use generated::ids_server::{Ids, IdsServer};
pub use generated::{
    NextRequest, NextResponse, StreamRequest, StreamResponse, ids_client::IdsClient,
};

/// The file and what it imports, for clients that ask what there is.
pub(super) const DESCRIPTORS: &[u8] = include_bytes!("flakeid.v1.bin");

#[cfg(test)]
mod tests {
    /// The command that writes them: `cargo run --manifest-path xtask/grpc/Cargo.toml`.
    #[test]
    fn generated_code_matches_the_proto_file_and_is_unchanged() {
        let file: &[u8] = include_bytes!("../../proto/flakeid/v1/flakeid.proto");
        let (first, code) = include_str!("flakeid.v1.rs").split_once('\n').unwrap_or_default();
        let all = [file, super::DESCRIPTORS, code.as_bytes()].concat();
        let hash = all.iter().fold(0xcbf2_9ce4_8422_2325, |hash: u64, byte| {
            (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
        });
        assert_eq!(first, format!("// With flakeid.proto, FNV-1a: {hash:016x}."));
    }
}
