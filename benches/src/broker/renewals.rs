//! Table 10: renewals through a broker, and the transactions that remain for its store.

use std::error::Error;
use std::net::SocketAddr;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use flakeid_core::{Clock, Layout, SystemClock};
use flakeid_protocol::{Grant, Lessor, Namespace, Release, operations};
use flakeid_stores::Location;
use flakeid_test_servers::{PostgresServer, Server};

use super::hosted::{Hosted, layout, options};
use super::members::{Fleet, Members};
use super::requests::{INTERVAL, follow, renewal, request};
use crate::histogram::Histogram;
use crate::report::{Figure, Kind, Section, Target, ratio, spread};
use crate::sample::{Plan, Samples};
use crate::server::processor::Threads;
use crate::serving::THREADS;

type Failed = Box<dyn Error + Send + Sync>;

/// Namespace of the rows whose clients renew as soon as they have their response.
const BROKERED: &str = "brokered";
/// Number of ways to renew; the first is the store itself.
const WAYS: usize = 3;
/// Numbers of clients that renew at the same time, each as soon as it has its response.
const CLIENTS: [usize; 2] = [4, 16];
/// Numbers of members in the rows that count the store's transactions.
const MEMBERS: [usize; 3] = [10, 100, 1_000];
const BLOCK_BITS: [u32; 2] = [8, 10];

/// Extent of the measurement.
#[derive(Clone, Copy)]
pub(crate) struct Effort {
    /// Plan of the rows whose clients renew as soon as they have their response.
    pub(crate) plan: Plan,
    /// Time for which the store's transactions are counted.
    pub(crate) counting: Duration,
}

/// One way to renew.
struct Row {
    label: String,
    way: Way,
    clients: usize,
    per_second: Samples,
    p99: Samples,
    /// CPU time of the server's threads for each renewal, in microseconds.
    processor: Samples,
}

