//! `flakeid-bench`: flakeid next to its rivals, as Markdown.

mod bare;
mod batch;
mod cap;
mod clock;
mod cost;
mod floor;
mod host;
mod lease;
mod report;
mod rivals;
mod sample;
mod subject;
mod threads;
mod uniqueness;
mod window;

use std::error::Error;
use std::process::ExitCode;
use std::time::Duration;

use clap::{Parser, ValueEnum};

use report::Section;
use sample::Plan;

/// Measures flakeid next to its rivals and prints Markdown.
///
/// The rows of a table are sampled in turn, so their ratios hold on a noisy machine; absolute
/// nanoseconds hold only for the machine and the minute.
#[derive(Parser)]
#[command(version)]
struct Options {
    /// A smoke run: fewer and shorter samples, whose figures mean little
    #[arg(long)]
    quick: bool,
    /// Only this table (may be given more than once)
    #[arg(long, value_name = "TABLE")]
    only: Vec<Table>,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Table {
    /// CPU cost per ID of one call
    Cost,
    /// Two threads on one generator
    Threads,
    /// At the cap of Twitter's layout
    Cap,
    /// `fill` against a bare loop
    Batch,
    /// What a lease costs
    Lease,
    /// Duplicates among ten million IDs
    Correctness,
}

/// `cost` comes last, because ferroid's ticker is a background thread that never ends and would
/// share the processors with whatever is measured after it.
const ORDER: [Table; 6] =
    [Table::Correctness, Table::Batch, Table::Threads, Table::Cap, Table::Lease, Table::Cost];

/// How much to measure: in full, or just enough to see that it works.
struct Effort {
    plan: Plan,
    cap: cap::Plan,
    ids: usize,
    rival_ids: usize,
}

impl Effort {
    fn new(quick: bool) -> Self {
        let (rounds, batch, cap_rounds, window, ids, rival_ids) = if quick {
            (5, 20, 1, 200, 500_000, 100_000)
        } else {
            (41, 20, 3, 2000, 10_000_000, 2_000_000)
        };
        Self {
            plan: Plan { rounds, batch: Duration::from_millis(batch) },
            cap: cap::Plan { rounds: cap_rounds, window: Duration::from_millis(window) },
            ids,
            rival_ids,
        }
    }
}

fn main() -> ExitCode {
    match run(&Options::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("flakeid-bench: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(options: &Options) -> Result<(), Box<dyn Error>> {
    let effort = Effort::new(options.quick);
    if options.quick {
        println!("Smoke run (`--quick`): these figures mean little.\n");
    }
    host::print();
    let mut sections = Vec::new();
    for table in ORDER {
        if options.only.is_empty() || options.only.contains(&table) {
            sections.push(measure(table, &effort)?);
        }
    }
    sections.sort_by_key(|section| section.title);
    for section in &sections {
        println!("{section}");
    }
    report::print_targets(&sections);
    Ok(())
}

fn measure(table: Table, effort: &Effort) -> Result<Section, Box<dyn Error>> {
    if let Some(value) = table.to_possible_value() {
        eprintln!("measuring: {}", value.get_name());
    }
    match table {
        Table::Cost => cost::measure(effort.plan, effort.rival_ids),
        Table::Threads => threads::measure(effort.plan),
        Table::Cap => cap::measure(effort.cap),
        Table::Batch => batch::measure(effort.plan),
        Table::Lease => lease::measure(effort.plan),
        Table::Correctness => uniqueness::measure(effort.ids),
    }
}
