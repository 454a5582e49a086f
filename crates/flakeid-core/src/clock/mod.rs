//! Where the time comes from.

#[cfg(all(feature = "std", not(all(target_family = "wasm", target_os = "unknown"))))]
mod coarse;
#[cfg(any(
    all(test, loom),
    all(not(loom), feature = "std", target_os = "linux", target_arch = "x86_64")
))]
mod gate;
#[cfg(all(test, not(loom), feature = "std", target_os = "linux", target_arch = "x86_64"))]
mod gate_tests;
#[cfg(all(feature = "std", not(all(target_family = "wasm", target_os = "unknown"))))]
mod gated;
#[cfg(all(feature = "std", target_family = "wasm", target_os = "unknown"))]
mod host;
mod interface;
#[cfg(all(test, loom))]
mod loom_models;
mod manual;
#[cfg(all(feature = "std", not(all(target_family = "wasm", target_os = "unknown"))))]
mod named;
mod source;
#[cfg(all(feature = "std", not(all(target_family = "wasm", target_os = "unknown"))))]
mod system;

#[cfg(all(feature = "std", not(all(target_family = "wasm", target_os = "unknown"))))]
pub use coarse::CoarseClock;
#[cfg(all(feature = "std", not(all(target_family = "wasm", target_os = "unknown"))))]
pub use gated::GatedClock;
#[cfg(all(feature = "std", target_family = "wasm", target_os = "unknown"))]
pub use host::{SystemClock, set_host_time, take_host_wait};
pub use interface::Clock;
pub use manual::ManualClock;
#[cfg(all(feature = "std", not(all(target_family = "wasm", target_os = "unknown"))))]
pub use named::NamedClock;
#[cfg(all(feature = "std", not(all(target_family = "wasm", target_os = "unknown"))))]
pub use system::SystemClock;

pub(crate) use source::ClockSource;
