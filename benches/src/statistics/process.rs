//! The process that computes statistics of many IDs, itself or with the command, and measures time and memory.

use std::error::Error;
use std::fs::{self, File};
use std::hint::black_box;
use std::io::{BufWriter, Write};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use clap::Args;
use flakeid_core::{Id, Statistics};
use serde::{Deserialize, Serialize};

use super::source::Source;
use crate::clock;
use crate::resources::resident;
use crate::sample::Samples;

/// Variable with the path of the command, set by `cargo xtask bench`, which builds it.
pub(crate) const COMMAND: &str = "FLAKEID_COMMAND";

/// Options of the process.
#[derive(Args)]
pub(crate) struct Options {
    #[arg(long)]
    source: Source,
    #[arg(long)]
    ids: usize,
    #[arg(long)]
    rounds: usize,
    /// Let the command read the IDs from a file
    #[arg(long)]
    command: bool,
}

/// Output of the process: nanoseconds per ID, one figure per round.
#[derive(Default, Serialize, Deserialize)]
pub(crate) struct Measured {
    pub(crate) looking: Samples,
    /// Time to find repeats. The figures of the command include all other work.
    pub(crate) repeats: Samples,
    pub(crate) mib: f64,
}

impl Measured {
    /// Returns the sum of both for each round.
    pub(crate) fn all(&self) -> Samples {
        self.looking.plus(&self.repeats)
    }

    fn push(&mut self, ids: usize, looking: Duration, repeats: Duration) {
        let each = |time: Duration| time.as_secs_f64() * 1e9 / ids as f64;
        self.looking.push(each(looking));
        self.repeats.push(each(repeats));
    }
}

pub(crate) fn run(options: &Options) -> Result<(), Box<dyn Error>> {
    let measured = if options.command { of_the_command(options)? } else { here(options)? };
    println!("{}", serde_json::to_string(&measured)?);
    Ok(())
}

fn here(options: &Options) -> Result<Measured, Box<dyn Error>> {
    let source = options.source;
    let mut ids: Vec<Id> = Vec::with_capacity(options.ids);
    source.ids(options.ids, |id| ids.push(id))?;
    let mut measured = Measured::default();
    let before = resident()?;
    // Resets the peak of the resident memory.
    fs::write("/proc/self/clear_refs", "5")?;
    for _ in 0..options.rounds {
        let mut statistics = Statistics::new(source.layout());
        let start = Instant::now();
        for &id in black_box(&ids) {
            statistics.add(id)?;
        }
        let looked = start.elapsed();
        let repeats = statistics.repeats();
        measured.push(ids.len(), looked, start.elapsed().saturating_sub(looked));
        check(source, repeats)?;
    }
    measured.mib = (largest()? - before) / 1024.0;
    Ok(measured)
}

fn check(source: Source, repeats: Option<u64>) -> Result<(), Box<dyn Error>> {
    if repeats == Some(source.repeats()) {
        return Ok(());
    }
    Err(format!("{repeats:?} repeats of {}", source.repeats()).into())
}

/// Returns the peak of this process's resident memory, in KiB.
fn largest() -> Result<f64, Box<dyn Error>> {
    let status = fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let figure = line.and_then(|line| line.split_whitespace().next()).ok_or("no VmHWM")?;
    Ok(figure.parse()?)
}

/// Measures the command. This process must stay small, because the peak of a child includes its memory before it
/// executes the command.
fn of_the_command(options: &Options) -> Result<Measured, Box<dyn Error>> {
    let command = std::env::var_os(COMMAND).ok_or("no command")?;
    let lines = Lines::write(options)?;
    let mut measured = Measured::default();
    for _ in 0..options.rounds {
        let input = File::open(&lines.path)?;
        let start = Instant::now();
        let output = Command::new(&command)
            .args(["inspect", "--stats", "--json", "--layout", options.source.layout_name()])
            .stdin(input)
            .stderr(Stdio::inherit())
            .output()?;
        measured.push(options.ids, start.elapsed(), Duration::ZERO);
        if !output.status.success() {
            return Err(format!("flakeid inspect --stats: {}", output.status).into());
        }
        let reported: serde_json::Value = serde_json::from_slice(&output.stdout)?;
        check(options.source, reported["repeats"].as_u64())?;
    }
    measured.mib = clock::largest_child_kib() / 1024.0;
    Ok(measured)
}

/// A file of decimal numbers that is removed when dropped.
struct Lines {
    path: std::path::PathBuf,
}

impl Lines {
    fn write(options: &Options) -> Result<Self, Box<dyn Error>> {
        let name = format!("flakeid-bench-{}.txt", std::process::id());
        let lines = Self { path: std::env::temp_dir().join(name) };
        let mut file = BufWriter::with_capacity(1 << 18, File::create_new(&lines.path)?);
        let mut written = Ok(());
        options.source.ids(options.ids, |id| {
            if written.is_ok() {
                written = writeln!(file, "{}", id.to_u64());
            }
        })?;
        written?;
        file.flush()?;
        Ok(lines)
    }
}

impl Drop for Lines {
    fn drop(&mut self) {
        if let Err(why) = fs::remove_file(&self.path) {
            eprintln!("flakeid-bench: {} is left behind: {why}", self.path.display());
        }
    }
}
