//! `flakeid-bench`: compares flakeid with its rivals and prints Markdown.

mod bare;
mod batch;
mod broker;
mod cap;
mod clock;
mod cost;
mod floor;
mod histogram;
mod host;
mod latency;
mod lease;
mod public_ids;
mod report;
mod resources;
mod rivals;
mod sample;
mod server;
mod serving;
mod statistics;
mod subject;
mod threads;
mod uniqueness;
mod window;

use std::error::Error;
use std::fs;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use clap::{Parser, Subcommand, ValueEnum};

use broker::{connections, holders, member_process, renewals};
use report::Section;
use sample::Plan;

/// Compare flakeid with its rivals and print Markdown.
///
/// The rows of a table are sampled in turn, so that their ratios hold on a noisy machine. Absolute nanoseconds hold
/// only for one machine at one time.
#[derive(Parser)]
#[command(version)]
struct Options {
    /// Run fewer and shorter samples, to check that everything works; the figures mean little
    #[arg(long)]
    quick: bool,
    /// Measure only this table (repeatable)
    #[arg(long, value_name = "TABLE")]
    only: Vec<Table>,
    /// Write the figures to this file too, as JSON
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    #[command(subcommand)]
    part: Option<Part>,
}

/// Processes that a table starts.
#[derive(Subcommand)]
enum Part {
    /// Members of a broker, each on a connection
    #[command(hide = true)]
    Members(member_process::Options),
    /// Holders in the memory of a broker
    #[command(hide = true)]
    Holders(holders::Options),
    /// Statistics of many IDs
    #[command(hide = true)]
    Statistics(statistics::process::Options),
    /// The bare server of table 9, until standard input ends
    #[command(hide = true)]
    BareServer,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Table {
    /// CPU cost per ID of one call
    Cost,
    /// Two threads on one generator
    Threads,
    /// At the cap of Twitter's layout
    Cap,
    /// `fill` compared with a bare loop
    Batch,
    /// Cost of a lease
    Lease,
    /// Percentiles of single calls while another thread makes the same ones
    Latency,
    /// Memory, and the time until the first ID
    Resources,
    /// Duplicate IDs among ten million
    Correctness,
    /// IDs over HTTP compared with a bare server
    Server,
    /// Renewals through a broker compared with its store, and the transactions left for the store
    Broker,
    /// A million holders in a broker's memory
    Holders,
    /// Members of a broker on thousands of simultaneous connections
    Connections,
    /// The public form of IDs
    Public,
    /// Statistics of a hundred million IDs
    Statistics,
}

/// Order of measurement. Memory comes first, including that of connections, because a table reuses memory that an
/// earlier one freed. `threads` and `cost` come last, because ferroid's ticker is a background thread that never ends
/// and would share the processors with every later measurement.
const ORDER: [Table; 14] = [
    Table::Resources,
    Table::Connections,
    Table::Correctness,
    Table::Batch,
    Table::Public,
    Table::Cap,
    Table::Latency,
    Table::Lease,
    Table::Server,
    Table::Broker,
    Table::Holders,
    Table::Statistics,
    Table::Threads,
    Table::Cost,
];

/// Extent of the measurements: all of them, or just enough to check that everything works.
struct Effort {
    plan: Plan,
    cap: cap::Plan,
    renewing: Duration,
    server: Plan,
    broker: renewals::Effort,
    holders: holders::Effort,
    connections: connections::Effort,
    statistics: statistics::Effort,
    ids: usize,
    rival_ids: usize,
}

impl Effort {
    fn new(quick: bool) -> Self {
        let (rounds, batch, cap_rounds, window) =
            if quick { (5, 20, 1, 200) } else { (41, 20, 3, 2000) };
        Self {
            plan: Plan { rounds, batch: Duration::from_millis(batch) },
            cap: cap::Plan { rounds: cap_rounds, window: Duration::from_millis(window) },
            // Enough renewals to count: the default window is renewed every 3.3 s.
            renewing: Duration::from_secs(if quick { 4 } else { 20 }),
            server: if quick {
                Plan { rounds: 3, batch: Duration::from_millis(100) }
            } else {
                Plan { rounds: 21, batch: Duration::from_millis(500) }
            },
            broker: if quick {
                let plan = Plan { rounds: 3, batch: Duration::from_millis(200) };
                renewals::Effort { plan, counting: Duration::from_secs(2) }
            } else {
                let plan = Plan { rounds: 11, batch: Duration::from_secs(1) };
                renewals::Effort { plan, counting: Duration::from_secs(20) }
            },
            holders: if quick {
                holders::Effort { holders: 50_000, calls: 1_000 }
            } else {
                holders::Effort { holders: 1_000_000, calls: 100_000 }
            },
            connections: if quick {
                let renewing = Duration::from_secs(2);
                connections::Effort { connections: [100, 1_000], renewing }
            } else {
                let renewing = Duration::from_secs(15);
                connections::Effort { connections: [1_000, 10_000], renewing }
            },
            statistics: if quick {
                statistics::Effort { ids: 5_000_000, rounds: 1 }
            } else {
                statistics::Effort { ids: 100_000_000, rounds: 5 }
            },
            ids: if quick { 500_000 } else { 10_000_000 },
            rival_ids: if quick { 100_000 } else { 2_000_000 },
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
    match &options.part {
        Some(Part::Members(options)) => return member_process::run(options),
        Some(Part::Holders(options)) => return holders::run(options),
        Some(Part::Statistics(options)) => return statistics::process::run(options),
        Some(Part::BareServer) => return server::run_bare(),
        None => {}
    }
    let effort = Effort::new(options.quick);
    if options.quick {
        println!("Smoke run (`--quick`): these figures mean little.\n");
    }
    let facts = host::facts();
    for fact in &facts {
        println!("- {fact}");
    }
    println!();
    let tables: Vec<_> = ORDER
        .into_iter()
        .filter(|table| options.only.is_empty() || options.only.contains(table))
        .collect();
    let mut sections = Vec::new();
    for (done, &table) in tables.iter().enumerate() {
        if let Some(value) = table.to_possible_value() {
            eprintln!("rust: measuring {} ({} of {})", value.get_name(), done + 1, tables.len());
        }
        sections.push(measure(table, &effort)?);
    }
    sections.sort_by_key(Section::number);
    for section in &sections {
        println!("{section}");
    }
    report::print_targets(&sections);
    if let Some(file) = &options.json {
        let data = format!("{:#}\n", report::data(&facts, &sections));
        fs::write(file, data).map_err(|error| format!("{}: {error}", file.display()))?;
    }
    Ok(())
}

fn measure(table: Table, effort: &Effort) -> Result<Section, Box<dyn Error>> {
    match table {
        Table::Cost => cost::measure(effort.plan, effort.rival_ids),
        Table::Threads => threads::measure(effort.plan),
        Table::Cap => cap::measure(effort.cap),
        Table::Batch => batch::measure(effort.plan),
        Table::Public => public_ids::measure(effort.plan),
        Table::Lease => lease::measure(effort.plan, effort.renewing),
        Table::Latency => latency::measure(effort.cap),
        Table::Resources => resources::measure(),
        Table::Server => server::measure(effort.server),
        Table::Broker => renewals::measure(effort.broker),
        Table::Holders => holders::measure(effort.holders),
        Table::Connections => connections::measure(effort.connections),
        Table::Statistics => statistics::measure(effort.statistics),
        Table::Correctness => uniqueness::measure(effort.ids),
    }
}
