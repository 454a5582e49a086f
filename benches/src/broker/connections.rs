//! Table 12: members on thousands of connections at once.

use std::error::Error;
use std::net::SocketAddr;
use std::time::{Duration, Instant};

use bytes::Bytes;
use http_body_util::{BodyExt, Empty};
use hyper::Request;
use hyper::client::conn::http1::handshake;
use hyper::header::HOST;
use hyper_util::rt::TokioIo;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use tokio::net::TcpStream;
use tokio::runtime::{Builder, Runtime};
use tokio::time::timeout;

use super::hosted::{Hosted, options};
use super::members::{Fleet, Joined, Members, Renewed};
use super::requests::INTERVAL;
use crate::histogram::Histogram;
use crate::report::{Figure, Kind, Section, Target};
use crate::resources::resident;

type Failed = Box<dyn Error + Send + Sync>;

/// Interval between two health checks, and the timeout of each. Like those of an orchestrator, each check opens a
/// new connection.
const PROBE_INTERVAL: Duration = Duration::from_millis(10);
const PROBE_PATIENCE: Duration = Duration::from_secs(5);
/// File descriptors that a process needs in addition to its connections.
const OTHER_FILES: u64 = 600;

/// Extent of the measurement.
#[derive(Clone, Copy)]
pub(crate) struct Effort {
    pub(crate) connections: [usize; 2],
    /// Time for which each row renews.
    pub(crate) renewing: Duration,
}

/// One row.
struct Measured {
    connections: usize,
    joined: Joined,
    renewed: Renewed,
    /// Bytes of the server's process for each connection.
    bytes: f64,
    probes: Probes,
}

/// Responses to the health checks.
struct Probes {
    calls: Histogram,
    failed: u64,
}

impl Probes {
    fn p99_us(&self) -> f64 {
        self.calls.percentile(0.99).map_or(f64::NAN, |took| took.as_secs_f64() * 1e6)
    }
}

pub(crate) fn measure(effort: Effort) -> Result<Section, Box<dyn Error>> {
    let files = raise_file_limit()?;
    let most = files.saturating_sub(OTHER_FILES) as usize / 100 * 100;
    let probing = Builder::new_current_thread().enable_io().enable_time().build()?;
    let alone = {
        let broker = Hosted::start(None, options("alone", 8)?)?;
        probing.block_on(probe(broker.address, effort.renewing))
    };
    let mut rows = Vec::new();
    let mut all = effort.connections.to_vec();
    // The number of connections is limited by the open files of a process and by the ports of an address.
    let largest = all.last().copied().unwrap_or(0);
    if most < largest {
        return Err(format!(
            "a process can open {files} files, too few for {largest} connections: raise `ulimit -n` to {}",
            largest as u64 + OTHER_FILES
        )
        .into());
    }
    if effort.renewing >= Duration::from_secs(5) && (largest + 1..25_000).contains(&most) {
        all.push(most);
    }
    // Measured before all rows, because a row reuses memory that an earlier row freed.
    let before = resident()?;
    for connections in all {
        rows.push(row(&probing, connections, effort.renewing, before)?);
    }
    let tenth = &rows[1];
    let share = tenth.joined.granted as f64 / tenth.connections as f64;
    let targets = vec![
        Target::at_least(
            "B4",
            format!("share of {} members at once that have a node", tenth.connections),
            1.0,
            share,
        ),
        Target::at_most(
            "B4",
            format!("renewals that failed on {} connections", tenth.connections),
            0.0,
            tenth.renewed.failed as f64,
        ),
        Target::at_most(
            "B4",
            format!("p99 of GET /livez next to {} members, ms", tenth.connections),
            100.0,
            tenth.probes.p99_us() / 1e3,
        ),
    ];
    let mut cells = vec![vec![
        "none".to_owned(),
        "–".to_owned(),
        "–".to_owned(),
        "–".to_owned(),
        "–".to_owned(),
        "–".to_owned(),
        "–".to_owned(),
        format!("{:.0}", alone.p99_us()),
        alone.failed.to_string(),
    ]];
    cells.extend(rows.iter().map(Measured::cells));
    Ok(Section {
        id: "connections",
        title: "12. Members on many connections at once",
        kind: format!("{}: memory and time", Kind::Other),
        header: vec![
            "connections",
            "have a node",
            "until all did, ms",
            "renewals/s",
            "failed",
            "renewal p99, µs",
            "server, KiB a connection",
            "GET /livez p99, µs",
            "failed",
        ],
        rows: cells,
        notes: vec![format!(
            "All members connect at the same moment, lease a node, and renew it every {} ms for {} s. They are \
            another process, on the same processors, over loopback; the broker's store is in memory. The memory of \
            the server is the growth of its process in resident pages, without the kernel's buffers of the sockets. \
            Meanwhile, a probe requests `GET /livez` over a new connection every {} ms. Every process here may have \
            {files} open files, and a connection takes one file on either side, so no row can have many more \
            connections than the last one. The next limit would be the 28,232 ports that Linux has for one address \
            by default.",
            INTERVAL.as_millis(),
            effort.renewing.as_secs(),
            PROBE_INTERVAL.as_millis(),
        )],
        targets,
        figures: rows.iter().flat_map(Measured::figures).collect(),
    })
}

