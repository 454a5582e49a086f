use crate::command::{Outcome, Step};
use crate::platform::Target;
use crate::python::Wheel;
use crate::{c, header, lint, node, python, readme, wasm};

pub(crate) fn run() -> Outcome {
    lint::run()?;
    Step::new("python3", &["tests/vectors/reference.py", "--check"])
        .or_install("apt-get install python3 (3.11 or later)")
        .run()?;
    // Debug builds panic on an overflow, release builds are what users run: both have to pass.
    Step::cargo(&["test", "--workspace", "--all-features", "--locked"]).run()?;
    Step::cargo(&["test", "--workspace", "--locked", "--release"]).run()?;
    Step::cargo(&["test", "-p", "flakeid-core", "--no-default-features", "--locked"])
        .args(&["--lib", "--test", "model", "--test", "vectors"])
        .run()?;
    Step::cargo(&["test", "-p", "flakeid-core", "--locked", "--release", "--lib", "loom"])
        .configured("loom")
        .run()?;
    Step::cargo(&["test", "-p", "flakeid-core", "--locked", "--test", "fork"])
        .configured("flakeid_atfork")
        .run()?;
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
