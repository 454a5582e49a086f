//! Tests in Miri, which interprets code and stops at undefined behaviour. The tests cover the
//! unsafe code that makes no system calls.

use flakeid_steps::{Outcome, Step, root};

/// The tests to interpret: a package, its features, a test target, and the names of tests. These
/// tests generate few IDs, because Miri is a thousand times slower than native code.
const TESTS: [(&str, &[&str], &str, &[&str]); 2] = [
    ("flakeid-core", &[], "few", &[]),
    (
        "flakeid",
        &["--no-default-features"],
        "lease",
        &[
            "lease_issues_increasing_ids_and_releases_its_node",
            "two_leases_get_distinct_nodes",
            "fenced_off_holder_continues_on_another_node",
        ],
    ),
];

pub(crate) fn run() -> Outcome {
    for (package, features, file, tests) in TESTS {
        let test = ["run", "nightly", "cargo", "miri", "test", "--locked", "-p", package];
        Step::new("rustup", &test)
            .args(&["--test", file])
            .args(features)
            .args(&["--"])
            .args(tests)
            .or_install("https://rustup.rs, then: rustup toolchain install nightly --component miri,rust-src")
            .env("CARGO_TARGET_DIR", root().join("target/miri"))
            // The tests read the machine's clocks.
            .env("MIRIFLAGS", "-Zmiri-disable-isolation")
            .run()?;
    }
    println!("\ncargo xtask miri: everything passed");
    Ok(())
}
