//! The simulation of fleets, in tests/simulation.

use flakeid_steps::{Outcome, Step};

/// Simulates fleets. The executable is optimised, because a large fleet renews millions of leases.
pub(crate) fn run(arguments: &[String]) -> Outcome {
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    Step::cargo(&["run", "--release", "--locked", "--package", "flakeid-simulation", "--"])
        .args(&arguments)
        .run()
}
