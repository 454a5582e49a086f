//! How many leases each kind of store keeps: holders renew through the product's own operations,
//! over a few connections, as fast as the store confirms it.

use std::fmt::Write as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};
use std::{env, fs, io, thread};

use clap::Args;
use flakeid_core::{Clock, Layout, Rfc3339, SystemClock};
use flakeid_lease::protocol::{Acquire, Identity, Namespace, Owner, Renew, Row, State, Token};
use flakeid_lease::store::{Fault, Location, Store, operations};
use flakeid_test_servers::{EtcdServer, MariadbServer, PostgresServer, RedisServer, Server};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::campaign::Kind;

/// Renewals and acquires per second that a store takes.
#[derive(Args)]
pub(crate) struct Renewals {
    /// The store.
    #[arg(long, default_value = "all")]
    store: Kind,
    /// For how long renewals are counted, for each number of holders and of connections.
    #[arg(long, default_value_t = 2, value_parser = clap::value_parser!(u64).range(1..=600))]
    seconds: u64,
    /// Print one line of JSON for each store, and no Markdown.
    #[arg(long)]
    json: bool,
}

/// How many nodes are held while renewals are counted.
const HOLDERS: [u64; 2] = [1_000, 10_000];
const CONNECTIONS: [usize; 3] = [1, 4, 16];
/// As many acquires are timed, over so many connections, but not for long; so many nodes were given
/// back before.
const ACQUIRES: u64 = 200;
const ACQUIRERS: usize = 4;
const PATIENCE: Duration = Duration::from_secs(3);
const MOST_TRIES: u32 = 5;

/// The defaults of a lease: a window, and the mean time between two renewals, a third of it.
const WINDOW_MS: u64 = 10_000;
const INTERVAL_S: f64 = 10.0 / 3.0;
/// How often a process asks that is refused, because the store was restarted.
const RETRY_S: f64 = 2.0;
/// Nothing expires while it is measured.
const TTL_MS: u64 = 3_600_000;
const FLEETS: [u64; 4] = [1_000, 10_000, 100_000, 1_000_000];

impl Renewals {
    /// Measures, and prints what came of it.
    pub(crate) fn run(&self) -> io::Result<bool> {
        let kinds = if self.store == Kind::All { &Kind::EACH[..] } else { &[self.store] };
        let setting = Setting::now()?;
        if !self.json {
            println!("{}", setting.shown());
        }
        let mut reports = Vec::new();
        for kind in kinds {
            let report = self
                .on(*kind)
                .map_err(|fault| io::Error::other(format!("{}: {fault}", kind.name())))?;
            if self.json {
                println!("{}", report.json(&setting));
            }
            reports.push(report);
        }
        if !self.json {
            println!("{}", markdown(&reports));
        }
        Ok(true)
    }

    fn on(&self, kind: Kind) -> Result<Report, Fault> {
        let place = Place::of(kind).map_err(|error| Fault::Rejected(error.to_string()))?;
        let mut report = Report { store: kind.name(), renewals: Vec::new(), acquires: Vec::new() };
        let empty = Field::new(&place.url, "empty")?;
        report.acquires.push((0, "new", empty.acquires(LAYOUT_NODES - 1)?));
        for holders in HOLDERS {
            let field = Field::new(&place.url, &format!("held-{holders}"))?;
            let mut held = field.fill(holders)?;
            for connections in CONNECTIONS {
                let speed =
                    field.renewals(&mut held, connections, Duration::from_secs(self.seconds))?;
                report.renewals.push((holders, connections, speed));
            }
            report.acquires.push((holders, "given back", field.acquires(ACQUIRES + holders - 1)?));
            report.acquires.push((holders, "new", field.acquires(LAYOUT_NODES - 1)?));
        }
        Ok(report)
    }
}

/// 2^20 nodes: a node for every one of a million processes.
const LAYOUT_NODES: u64 = 1 << 20;

fn layout() -> Result<Layout, Fault> {
    "t41.n20.s2@1767225600000/1ms"
        .parse()
        .map_err(|error: flakeid_core::Error| Fault::Rejected(error.to_string()))
}

/// A store with nothing in it. What it needs goes when it is dropped.
struct Place {
    url: String,
    _server: Option<Box<dyn Server>>,
    _folder: Option<TempDir>,
}

