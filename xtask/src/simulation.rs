//! The simulation of fleets, in tests/simulation.

use flakeid_steps::{Outcome, Step};

/// The settings of glibc's heap, with which a large fleet needs up to a quarter less time: pages of 2 MB. glibc requests
/// such pages only for parts of the heap that it adds at once, here 256 MB, and keeps them with this threshold.
const TUNABLES: &str =
    "glibc.malloc.hugetlb=1:glibc.malloc.top_pad=268435456:glibc.malloc.trim_threshold=17179869184";

/// Simulates fleets. The executable is optimised, because a large fleet renews millions of leases.
pub(crate) fn run(arguments: &[String]) -> Outcome {
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    Step::cargo(&["run", "--release", "--locked", "--package", "flakeid-simulation", "--"])
        .args(&arguments)
        .env("GLIBC_TUNABLES", TUNABLES)
        .run()
}
