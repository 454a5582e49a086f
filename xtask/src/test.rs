//! Everything that must pass before a change lands, step by step.

use flakeid_steps::{Choice, Outcome, Step, Times, packages, workspace};

use crate::platform::Target;
use crate::python::Wheel;
use crate::{c, campaign, docs, header, lint, node, python, wasm};

/// The servers of the lease stores, and what their tests start beside them.
const SERVERS: [(&str, &str); 8] = [
    ("/usr/lib/postgresql/*/bin/postgres", "postgresql"),
    ("pgbouncer", "pgbouncer"),
    ("/usr/lib/galera/libgalera_smm.so", "galera-4"),
    ("mariadbd", "mariadb-server"),
    ("mariadb-dump", "mariadb-client"),
    ("redis-server", "redis-server"),
    ("etcd", "etcd-server"),
    ("etcdctl", "etcd-client"),
];

pub(crate) fn run(choice: Choice) -> Outcome {
    choice.check(steps)?;
    let mut times = Times::new(choice);
    let outcome = steps(&mut times);
    print!("\n{times}");
    outcome?;
    if times.is_complete() {
        println!("\ncargo xtask test: everything passed");
    }
    Ok(())
}

/// What is most likely to fail, and soonest done, comes first.
fn steps(times: &mut Times) -> Outcome {
    times.step("servers", || packages::ensure(&SERVERS))?;
    times.step("vectors", || {
        Step::new("python3", &["tests/vectors/reference.py", "--check"])
            .or_install("apt-get install python3 (3.11 or later)")
            .run()
    })?;
    times.step("C header", header::check)?;
    times.step("lint", lint::run)?;
    times.step("workspace: build", || workspace::build().map(drop))?;
    times.step("workspace: run", workspace::run)?;
    times.step("core without std", workspace::core_without_std)?;
    times.step("fork handler", workspace::fork_handler)?;
    times.step("loom models", workspace::loom_models)?;
    times.step("campaign", || {
        // Two at a time issue as many IDs together as one alone would.
        let two = ["--store=servers", "--seconds=30", "--at-once=2", "--rate=60000"];
        campaign::run(false, &two.map(String::from))
    })?;
    let here = Target::tested(None)?;
    times.step("README", docs::readme)?;
    times.step("C, C++, Go, Java", || c::link(&here))?;
    times.step("Node", || node::test(&here))?;
    // After the others, because it removes libraries that they share.
    times.step("Python", || python::test(&Wheel { target: here, free_threaded: None }))?;
    times.step("WebAssembly", wasm::test)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ci_runs_every_step() {
        let mut times = Times::new(Choice::list());
        assert!(steps(&mut times).is_ok());
        let workflow = flakeid_steps::files::text(".github/workflows/ci.yml").unwrap_or_default();
        for step in times.to_string().lines() {
            assert!(workflow.lines().any(|line| line.trim() == step), "ci.yml never runs {step:?}");
        }
    }
}
