//! Time that only goes forward: the system's, or what the host of WebAssembly says.

#[cfg(not(all(target_family = "wasm", target_os = "unknown")))]
pub(crate) use std::time::Instant;

#[cfg(all(target_family = "wasm", target_os = "unknown"))]
pub(crate) use crate::host::Instant;
