//! Table 9: IDs over HTTP compared with a bare server.

mod bare;
mod client;
pub(crate) mod processor;
mod rival;

use std::collections::BTreeMap;
use std::error::Error;
use std::net::SocketAddr;
use std::time::Duration;

use bytes::Bytes;
use flakeid_server::{ServeOptions, Service};
use hyper::Method;

use crate::report::{Figure, Kind, Section, Target, ratio, spread};
use crate::sample::{Plan, Samples};
use crate::serving::{self, OurServer};
use crate::subject;
use bare::{Answer, BareServer};
use client::{Client, Load};
use processor::Threads;
use rival::RivalServer;

const JSON: &str = "application/json";
const OCTETS: &str = "application/octet-stream";
/// Enough callers to keep two processors busy.
const CALLERS: usize = 16;
/// Number of other callers in the rows where one caller requests very many IDs.
const OTHERS: usize = 8;
const PAUSE: Duration = Duration::from_millis(2);

/// A response of both servers.
struct Subject {
    label: &'static str,
    target: &'static str,
    bare: &'static str,
    accept: &'static str,
    ids: u64,
    /// Length of a piece in bytes, with IDs of 19 digits. A piece of flakeid's server has 4,096 IDs.
    piece: usize,
    pieces: usize,
}

const ONE: Subject = Subject {
    label: "one ID",
    target: "/v1/ids/ids",
    bare: "/one",
    accept: JSON,
    ids: 1,
    piece: 32,
    pieces: 1,
};
const THOUSAND_OCTETS: Subject = Subject {
    label: "1,000 IDs, octets",
    target: "/v1/ids/ids?count=1000",
    bare: "/octets",
    accept: OCTETS,
    ids: 1_000,
    piece: 8_000,
    pieces: 1,
};
const THOUSAND: Subject = Subject {
    label: "1,000 IDs, JSON",
    target: "/v1/ids/ids?count=1000",
    bare: "/json",
    accept: JSON,
    ids: 1_000,
    piece: 22_010,
    pieces: 1,
};
/// Request of the caller that is not measured.
const VERY_MUCH: Subject = Subject {
    label: "1,000,000 IDs, JSON",
    target: "/v1/ids/ids?count=1000000",
    bare: "/much",
    accept: JSON,
    ids: 1_000_000,
    piece: 4_096 * 22,
    pieces: 245,
};
const SUBJECTS: [&Subject; 4] = [&ONE, &THOUSAND_OCTETS, &THOUSAND, &VERY_MUCH];

/// A server and the threads that belong to it.
#[derive(Clone, Copy)]
struct Place {
    name: &'static str,
    address: SocketAddr,
    threads: Threads,
    whose: Whose,
}

#[derive(Clone, Copy, PartialEq)]
enum Whose {
    Bare,
    Ours,
    Rivals,
}

impl Place {
    fn load(self, subject: &Subject, connections: usize, pause: Option<Duration>) -> Load {
        let Subject { target, bare, accept, .. } = *subject;
        let (method, target) = match self.whose {
            Whose::Bare => (Method::POST, bare),
            Whose::Ours => (Method::POST, target),
            // This server returns one ID for each GET request.
            Whose::Rivals => (Method::GET, "/"),
        };
        // The last of many pieces of flakeid's server is shorter, and the rival returns only digits.
        let is_known = subject.pieces == 1 && self.whose != Whose::Rivals;
        let bytes = is_known.then_some(subject.piece);
        Load { address: self.address, method, target, accept, connections, pause, bytes }
    }
}

struct Row {
    label: String,
    loads: Vec<Load>,
    threads: Threads,
    ids: u64,
    /// Row to compare with.
    floor: usize,
    per_second: Samples,
    p99: Samples,
    /// CPU time of the server's threads for each request, in microseconds.
    processor: Samples,
}