fn row(
    probing: &Runtime,
    connections: usize,
    renewing: Duration,
    before: f64,
) -> Result<Measured, Box<dyn Error>> {
    let broker = Hosted::start(None, options("connections", 8)?)?;
    let fleet = Fleet {
        address: broker.address,
        namespace: "connections",
        members: connections,
        interval: INTERVAL,
    };
    let fleet = Members::start(&fleet)?;
    let probes = probing.block_on(probe(broker.address, renewing));
    let bytes = (resident()? - before) * 1024.0 / connections as f64;
    let joined = fleet.joined.clone();
    let renewed = fleet.end()?;
    for why in [&joined.why, &renewed.why] {
        if !why.is_empty() {
            eprintln!("rust: {connections} connections: {why}");
        }
    }
    Ok(Measured { connections, joined, renewed, bytes, probes })
}

impl Measured {
    fn cells(&self) -> Vec<String> {
        let Self { connections, joined, renewed, bytes, probes } = self;
        vec![
            connections.to_string(),
            joined.granted.to_string(),
            format!("{:.0}", joined.took_ms),
            format!("{:.0}", renewed.per_second()),
            renewed.failed.to_string(),
            format!("{:.0}", renewed.p99),
            format!("{:.1}", bytes / 1024.0),
            format!("{:.0}", probes.p99_us()),
            probes.failed.to_string(),
        ]
    }

    fn figures(&self) -> [Figure; 4] {
        let label = format!("{} connections", self.connections);
        let single = |unit, value| Figure::single(&label, Kind::Other, unit, value);
        [
            single("with a node", self.joined.granted as f64),
            single("renewals/s", self.renewed.per_second()),
            single("bytes of the server a connection", self.bytes),
            single("p99 of GET /livez, µs", self.probes.p99_us()),
        ]
    }
}

/// Raises the limit of open files to its maximum and returns it. Child processes inherit the limit.
fn raise_file_limit() -> Result<u64, Box<dyn Error>> {
    let Rlimit { maximum, .. } = getrlimit(Resource::Nofile);
    setrlimit(Resource::Nofile, Rlimit { current: maximum, maximum })?;
    Ok(maximum.unwrap_or(u64::MAX))
}

/// Requests the server's health repeatedly.
async fn probe(address: SocketAddr, length: Duration) -> Probes {
    let mut probes = Probes { calls: Histogram::new(), failed: 0 };
    let began = Instant::now();
    while began.elapsed() < length {
        let sent = Instant::now();
        match timeout(PROBE_PATIENCE, livez(address)).await {
            Ok(Ok(())) => probes.calls.record(sent.elapsed()),
            Ok(Err(_)) | Err(_) => probes.failed += 1,
        }
        tokio::time::sleep(PROBE_INTERVAL).await;
    }
    probes
}

async fn livez(address: SocketAddr) -> Result<(), Failed> {
    let stream = TcpStream::connect(address).await?;
    stream.set_nodelay(true)?;
    let (mut sender, connection) = handshake(TokioIo::new(stream)).await?;
    tokio::spawn(connection);
    let request = Request::get("/livez").header(HOST, "localhost").body(Empty::<Bytes>::new())?;
    let answer = sender.send_request(request).await?;
    let status = answer.status();
    answer.into_body().collect().await?;
    if status.is_success() { Ok(()) } else { Err(format!("{status}").into()) }
}
