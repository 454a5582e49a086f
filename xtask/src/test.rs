use crate::command::{Outcome, Step};
use crate::platform::Target;
use crate::python::Wheel;
use crate::{c, campaign, header, lint, node, packages, python, readme, wasm};

/// The servers of the lease stores, and what their tests start beside them.
const SERVERS: [(&str, &str); 6] = [
    ("/usr/lib/postgresql/*/bin/postgres", "postgresql"),
    ("mariadbd", "mariadb-server"),
    ("mariadb-dump", "mariadb-client"),
    ("redis-server", "redis-server"),
    ("etcd", "etcd-server"),
    ("etcdctl", "etcd-client"),
];

pub(crate) fn run() -> Outcome {
    packages::ensure(&SERVERS)?;
    lint::run()?;
    Step::new("python3", &["tests/vectors/reference.py", "--check"])
        .or_install("apt-get install python3 (3.11 or later)")
        .run()?;
    // Debug builds panic on an overflow, optimised builds are what users run: both have to pass.
    Step::cargo(&["test", "--workspace", "--all-features", "--locked"]).run()?;
    Step::cargo(&["test", "--workspace", "--locked", "--profile", "tested"]).run()?;
    Step::cargo(&["test", "-p", "flakeid-core", "--no-default-features", "--locked"])
        .args(&["--lib", "--test", "model", "--test", "vectors"])
        .run()?;
    Step::cargo(&["test", "-p", "flakeid-core", "--locked", "--profile", "tested"])
        .args(&["--lib", "loom"])
        .configured("loom")
        .run()?;
    Step::cargo(&["test", "-p", "flakeid-lease", "--no-default-features", "--locked"])
        .args(&["--profile", "tested", "--lib", "loom"])
        .configured("loom")
        .run()?;
    Step::cargo(&["test", "-p", "flakeid-core", "--locked", "--test", "fork"])
        .configured("flakeid_atfork")
        .run()?;
    campaign::run(false, &["--store", "all", "--seconds", "30"].map(String::from))?;
    header::check()?;
    let here = Target::new(None)?;
    c::test(&here)?;
    python::test(&Wheel { target: here, free_threaded: None })?;
    node::test(&here)?;
    wasm::test()?;
    readme::check()?;
    println!("\ncargo xtask test: everything passed");
    Ok(())
}
