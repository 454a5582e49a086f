//! The core for JavaScript, compiled to WebAssembly. Each function converts its arguments, calls the core once and
//! returns the result.
//!
//! JavaScript programs use the classes in `node/lib`, which call these functions through `node/lib/wasm.js`. A
//! `BigInt` argument must fit into the parameter's Rust type, because the generated glue code truncates larger values
//! silently. Values from users may be too large, and are therefore passed as decimal strings.
//!
//! The crate is compiled twice: without features as the core, and with the feature `lease` as the module that contains
//! only leases.

pub mod clock;
pub mod failure;
#[cfg(not(feature = "lease"))]
pub mod generator;
#[cfg(not(feature = "lease"))]
pub mod keyed;
#[cfg(not(feature = "lease"))]
pub mod layout;
#[cfg(feature = "lease")]
pub mod lease;
pub mod number;
#[cfg(not(feature = "lease"))]
pub mod options;
pub mod register;
#[cfg(not(feature = "lease"))]
pub mod text;

/// The allocator of the module. Its code is 2.9 KB smaller, after compression, than that of the default allocator.
#[cfg(all(target_family = "wasm", target_os = "unknown"))]
#[global_allocator]
static ALLOCATOR: rlsf::SmallGlobalTlsf = rlsf::SmallGlobalTlsf::new();
