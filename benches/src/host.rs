//! The facts that the figures depend on.

use std::{fs, thread};

use crate::rivals;

/// Cargo's own record of what was built, so that it cannot differ from what is printed.
const LOCK: &str = include_str!("../Cargo.lock");

/// Call it before measuring, or the load is that of the benchmarks.
pub(crate) fn print() {
    let processors = thread::available_parallelism().map_or(0, usize::from);
    println!(
        "- Processor: {}, {processors} available",
        processor().as_deref().unwrap_or("unknown")
    );
    println!("- System: {}", system().as_deref().unwrap_or("unknown"));
    println!("- Load before: {}", load().as_deref().unwrap_or("unknown"));
    println!("- Compiler: {}", env!("FLAKEID_BENCH_RUSTC"));
    let rivals: Vec<_> =
        rivals::NAMES.iter().map(|name| format!("{name} {}", version(name))).collect();
    println!("- flakeid {}; rivals: {}\n", version("flakeid-core"), rivals.join(", "));
}

fn processor() -> Option<String> {
    let info = fs::read_to_string("/proc/cpuinfo").ok()?;
    let line = info.lines().find(|line| line.starts_with("model name"))?;
    Some(line.split_once(':')?.1.trim().to_owned())
}

/// Only major and minor: builds of one version do not differ in what matters here.
fn system() -> Option<String> {
    let release = fs::read_to_string("/proc/sys/kernel/osrelease").ok()?;
    let mut parts = release.trim().split('.');
    Some(format!("Linux {}.{}", parts.next()?, parts.next()?))
}

/// Processes that wanted a processor, on average over the last minute.
fn load() -> Option<String> {
    let load = fs::read_to_string("/proc/loadavg").ok()?;
    Some(load.split_whitespace().next()?.to_owned())
}

fn version(name: &str) -> &'static str {
    LOCK.split("[[package]]")
        .find(|package| package.contains(&format!("\nname = \"{name}\"\n")))
        .and_then(|package| package.split("\nversion = \"").nth(1))
        .and_then(|rest| rest.split('"').next())
        .unwrap_or("unknown")
}