impl Row {
    fn new(label: String, place: Place, ids: u64, loads: Vec<Load>, floor: usize) -> Self {
        let [per_second, p99, processor] = [(); 3].map(|()| Samples::new());
        Self { label, loads, threads: place.threads, ids, floor, per_second, p99, processor }
    }

    fn sample(&mut self, client: &Client, length: Duration) -> Result<(), Box<dyn Error>> {
        let before = self.threads.time()?;
        let outcome = client.run(&self.loads, length)?;
        let took = self.threads.time()?.saturating_sub(before);
        self.per_second.push(outcome.per_second());
        self.p99.push(outcome.percentile(0.99));
        self.processor.push(took.as_secs_f64() * 1e6 / outcome.requests as f64);
        Ok(())
    }

    fn cells(&self, floor: &Self) -> Vec<String> {
        let millions = self.per_second.median() * self.ids as f64 / 1e6;
        let mut cells = vec![self.label.clone()];
        cells.extend(spread(&self.per_second, 0));
        cells.push(ratio(&self.per_second, &floor.per_second));
        cells.extend(spread(&self.p99, 0));
        cells.push(ratio(&self.p99, &floor.p99));
        // The time of the threads includes the requests of the other load.
        let is_alone = self.loads.len() == 1;
        let processor = spread(&self.processor, 1)[0].clone();
        cells.push(if is_alone { processor } else { "–".to_owned() });
        cells.push(format!("{millions:.3}"));
        cells
    }

    fn figures(&self, floor: &Self) -> [Figure; 2] {
        let kind = Kind::Other;
        [
            Figure::new(&self.label, kind, "requests/s", &self.per_second)
                .over(&self.per_second, &floor.per_second),
            Figure::new(&self.label, kind, "p99, µs", &self.p99).over(&self.p99, &floor.p99),
        ]
    }
}

fn bare_server() -> Result<BareServer, Box<dyn Error>> {
    BareServer::start(SUBJECTS.iter().map(|subject| answer(subject)).collect())
}

/// Runs the bare server until standard input ends, and prints its address first.
pub(crate) fn run_bare() -> Result<(), Box<dyn Error>> {
    let server = bare_server()?;
    println!("{}", server.address);
    std::io::copy(&mut std::io::stdin().lock(), &mut std::io::sink())?;
    Ok(())
}