impl Place {
    fn of(kind: Kind) -> io::Result<Self> {
        let server: Box<dyn Server> = match kind {
            Kind::Sqlite => {
                let folder = tempfile::Builder::new().prefix("flakeid-sqlite").tempdir()?;
                let url = format!("sqlite://{}", folder.path().join("ids.db").display());
                return Ok(Self { url, _server: None, _folder: Some(folder) });
            }
            Kind::Postgres => Box::new(PostgresServer::new()),
            Kind::Mysql => Box::new(MariadbServer::new()),
            Kind::Redis => Box::new(RedisServer::new()),
            Kind::Etcd => Box::new(EtcdServer::new()),
            Kind::All => return Err(io::Error::other("one store at a time")),
        };
        Ok(Self { url: server.url(), _server: Some(server), _folder: None })
    }
}

/// One holder's part of the protocol.
#[derive(Clone, Copy)]
struct Held {
    node: u64,
    start: u64,
    token: Token,
}

/// A namespace in a store.
struct Field {
    location: Location,
    clock: Arc<dyn Clock>,
    namespace: String,
    layout: Layout,
}

impl Field {
    fn new(url: &str, namespace: &str) -> Result<Self, Fault> {
        let location = Location::parse(url).map_err(|error| Fault::Rejected(error.to_string()))?;
        let field = Self {
            location,
            clock: Arc::new(SystemClock),
            namespace: namespace.into(),
            layout: layout()?,
        };
        operations::init(&mut *field.connect()?, &Namespace::new(namespace, field.layout))?;
        Ok(field)
    }

    fn connect(&self) -> Result<Box<dyn Store>, Fault> {
        self.location.connect(&self.clock)
    }

    fn tick(&self) -> Result<u64, Fault> {
        self.layout
            .tick_at(self.clock.unix_ms())
            .map_err(|error| Fault::Rejected(error.to_string()))
    }

    /// Does something over so many connections at once: each gets its part, and its own connection.
    fn over<T: Send, R: Send>(
        &self,
        parts: Vec<T>,
        work: impl Fn(&mut Box<dyn Store>, T) -> Result<R, Fault> + Sync,
    ) -> Result<Vec<R>, Fault> {
        let stores = parts.iter().map(|_| self.connect()).collect::<Result<Vec<_>, _>>()?;
        thread::scope(|scope| {
            let work = &work;
            let pairs = stores.into_iter().zip(parts);
            let threads: Vec<_> = pairs
                .map(|(mut store, part)| scope.spawn(move || work(&mut store, part)))
                .collect();
            let ended = threads.into_iter().map(|thread| {
                thread.join().unwrap_or_else(|_| Err(Fault::Rejected("a thread panicked".into())))
            });
            ended.collect()
        })
    }

    /// Rows as acquires and releases would leave them, many in one transaction: first those of nodes
    /// that were given back, then `holders` that are held.
    fn fill(&self, holders: u64) -> Result<Vec<Held>, Fault> {
        let start = self.tick()?;
        let row = |node| Held { node, start, token: token() };
        let free: Vec<Held> = (0..ACQUIRES).map(row).collect();
        let held: Vec<Held> = (ACQUIRES..ACQUIRES + holders).map(row).collect();
        self.write(&free, State::Free)?;
        self.write(&held, State::Held)?;
        Ok(held)
    }

    fn write(&self, rows: &[Held], state: State) -> Result<(), Fault> {
        /// etcd allows 128 operations in a transaction, and each row here is two.
        const BATCH: usize = 32;
        let parts = rows.chunks(rows.len().div_ceil(ACQUIRERS)).collect();
        let is_held = state == State::Held;
        let write = |store: &mut Box<dyn Store>, part: &[Held]| {
            part.chunks(BATCH).try_for_each(|batch| {
                self.patiently(store, |store| {
                    store.transact(&self.namespace, &mut |ledger| {
                        let now = ledger.now()?;
                        let kept = ledger.namespace()?;
                        let incarnation = kept.map(|kept| kept.incarnation).unwrap_or_default();
                        batch.iter().try_for_each(|held| {
                            let row = Row {
                                node: held.node,
                                fence: held.start + if is_held { WINDOW_MS } else { 0 },
                                start: held.start,
                                token: is_held.then_some(held.token),
                                grant: 1,
                                state,
                                owner: owner(),
                                acquired: now,
                                renewed: now,
                                expires: if is_held { now + TTL_MS.cast_signed() } else { 0 },
                                incarnation: incarnation.clone(),
                            };
                            ledger.put_row(None, &row)
                        })
                    })
                })
            })
        };
        self.over(parts, write).map(drop)
    }

