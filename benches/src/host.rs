//! Facts about the machine on which the figures depend.

use std::{fs, thread};

use flakeid_core::Rfc3339;

use crate::{clock, rivals};

/// Cargo's lock file, so that the printed versions are the ones that were built.
const LOCK: &str = include_str!("../Cargo.lock");

/// Collects the facts. Call it before the measurements, because they raise the load average.
pub(crate) fn facts() -> Vec<String> {
    let processors = thread::available_parallelism().map_or(0, usize::from);
    let known = |fact: Option<String>| fact.unwrap_or_else(|| "unknown".into());
    let rivals: Vec<_> =
        rivals::NAMES.iter().map(|name| format!("{name} {}", version(name))).collect();
    vec![
        format!("Time: {}", Rfc3339::new(clock::unix_ms().cast_signed(), 0)),
        format!("Processor: {}, {processors} available", known(processor())),
        format!("System: {}; clock source: {}", known(system()), known(clock_source())),
        format!("Load before: {}", known(load())),
        format!("Compiler: {}", env!("FLAKEID_BENCH_RUSTC")),
        format!("flakeid {}; rivals: {}", version("flakeid-core"), rivals.join(", ")),
    ]
}

fn processor() -> Option<String> {
    let info = fs::read_to_string("/proc/cpuinfo").ok()?;
    let line = info.lines().find(|line| line.starts_with("model name"))?;
    Some(line.split_once(':')?.1.trim().to_owned())
}

/// Returns the system with the kernel's major and minor version. The builds of one version perform alike.
fn system() -> Option<String> {
    let release = fs::read_to_string("/proc/sys/kernel/osrelease").ok()?;
    let mut parts = release.trim().split('.');
    Some(format!("Linux {}.{}", parts.next()?, parts.next()?))
}

/// Returns the kernel's clock source, which determines the cost of a clock read.
fn clock_source() -> Option<String> {
    let sources = "/sys/devices/system/clocksource/clocksource0/current_clocksource";
    Some(fs::read_to_string(sources).ok()?.trim().to_owned())
}

/// Returns the load average of the last minute.
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
