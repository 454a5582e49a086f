//! Table 11: a million holders in a broker's memory.

use std::error::Error;
use std::process::Command;
use std::time::{Duration, Instant};

use clap::Args;
use flakeid::broker::{Broker, BrokerOptions};
use flakeid_core::Layout;
use flakeid_protocol::{Acquire, Grant, Identity, Release, Renew};
use serde::{Deserialize, Serialize};

use super::hosted::{in_memory, layout, options};
use super::requests::{follow, renewal, request};
use crate::histogram::Histogram;
use crate::report::{Figure, Kind, Section, Target};
use crate::resources::resident;

/// The largest block of a layout with 20 node bits.
const BLOCK_BITS: u32 = 10;
/// Long enough that no lease ends during the measurement.
const TTL_MS: u64 = 3_600_000;

/// Extent of the measurement.
#[derive(Clone, Copy)]
pub(crate) struct Effort {
    pub(crate) holders: usize,
    /// Number of calls that are timed one by one.
    pub(crate) calls: usize,
}

/// Options of the process that holds them.
#[derive(Args)]
pub(crate) struct Options {
    #[arg(long)]
    holders: usize,
    #[arg(long)]
    calls: usize,
    /// Give each holder a name of 36 letters, and a host name of 24 letters instead of 15
    #[arg(long)]
    named: bool,
}

/// Output of that process.
#[derive(Serialize, Deserialize)]
struct Measured {
    /// Bytes of resident memory for each holder.
    bytes: f64,
    acquire: Times,
    renew: Times,
    release: Times,
}

/// Durations in microseconds.
#[derive(Clone, Copy, Serialize, Deserialize)]
struct Times {
    p50: f64,
    p99: f64,
}

pub(crate) fn measure(effort: Effort) -> Result<Section, Box<dyn Error>> {
    let (mut rows, mut figures, mut targets) = (Vec::new(), Vec::new(), Vec::new());
    for (named, who) in [(false, "without a name"), (true, "with a name of 36 letters")] {
        let measured = of_a_process(effort, named)?;
        let label = format!("{} holders {who}", effort.holders);
        let times = [measured.acquire, measured.renew, measured.release];
        let mut cells = vec![label.clone(), format!("{:.0}", measured.bytes)];
        cells.extend(times.iter().flat_map(|of| [of.p50, of.p99]).map(|of| format!("{of:.2}")));
        rows.push(cells);
        figures.push(Figure::single(&label, Kind::Other, "bytes a holder", measured.bytes));
        for (what, of) in ["acquire, µs", "renew, µs", "release, µs"].into_iter().zip(times) {
            figures.push(Figure::single(&label, Kind::Other, what, of.p50));
        }
        let of = |what: &str| format!("{what}, {} holders {who}", effort.holders);
        targets.push(Target::at_most("B3", of("bytes a holder"), 400.0, measured.bytes));
        targets.push(Target::at_most("B3", of("acquire, µs"), 5.0, measured.acquire.p50));
        targets.push(Target::at_most("B3", of("renew, µs"), 5.0, measured.renew.p50));
    }
    Ok(Section {
        id: "holders",
        title: "11. Holders in a broker's memory",
        kind: format!("{}: memory and time", Kind::Other),
        header: vec![
            "",
            "bytes a holder",
            "acquire, µs",
            "p99",
            "renew, µs",
            "p99",
            "release, µs",
            "p99",
        ],
        rows,
        notes: vec![format!(
            "Each row is a separate process with a broker on a store in memory, without HTTP, and with blocks of \
            2^{BLOCK_BITS} nodes. Memory is the growth of the process while the nodes are leased, in resident pages \
            (not from a counting allocator), divided by the number of nodes; it includes the broker's blocks. Then \
            {} single calls of each kind are timed, on nodes in a random order, so that caches do not help: these \
            nodes are renewed, released, and leased again. The table shows the median and the p99; the broker's \
            thread renews its blocks meanwhile. Names of hosts have 15 letters, or 24 where holders have names.",
            effort.calls,
        )],
        targets,
        figures,
    })
}