    /// Each connection renews its share of the nodes in turn, one renewal after the other.
    fn renewals(
        &self,
        held: &mut [Held],
        connections: usize,
        duration: Duration,
    ) -> Result<Speed, Fault> {
        let began = Instant::now();
        let parts = held.chunks_mut(held.len().div_ceil(connections)).collect();
        let parts = self.over(parts, |store, part: &mut [Held]| {
            let mut timed = Timed::default();
            for at in (0..part.len()).cycle() {
                if began.elapsed() >= duration {
                    break;
                }
                let holder = &mut part[at];
                let next = token();
                let Held { node, start, token } = *holder;
                let wanted = self.tick()? + WINDOW_MS;
                let renew = Renew { node, start, token, next, wanted, ttl_ms: TTL_MS };
                // The same again: if it was applied after all, the store knows it by its token.
                self.patiently(store, |store| {
                    timed.call(|| operations::renew(store, &self.namespace, &renew))
                })?;
                holder.token = next;
            }
            Ok(timed)
        })?;
        Ok(Speed::of(parts, began.elapsed()))
    }

    /// What gave no answer is done again on a new connection, as keepers do, but not for ever.
    fn patiently<T>(
        &self,
        store: &mut Box<dyn Store>,
        mut work: impl FnMut(&mut dyn Store) -> Result<T, Fault>,
    ) -> Result<T, Fault> {
        for _ in 0..MOST_TRIES {
            match work(&mut **store) {
                Err(Fault::Unavailable(_) | Fault::Conflict) => *store = self.connect()?,
                settled => return settled,
            }
        }
        work(&mut **store)
    }

    /// Acquires any node of 0 to `to`, one after the other on each of a few connections.
    fn acquires(&self, to: u64) -> Result<Speed, Fault> {
        let began = Instant::now();
        let parts = self.over(vec![(); ACQUIRERS], |store, ()| {
            let mut timed = Timed::default();
            for _ in 0..ACQUIRES / ACQUIRERS as u64 {
                if began.elapsed() >= PATIENCE {
                    break;
                }
                let request = Acquire {
                    layout: self.layout,
                    identity: Identity::Any,
                    from: 0,
                    to,
                    rotation: 0,
                    reuse: true,
                    token: token(),
                    window_ms: WINDOW_MS,
                    ttl_ms: TTL_MS,
                    now: self.clock.unix_ms(),
                    waited_ms: 0,
                    after: 0,
                    owner: owner(),
                };
                self.patiently(store, |store| {
                    timed.call(|| operations::acquire(store, &self.namespace, &request))
                })?;
            }
            Ok(timed)
        })?;
        Ok(Speed::of(parts, began.elapsed()))
    }
}

fn owner() -> Owner {
    Owner { name: String::new(), host: "host-000.example".into(), pid: std::process::id() }
}

/// A token never used before in this run.
fn token() -> Token {
    static LAST: AtomicU64 = AtomicU64::new(0);
    Token::from_bits(u128::from(LAST.fetch_add(1, Ordering::Relaxed)) + 1)
}

/// How long each call of one connection took, in microseconds.
#[derive(Default)]
struct Timed {
    micros: Vec<u64>,
    failed: u64,
}

impl Timed {
    fn call<T>(&mut self, work: impl FnOnce() -> Result<T, Fault>) -> Result<T, Fault> {
        let began = Instant::now();
        let done = work();
        match &done {
            Ok(_) => self.micros.push(began.elapsed().as_micros() as u64),
            Err(_) => self.failed += 1,
        }
        done
    }
}

/// What all connections together did.
struct Speed {
    per_second: f64,
    median_ms: f64,
    p99_ms: f64,
    failed: u64,
}

impl Speed {
    fn of(parts: Vec<Timed>, took: Duration) -> Self {
        let failed = parts.iter().map(|part| part.failed).sum();
        let mut micros: Vec<u64> = parts.into_iter().flat_map(|part| part.micros).collect();
        micros.sort_unstable();
        let at = |percent: usize| {
            let found = micros.get((micros.len() * percent / 100).min(micros.len().max(1) - 1));
            found.map_or(f64::NAN, |micros| *micros as f64 / 1e3)
        };
        Self {
            per_second: micros.len() as f64 / took.as_secs_f64(),
            median_ms: at(50),
            p99_ms: at(99),
            failed,
        }
    }

