//! Facts about the machine and the versions on which the figures depend.

use std::time::{SystemTime, UNIX_EPOCH};
use std::{fs, thread};

use flakeid_core::Rfc3339;

use crate::session::Failed;

/// Cargo's lock file, so that the printed versions are the ones that were built.
const LOCK: &str = include_str!("../../../Cargo.lock");

pub(crate) fn machine() -> Result<Vec<String>, Failed> {
    let unix_ms = SystemTime::now().duration_since(UNIX_EPOCH)?.as_millis();
    let processors = thread::available_parallelism()?;
    let memory = line("/proc/meminfo", "MemTotal")?;
    Ok(vec![
        format!("Time: {}", Rfc3339::new(i64::try_from(unix_ms)?, 0)),
        format!(
            "Processor: {}, {processors} available; memory: {memory}",
            line("/proc/cpuinfo", "model name")?
        ),
        format!("System: Linux {}", fs::read_to_string("/proc/sys/kernel/osrelease")?.trim()),
        format!("Load before: {}", load()?),
    ])
}

/// Returns the load average of the last minute.
pub(crate) fn load() -> Result<String, Failed> {
    let load = fs::read_to_string("/proc/loadavg")?;
    Ok(load.split_whitespace().next().unwrap_or_default().to_owned())
}

pub(crate) fn versions() -> String {
    let versions = ["flakeid-core", "uuid", "tokio-postgres"].map(|name| {
        let package = LOCK
            .split("[[package]]")
            .find(|package| package.contains(&format!("\nname = \"{name}\"\n")));
        let version = package
            .and_then(|package| package.split("\nversion = \"").nth(1)?.split('"').next())
            .unwrap_or("unknown");
        format!("{name} {version}")
    });
    versions.join(", ")
}

/// Returns the value of a line `name: value`.
fn line(file: &str, name: &str) -> Result<String, Failed> {
    let text = fs::read_to_string(file).map_err(|error| format!("{file}: {error}"))?;
    let found = text.lines().find_map(|line| line.strip_prefix(name)?.split_once(':'));
    let (_, value) = found.ok_or_else(|| format!("{file} has no line {name}"))?;
    Ok(value.trim().to_owned())
}