/// A client and the server that it asks.
#[derive(Clone)]
enum Way {
    /// The library's client, one on each thread.
    Ours { url: String, namespace: &'static str },
    /// A minimal client of the broker that only sends and receives, in a separate process.
    Bare(SocketAddr),
}

pub(crate) fn measure(effort: Effort) -> Result<Section, Box<dyn Error>> {
    let server = PostgresServer::new();
    // Autovacuum commits transactions of its own.
    server.sql("ALTER SYSTEM SET autovacuum = off")?;
    server.sql("SELECT pg_reload_conf()")?;
    let location = Location::parse(&server.url())?;
    prepare(&location)?;
    let broker = Hosted::start(Some(&location), options(BROKERED, 8)?)?;
    let mut rows = Vec::new();
    for clients in CLIENTS {
        for (name, way) in [
            ("PostgreSQL itself", Way::Ours { url: server.url(), namespace: "direct" }),
            ("a broker over HTTP", Way::Ours { url: broker.url(), namespace: BROKERED }),
            ("a broker over HTTP, bare clients", Way::Bare(broker.address)),
        ] {
            let label = format!("{name}, {clients} clients");
            let [per_second, p99, processor] = [(); 3].map(|()| Samples::new());
            rows.push(Row { label, way, clients, per_second, p99, processor });
        }
    }
    for round in 0..effort.plan.rounds {
        for turn in 0..rows.len() {
            let index = (round + turn) % rows.len();
            rows[index].sample(effort.plan.batch)?;
        }
    }
    drop(broker);
    let floors: Vec<_> = (0..rows.len()).map(|index| &rows[index / WAYS * WAYS]).collect();
    let pairs = || rows.iter().zip(&floors);
    let mut cells: Vec<_> = pairs().map(|(row, floor)| row.cells(floor)).collect();
    let mut figures: Vec<_> = pairs().flat_map(|(row, floor)| row.figures(floor)).collect();
    let mut counted = Vec::new();
    for block_bits in BLOCK_BITS {
        for members in MEMBERS {
            let (renewals, transactions) =
                transactions(&server, &location, block_bits, members, effort.counting)?;
            let label = format!("{members} members of a broker, blocks of {}", 1 << block_bits);
            cells.push(vec![
                label.clone(),
                format!("{renewals:.0}"),
                "–".to_owned(),
                "–".to_owned(),
                "–".to_owned(),
                "–".to_owned(),
                format!("{transactions:.2}"),
            ]);
            let unit = "transactions of the store/s";
            figures.push(Figure::single(&label, Kind::Other, unit, transactions));
            counted.push(transactions);
        }
    }
    let of_most = rows.len() - WAYS;
    let faster = |way: usize| {
        let over = rows[of_most + way].per_second.over(&rows[of_most].per_second);
        over.median()
    };
    let most = counted.len() - 1;
    let targets = vec![
        Target::at_least("B1", "renewals/s, 16 clients: a broker / PostgreSQL", 10.0, faster(1)),
        Target::at_least(
            "B1",
            "renewals/s, 16 bare clients of a broker / 16 clients of PostgreSQL",
            10.0,
            faster(2),
        ),
        Target::at_most(
            "B2",
            "the store's transactions/s, blocks of 1024: 1,000 members / 10",
            1.5,
            counted[most] / counted[most - 2],
        ),
    ];
    Ok(Section {
        id: "broker",
        title: "10. Renewals through a broker",
        kind: format!("{}: requests, and transactions of the store", Kind::Other),
        header: vec![
            "",
            "renewals/s",
            "min..max",
            "×",
            "p99, µs",
            "server CPU, µs per renewal",
            "the store's transactions/s",
        ],
        rows: cells,
        notes: vec![note(effort)],
        targets,
        figures,
    })
}

/// Returns the note that describes the measurement.
fn note(effort: Effort) -> String {
    format!(
        "{} rounds of {} ms per row, then {} s for each number of members. PostgreSQL is a private server with \
        durable commits; PostgreSQL, the broker with its server, and the clients share the processors. Clients renew \
        again as soon as they have a response, each over a connection that stays open. They are threads with the \
        client with which every generator leases. Bare clients only send and receive, from one thread of another \
        process, so their rate is closer to the limit of the broker. *Server CPU* is the time of the threads of the \
        broker's server. Members renew every {} ms, like the members of a broker. Transactions are \
        `pg_stat_database.xact_commit` of the database, without autovacuum; a process that leases from PostgreSQL \
        itself makes one transaction for each renewal, every 3.3 s. × is the ratio to PostgreSQL with the same \
        number of clients.",
        effort.plan.rounds,
        effort.plan.batch.as_millis(),
        effort.counting.as_secs(),
        INTERVAL.as_millis(),
    )
}

impl Row {
    fn sample(&mut self, length: Duration) -> Result<(), Box<dyn Error>> {
        let before = Threads::Named(THREADS).time()?;
        let (renewals, per_second, p99) = match self.way.clone() {
            Way::Ours { url, namespace } => ours(&url, namespace, self.clients, length)?,
            Way::Bare(address) => bare(address, self.clients, length)?,
        };
        let took = Threads::Named(THREADS).time()?.saturating_sub(before);
        self.per_second.push(per_second);
        self.p99.push(p99);
        self.processor.push(took.as_secs_f64() * 1e6 / renewals as f64);
        Ok(())
    }

    fn cells(&self, floor: &Self) -> Vec<String> {
        let mut cells = vec![self.label.clone()];
        cells.extend(spread(&self.per_second, 0));
        cells.push(ratio(&self.per_second, &floor.per_second));
        cells.push(spread(&self.p99, 0)[0].clone());
        let is_broker = !std::ptr::eq(self, floor);
        let processor = spread(&self.processor, 1)[0].clone();
        cells.push(if is_broker { processor } else { "–".to_owned() });
        cells.push("–".to_owned());
        cells
    }

    fn figures(&self, floor: &Self) -> [Figure; 2] {
        [
            Figure::new(&self.label, Kind::Other, "renewals/s", &self.per_second)
                .over(&self.per_second, &floor.per_second),
            Figure::new(&self.label, Kind::Other, "p99, µs", &self.p99).over(&self.p99, &floor.p99),
        ]
    }
}

/// Number of renewals, renewals per second, and the 99th percentile of one in microseconds.
type Renewals = (u64, f64, f64);

fn ours(
    url: &str,
    namespace: &str,
    clients: usize,
    length: Duration,
) -> Result<Renewals, Box<dyn Error>> {
    let layout = layout()?;
    let outcomes: Vec<_> = thread::scope(|scope| {
        let renew = || renew_for(url, namespace, layout, length);
        let threads: Vec<_> = (0..clients).map(|_| scope.spawn(renew)).collect();
        let join = |thread: thread::ScopedJoinHandle<'_, _>| {
            thread.join().unwrap_or_else(|_| Err("a client panicked".into()))
        };
        threads.into_iter().map(join).collect()
    });
    let (mut calls, mut wall) = (Histogram::new(), Duration::ZERO);
    for outcome in outcomes {
        let (its_calls, its_wall) = outcome.map_err(|error| format!("{namespace}: {error}"))?;
        calls.merge(&its_calls);
        wall = wall.max(its_wall);
    }
    let p99 = calls.percentile(0.99).map_or(f64::NAN, |took| took.as_secs_f64() * 1e6);
    Ok((calls.count(), calls.count() as f64 / wall.as_secs_f64(), p99))
}