    fn cells(&self) -> String {
        let Self { per_second, median_ms, p99_ms, failed } = self;
        format!("{per_second:.0} | {median_ms:.2} | {p99_ms:.2} | {failed}")
    }

    fn json(&self) -> Value {
        json!({
            "per_second": self.per_second.round(),
            "median_ms": self.median_ms,
            "p99_ms": self.p99_ms,
            "failed": self.failed,
        })
    }
}

/// The machine and the time, taken before anything is started.
struct Setting {
    date: String,
    processor: String,
    processors: usize,
    load: String,
    folder: String,
}

impl Setting {
    fn now() -> io::Result<Self> {
        let info = fs::read_to_string("/proc/cpuinfo")?;
        let model = info.lines().find(|line| line.starts_with("model name"));
        let model = model.and_then(|line| line.split_once(": ")).map(|(_, model)| model.trim());
        let load = fs::read_to_string("/proc/loadavg")?;
        let date = Rfc3339::new(SystemClock.unix_ms(), 0).to_string();
        Ok(Self {
            date: date.split('T').next().unwrap_or_default().to_owned(),
            processor: model.unwrap_or("unknown").to_owned(),
            processors: thread::available_parallelism()?.get(),
            load: load.split_whitespace().next().unwrap_or_default().to_owned(),
            folder: env::temp_dir().display().to_string(),
        })
    }

    fn shown(&self) -> String {
        let Self { date, processor, processors, load, folder } = self;
        format!("{date}, {processor}, {processors} available, load before {load}, data in {folder}")
    }
}

/// What one kind of store took.
struct Report {
    store: &'static str,
    /// (holders, connections, renewals).
    renewals: Vec<(u64, usize, Speed)>,
    /// (rows, whether the node was used before, acquires).
    acquires: Vec<(u64, &'static str, Speed)>,
}

impl Report {
    /// The most renewals per second with the most holders, over any number of connections.
    fn most(&self) -> f64 {
        let holders = HOLDERS[HOLDERS.len() - 1];
        let with = self.renewals.iter().filter(|(count, ..)| *count == holders);
        with.map(|(.., speed)| speed.per_second).fold(0.0, f64::max)
    }

    fn json(&self, setting: &Setting) -> Value {
        let with = |mut value: Value, more: Value| {
            if let (Some(map), Value::Object(more)) = (value.as_object_mut(), more) {
                map.extend(more);
            }
            value
        };
        let renewals = self.renewals.iter().map(|(holders, connections, speed)| {
            with(json!({ "holders": holders, "connections": connections }), speed.json())
        });
        let acquires = self
            .acquires
            .iter()
            .map(|(rows, node, speed)| with(json!({ "rows": rows, "node": node }), speed.json()));
        json!({
            "store": self.store,
            "setting": setting.shown(),
            "renewals": renewals.collect::<Vec<_>>(),
            "acquires": acquires.collect::<Vec<_>>(),
            "most_renewals_per_second": self.most().round(),
        })
    }
}

fn markdown(reports: &[Report]) -> String {
    let mut text = String::from(
        "\n| store | holders | connections | renewals/s | median ms | p99 ms | failed |\n\
         |---|---|---|---|---|---|---|\n",
    );
    for Report { store, renewals, .. } in reports {
        for (holders, connections, speed) in renewals {
            let _ = writeln!(text, "| {store} | {holders} | {connections} | {} |", speed.cells());
        }
    }
    text += "\n| store | rows | node | acquires/s | median ms | p99 ms | failed |\n\
             |---|---|---|---|---|---|---|\n";
    for Report { store, acquires, .. } in reports {
        for (rows, node, speed) in acquires {
            let _ = writeln!(text, "| {store} | {rows} | {node} | {} |", speed.cells());
        }
    }
    let names: Vec<&str> = reports.iter().map(|report| report.store).collect();
    let _ = writeln!(
        text,
        "\n| processes | renewals/s | asked/s after a restart | {} |\n|---|---|---|{}",
        names.join(" | "),
        "---|".repeat(names.len())
    );
    for processes in FLEETS {
        let needed = processes as f64 / INTERVAL_S;
        let asked = processes as f64 / RETRY_S;
        let _ = write!(text, "| {processes} | {needed:.0} | {asked:.0} |");
        for report in reports {
            let _ = write!(text, " {:.0} % |", needed * 100.0 / report.most());
        }
        text += "\n";
    }
    text += "\nShares of what each store took with the most holders.";
    text
}
