//! The core for JavaScript, as WebAssembly: each function converts its arguments, calls the core once and
//! returns the result.
//!
//! JavaScript users use the classes of `node/lib`, which call these functions through `node/wasm/lib/backend.js`. A
//! `BigInt` argument must fit its type, because otherwise the glue would truncate it silently. User values that may
//! not fit are passed as decimal strings.

pub mod clock;
pub mod failure;
pub mod generator;
pub mod keyed;
pub mod layout;
#[cfg(feature = "lease")]
pub mod lease;
pub mod number;
pub mod options;
pub mod register;
pub mod text;
