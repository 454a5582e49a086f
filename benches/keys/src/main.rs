//! `flakeid-bench-keys`: inserts rows with four kinds of primary keys into a private `PostgreSQL` server, all in one
//! run, and prints sizes, rates, WAL and the time of queries as Markdown.

mod database;
mod facts;
mod figures;
mod kind;
mod load;
mod queries;
mod session;

use std::fs;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Parser;

use database::Database;
use figures::Figures;
use kind::Kind;
use load::{Load, Plan, SESSIONS, Span};
use session::{Failed, Session};

/// The smallest number of rows in a round. With fewer rows, a step with single rows would have none.
const LEAST: u64 = 4_000;

/// Measure primary keys of flakeid, sequences, `UUIDv7` and `UUIDv4` in a private `PostgreSQL` server.
#[derive(Parser)]
#[command(version)]
struct Options {
    /// The number of rows in each of the four tables
    #[arg(long, default_value_t = 10_000_000)]
    rows: u64,
    /// The number of rounds; each round inserts the same number of rows
    #[arg(long, default_value_t = 10, value_parser = clap::value_parser!(u64).range(1..=1000))]
    rounds: u64,
    /// The server's `shared_buffers`
    #[arg(long, default_value = "2GB", value_name = "SIZE")]
    shared_buffers: String,
    /// Run with 10,000 rows in 2 rounds, to check that everything works; the figures mean little
    #[arg(long)]
    quick: bool,
    /// A fact about this run to print with the results, such as programs that ran at the same time
    #[arg(long, value_name = "TEXT")]
    note: Option<String>,
    /// Write the figures to this file too, as JSON
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
}

fn main() -> ExitCode {
    match run(&Options::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("flakeid-bench-keys: {error}");
            // The driver's errors contain the message of the server only as their source.
            let mut source = error.source();
            while let Some(error) = source {
                eprintln!("  caused by: {error}");
                source = error.source();
            }
            ExitCode::FAILURE
        }
    }
}

fn run(options: &Options) -> Result<(), Failed> {
    let (rows, rounds) = if options.quick { (10_000, 2) } else { (options.rows, options.rounds) };
    let in_round = rows / rounds;
    if in_round < LEAST {
        return Err(format!(
            "--rows: {rows} rows in {rounds} rounds are too few; use at least {} rows",
            LEAST * rounds
        )
        .into());
    }
    let plan = Plan::new(usize::try_from(in_round)?);
    let mut facts = facts::machine()?;
    let database = Database::start(&options.shared_buffers)?;
    facts.extend(database.facts()?);
    facts.push(facts::versions());
    let mut figures = Figures::new();
    let total = plan.rows * usize::try_from(rounds)?;
    let mut disturbed = 0;
    // The figures are written even if a query fails after the long load.
    let outcome = measure(&database, &mut figures, &plan, total, &mut disturbed);
    facts.push(format!(
        "Rows in each table: {total}, in {rounds} rounds; steps with a checkpoint of the server's own: {disturbed}"
    ));
    facts.push(format!("Load after: {}", facts::load()?));
    facts.extend(options.note.clone());
    for fact in &facts {
        println!("- {fact}");
    }
    println!("{}", figures.markdown());
    if let Some(file) = &options.json {
        let data = format!("{:#}\n", figures.data(&facts));
        fs::write(file, data).map_err(|error| format!("{}: {error}", file.display()))?;
    }
    outcome
}

/// Measures everything. Adds the steps during which the server wrote a checkpoint on its own to `disturbed`.
fn measure(
    database: &Database,
    figures: &mut Figures,
    plan: &Plan,
    total: usize,
    disturbed: &mut usize,
) -> Result<(), Failed> {
    let url = database.url();
    let sessions = (0..SESSIONS as u64).map(|node| Session::open(&url, node));
    let sessions = sessions.collect::<Result<Vec<_>, Failed>>()?;
    let rounds = total / plan.rows;
    let mut load = Load { database, sessions, figures, disturbed };
    let mut spans = Vec::new();
    for round in 0..rounds {
        eprintln!("keys: inserting, round {} of {rounds}", round + 1);
        let mut of_kinds = [Span { from: 0, until: 0 }; Kind::ALL.len()];
        for kind in kinds_in_turn(round) {
            of_kinds[kind as usize] = load.round(kind, plan)?;
        }
        spans.push(of_kinds);
    }
    eprintln!("keys: measuring sizes and queries");
    queries::sizes(database, load.figures, total)?;
    queries::choose_keys(database, total)?;
    for (round, of_kinds) in spans.iter().enumerate() {
        for kind in kinds_in_turn(round) {
            queries::lookups(database, load.figures, kind)?;
            let span = of_kinds[kind as usize];
            queries::scan(database, load.figures, kind, span, plan.batched_by_many())?;
        }
    }
    for round in 0..rounds.min(5) {
        eprintln!("keys: inserting with indexes on the time, round {}", round + 1);
        for kind in kinds_in_turn(round) {
            load.with_time_index(kind, plan.batched_by_many())?;
        }
    }
    Ok(())
}

/// Returns all kinds, beginning with another one in each round, so that none always has its turn after the same one.
fn kinds_in_turn(round: usize) -> impl Iterator<Item = Kind> {
    (0..Kind::ALL.len()).map(move |turn| Kind::ALL[(round + turn) % Kind::ALL.len()])
}