fn of_a_process(effort: Effort, named: bool) -> Result<Measured, Box<dyn Error>> {
    let mut command = Command::new(std::env::current_exe()?);
    command.arg("holders").args([
        "--holders",
        &effort.holders.to_string(),
        "--calls",
        &effort.calls.to_string(),
    ]);
    if named {
        command.arg("--named");
    }
    let output = command.stderr(std::process::Stdio::inherit()).output()?;
    if !output.status.success() {
        return Err(format!("the process of the holders failed: {}", output.status).into());
    }
    Ok(serde_json::from_slice(&output.stdout)?)
}

/// Leases the nodes, measures, and prints a line.
pub(crate) fn run(options: &Options) -> Result<(), Box<dyn Error>> {
    let layout = layout()?;
    let broker = in_memory(options_of_broker()?)?;
    let acquire = |number: usize| acquire_of(layout, options.named, number);
    // The first grant is not counted, because the broker leases its first block for it. The memory of the list is
    // resident before.
    let first = broker.acquire(&acquire(0), Instant::now())?;
    let mut grants = vec![first; options.holders];
    let before = resident()?;
    for (number, grant) in grants.iter_mut().enumerate().skip(1) {
        *grant = broker.acquire(&acquire(number), Instant::now())?;
    }
    let bytes = (resident()? - before) * 1024.0 / (options.holders - 1) as f64;

    let chosen = shuffled(options.holders, options.calls);
    let mut renewals = Histogram::new();
    for &number in &chosen {
        let grant = &mut grants[number];
        let renew = Renew { ttl_ms: TTL_MS, ..renewal(&layout, grant)? };
        let sent = Instant::now();
        let renewed = broker.renew_here(&renew, sent)?;
        renewals.record(sent.elapsed());
        follow(grant, &renew, renewed.ok_or("a block is lost")?);
    }
    let mut releases = Histogram::new();
    for &number in &chosen {
        let Grant { node, token, start, .. } = grants[number];
        let release = Release { node, token, used_until: start };
        let sent = Instant::now();
        broker.take_back(&release)?;
        releases.record(sent.elapsed());
    }
    let mut acquires = Histogram::new();
    for &number in &chosen {
        let request = acquire(number);
        let sent = Instant::now();
        grants[number] = broker.acquire(&request, sent)?;
        acquires.record(sent.elapsed());
    }
    check(&broker, options.holders)?;
    let measured = Measured {
        bytes,
        acquire: times(&acquires),
        renew: times(&renewals),
        release: times(&releases),
    };
    println!("{}", serde_json::to_string(&measured)?);
    Ok(())
}

fn options_of_broker() -> Result<BrokerOptions, Box<dyn Error>> {
    let mut options = options("holders", BLOCK_BITS)?;
    options.ttl_ms = TTL_MS;
    Ok(options)
}

fn check(broker: &Broker, holders: usize) -> Result<(), Box<dyn Error>> {
    let has = broker.status()?.holders;
    if has == holders { Ok(()) } else { Err(format!("{has} holders, not {holders}").into()) }
}

fn acquire_of(layout: Layout, named: bool, number: usize) -> Acquire {
    let mut acquire = Acquire { ttl_ms: TTL_MS, ..request(layout) };
    if named {
        let name = format!("orders-7d9f8b6c5d-service-{number:010}");
        acquire.identity = Identity::Name(name.clone());
        acquire.owner.name = name;
        acquire.owner.host = format!("node-{number:07}.eu.example");
    }
    acquire
}

fn times(of: &Histogram) -> Times {
    let percentile =
        |share| of.percentile(share).map_or(f64::NAN, |took: Duration| took.as_secs_f64() * 1e6);
    Times { p50: percentile(0.5), p99: percentile(0.99) }
}

/// Returns `wanted` different numbers below `bound`, in an order that is the same in every run.
fn shuffled(bound: usize, wanted: usize) -> Vec<usize> {
    let mut numbers: Vec<usize> = (0..bound).collect();
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let wanted = wanted.min(bound);
    for index in 0..wanted {
        // xorshift64 leaves no order that a cache could predict.
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        let other = index + (state % (bound - index) as u64) as usize;
        numbers.swap(index, other);
    }
    numbers.truncate(wanted);
    numbers
}