pub(crate) fn measure(plan: Plan) -> Result<Section, Box<dyn Error>> {
    let ours = serve()?;
    let bare = bare_server()?;
    let rival_server = RivalServer::start()?;
    let client = Client::new()?;
    let place = |name, address, threads, whose| Place { name, address, threads, whose };
    let places = [
        place("bare hyper", bare.address, Threads::Named(bare::THREADS), Whose::Bare),
        place("flakeid", ours.address, Threads::Named(serving::THREADS), Whose::Ours),
    ];
    let rival = place(
        "pysnowflake",
        rival_server.address,
        Threads::Of(rival_server.process()),
        Whose::Rivals,
    );
    let mut rows = rows(places);
    let load = rival.load(&ONE, CALLERS, None);
    rows.push(Row::new(format!("{}, one ID", rival.name), rival, ONE.ids, vec![load], 0));
    for round in 0..plan.rounds {
        for turn in 0..rows.len() {
            let index = (round + turn) % rows.len();
            rows[index].sample(&client, plan.batch)?;
        }
    }
    let over = |row: usize, floor: usize, of: fn(&Row) -> &Samples| {
        of(&rows[row]).over(of(&rows[floor])).median()
    };
    let millions = |row: usize| rows[row].per_second.median() * rows[row].ids as f64 / 1e6;
    let targets = vec![
        Target::at_least(
            "H1",
            "one ID a request: requests/s / bare hyper",
            0.85,
            over(1, 0, |row| &row.per_second),
        ),
        Target::at_most(
            "H1",
            "one ID a request: p99 / bare hyper",
            1.3,
            over(1, 0, |row| &row.p99),
        ),
        Target::at_least("H2", "1,000 IDs a request as octets, million IDs/s", 20.0, millions(3)),
        Target::at_least("H2", "1,000 IDs a request as JSON, million IDs/s", 5.0, millions(5)),
        Target::at_most(
            "H3",
            "p99 of busy callers next to one that requests 1,000,000 / alone",
            3.0,
            over(7, 1, |row| &row.p99),
        ),
        Target::at_most(
            "H3",
            "p99 of pausing callers next to one that requests 1,000,000 / alone",
            3.0,
            over(11, 9, |row| &row.p99),
        ),
    ];
    let notes = vec![format!(
        "{} rounds of {} ms per row; each round measures every row once. Client and servers are threads of one \
        process on the same processors, over loopback, with connections that stay open. There are {CALLERS} callers, \
        each of which sends a request as soon as it has a response, or {OTHERS} callers that pause for {} ms. So \
        requests/s and p99 include the client's work, and waiting for a processor; *server CPU* is the time of the \
        server's threads alone. The bare server responds with prepared bodies of the same size. × is the ratio to \
        the bare server, or, next to a caller of 1,000,000 IDs, to the same callers alone. flakeid's layout has 22 \
        sequence bits. pysnowflake is a process with one thread.",
        plan.rounds,
        plan.batch.as_millis(),
        PAUSE.as_millis(),
    )];
    Ok(Section {
        id: "server",
        title: "9. IDs over HTTP",
        kind: format!("{}: requests, and what a caller waits", Kind::Other),
        header: vec![
            "",
            "requests/s",
            "min..max",
            "×",
            "p99, µs",
            "min..max",
            "×",
            "server CPU, µs per request",
            "million IDs/s",
        ],
        rows: rows.iter().map(|row| row.cells(&rows[row.floor])).collect(),
        notes,
        targets,
        figures: rows.iter().flat_map(|row| row.figures(&rows[row.floor])).collect(),
    })
}

/// Returns pairs of rows: the bare server and flakeid's.
fn rows(places: [Place; 2]) -> Vec<Row> {
    let mut rows = Vec::new();
    for subject in [&ONE, &THOUSAND_OCTETS, &THOUSAND] {
        let floor = rows.len();
        for place in places {
            let label = format!("{}, {}", place.name, subject.label);
            let load = place.load(subject, CALLERS, None);
            rows.push(Row::new(label, place, subject.ids, vec![load], floor));
        }
    }
    let besides = |place: Place, label: String, load: Load, floor: usize| {
        let label = format!("{label}, next to one of {}", VERY_MUCH.label);
        let loads = vec![load, place.load(&VERY_MUCH, 1, None)];
        Row::new(label, place, 1, loads, floor)
    };
    for (alone, place) in places.into_iter().enumerate() {
        let label = format!("{}, one ID", place.name);
        rows.push(besides(place, label, place.load(&ONE, CALLERS, None), alone));
    }
    let alone = rows.len();
    let pausing = |place: Place| {
        let label = format!("{}, one ID, callers pause", place.name);
        (label, place.load(&ONE, OTHERS, Some(PAUSE)))
    };
    for place in places {
        let (label, load) = pausing(place);
        rows.push(Row::new(label, place, 1, vec![load], alone));
    }
    for (place, alone) in places.into_iter().zip(alone..) {
        let (label, load) = pausing(place);
        rows.push(besides(place, label, load, alone));
    }
    rows
}

fn answer(subject: &Subject) -> Answer {
    Answer {
        path: subject.bare,
        media_type: subject.accept,
        piece: Bytes::from(vec![b'1'; subject.piece]),
        pieces: subject.pieces,
    }
}

/// Starts flakeid's server of IDs.
fn serve() -> Result<OurServer, Box<dyn Error>> {
    let generator = subject::wide(31)?;
    let service =
        Service::new(BTreeMap::from([("ids".to_owned(), generator)])).max_count(VERY_MUCH.ids);
    OurServer::start(service, &serving::listener()?, ServeOptions::default())
}
