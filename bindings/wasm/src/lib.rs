//! The core for JavaScript, as WebAssembly: arguments in, one core call, result out.
//!
//! What JavaScript users see is the class of `node/lib` over these functions, as
//! `node/wasm/lib/backend.js` hands them on. A `BigInt` argument fits its type (the glue would cut it
//! silently if it did not); values of users that may not fit come as decimal text.

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