fn bare(address: SocketAddr, clients: usize, length: Duration) -> Result<Renewals, Box<dyn Error>> {
    let (namespace, interval) = (BROKERED, Duration::ZERO);
    let members = Members::start(&Fleet { address, namespace, members: clients, interval })?;
    thread::sleep(length);
    let outcome = members.end()?;
    if outcome.failed > 0 {
        return Err(format!("{} renewals failed: {}", outcome.failed, outcome.why).into());
    }
    Ok((outcome.renewals, outcome.per_second(), outcome.p99))
}

/// Creates the namespaces of the server: one whose nodes are leased one by one, and those of blocks.
fn prepare(location: &Location) -> Result<(), Box<dyn Error>> {
    let clock: Arc<dyn Clock> = Arc::new(SystemClock);
    let mut store = location.connect(&clock)?;
    let namespaces = BLOCK_BITS.map(|bits| (counted_namespace(bits), bits));
    let others = [("direct", 0), (BROKERED, 8)];
    for (name, block_bits) in others.into_iter().chain(namespaces) {
        let namespace = Namespace { block_bits, ..Namespace::new(name, layout()?) };
        operations::init(&mut *store, &namespace)?;
    }
    Ok(())
}

const fn counted_namespace(block_bits: u32) -> &'static str {
    if block_bits == 8 { "blocks-of-256" } else { "blocks-of-1024" }
}

/// Leases a node, renews it repeatedly, and releases it.
fn renew_for(
    url: &str,
    namespace: &str,
    layout: Layout,
    length: Duration,
) -> Result<(Histogram, Duration), Failed> {
    let clock: Arc<dyn Clock> = Arc::new(SystemClock);
    let mut lessor = Location::parse(url)?.connect_lessor(&clock)?;
    let mut grant = lessor.acquire(namespace, &request(layout), Instant::now())?;
    let (mut calls, began) = (Histogram::new(), Instant::now());
    while began.elapsed() < length {
        let renew = renewal(&layout, &grant)?;
        let sent = Instant::now();
        let renewed = lessor.renew(namespace, &renew, sent)?;
        calls.record(sent.elapsed());
        follow(&mut grant, &renew, renewed);
    }
    let wall = began.elapsed();
    release(&mut *lessor, namespace, &grant)?;
    Ok((calls, wall))
}

fn release(lessor: &mut dyn Lessor, namespace: &str, grant: &Grant) -> Result<(), Failed> {
    let (node, token, used_until) = (grant.node, grant.token, grant.fence);
    let release = Release { node, token, used_until };
    Ok(lessor.release(namespace, &release)?)
}

/// Returns the renewals per second of the given number of members, and the transactions per second that the store
/// commits for their broker meanwhile.
fn transactions(
    server: &PostgresServer,
    location: &Location,
    block_bits: u32,
    members: usize,
    length: Duration,
) -> Result<(f64, f64), Box<dyn Error>> {
    let namespace = counted_namespace(block_bits);
    let broker = Hosted::start(Some(location), options(namespace, block_bits)?)?;
    let fleet = Fleet { address: broker.address, namespace, members, interval: INTERVAL };
    let fleet = Members::start(&fleet)?;
    if fleet.joined.granted != members {
        return Err(format!("{} of {members} members have a node", fleet.joined.granted).into());
    }
    // PostgreSQL publishes its statistics up to a second later.
    thread::sleep(Duration::from_secs(2));
    let (before, began) = (committed(server)?, Instant::now());
    thread::sleep(length);
    let (after, wall) = (committed(server)?, began.elapsed());
    let outcome = fleet.end()?;
    if outcome.failed > 0 {
        return Err(format!("{} renewals failed: {}", outcome.failed, outcome.why).into());
    }
    Ok((outcome.per_second(), (after - before) / wall.as_secs_f64()))
}

/// Returns the number of transactions that the database has committed. The query runs in another database, so that
/// it does not count itself.
fn committed(server: &PostgresServer) -> Result<f64, Box<dyn Error>> {
    let query = "SELECT xact_commit FROM pg_stat_database WHERE datname = 'ids'";
    Ok(server.sql_in("postgres", query)?.trim().parse()?)
}
