//! Table 8: memory and the time until the first ID.

use std::error::Error;
use std::fs;
use std::hint::black_box;
use std::time::Instant;

use flakeid_core::{CachedGenerator, Generator, Layout};

use crate::lease::Directory;
use crate::report::{Figure, Kind, Section};
use crate::rivals::{self, FerroidTwitter};
use crate::sample::Samples;
use crate::subject::issued;

/// Nearly as many as Twitter's layout has nodes.
const GENERATORS: u32 = 1000;
const RINGS: u32 = 16;
const STARTS: u64 = 101;
const LEASES: usize = 21;

/// Measures the table. It must run first, because memory that an earlier table freed is reused, which hides the
/// growth.
pub(crate) fn measure() -> Result<Section, Box<dyn Error>> {
    let layouts = |epoch| format!("t41.n10.s12@{epoch}/1ms").parse::<Layout>();
    let (many, rings, starts) = (layouts(1)?, layouts(2)?, layouts(3)?);
    let directory = Directory::new("resources")?;
    let open = |namespace: &str| {
        flakeid::lease(&directory.url(), Layout::TWITTER)?.namespace(namespace).open()
    };

    let generator = growth(GENERATORS, |node| issued(Generator::new(many, node.into())))?;
    let ferroid = growth(GENERATORS, |_| rivals::ferroid_atomic::<FerroidTwitter>())?;
    let ring = growth(RINGS, |node| {
        issued(CachedGenerator::new(&issued(Generator::new(rings, node.into()))))
    })?;
    let capacity = CachedGenerator::new(&Generator::new(rings, RINGS.into())?)?.capacity();
    let first_lease = growth(1, |_| issued(open("first")))?;

    let (mut made, mut issuing) = (Samples::new(), Samples::new());
    for node in 0..STARTS {
        let start = Instant::now();
        let generator = Generator::new(starts, node)?;
        made.push(start.elapsed().as_secs_f64() * 1e6);
        black_box(generator.next_id()?);
        issuing.push(start.elapsed().as_secs_f64() * 1e6);
    }
    let mut leasing = Samples::new();
    for namespace in 0..LEASES {
        let start = Instant::now();
        let leased = open(&format!("n{namespace}"))?;
        black_box(leased.next_id()?);
        leasing.push(start.elapsed().as_secs_f64() * 1e6);
    }

    let single = |label: &str, bytes| Figure::single(label, Kind::Other, "bytes", bytes);
    let time = |label: &str, samples| Figure::new(label, Kind::Other, "µs", samples);
    let own = size_of::<Generator>() as f64;
    let figures = vec![
        single("flakeid `Generator`, the value itself", own),
        single("flakeid `Generator`, resident, one of 1000", generator),
        single("ferroid Atomic, resident, one of 1000", ferroid),
        single("flakeid `CachedGenerator`, resident, one of 16", ring),
        single("flakeid leased on SQLite, resident, the first", first_lease),
        time("flakeid `Generator::new`", &made),
        time("flakeid `Generator::new` until its first ID", &issuing),
        time("flakeid leased on SQLite until its first ID", &leasing),
    ];
    Ok(Section {
        id: "resources",
        title: "8. Memory and start-up",
        kind: format!("{}: memory and time", Kind::Other),
        header: vec!["", "median", "min..max", "unit"],
        rows: figures.iter().map(cells).collect(),
        notes: vec![format!(
            "Resident memory is the growth of the process in whole pages, divided by the number of objects. A ring \
            of Twitter's layout holds {capacity} IDs of 8 bytes, and has a thread. A lease adds SQLite, a connection \
            and a thread, most of which the next lease of the process shares. A node's first generator in a process \
            begins in the tick after its creation, so its first ID waits for up to 1 ms. There were {STARTS} starts, \
            {LEASES} of them for leases, each with a separate namespace."
        )],
        targets: Vec::new(),
        figures,
    })
}

fn cells(figure: &Figure) -> Vec<String> {
    let (median, min, max) = (figure.median, figure.min, figure.max);
    let decimals = usize::from(median < 100.0 && figure.unit != "bytes");
    let range =
        if min < max { format!("{min:.decimals$}..{max:.decimals$}") } else { "–".into() };
    vec![figure.label.clone(), format!("{median:.decimals$}"), range, figure.unit.to_owned()]
}

/// Returns the bytes of resident memory for each of `count` values.
fn growth<T>(count: u32, make: impl Fn(u32) -> T) -> Result<f64, Box<dyn Error>> {
    let before = resident()?;
    let all: Vec<T> = (0..count).map(make).collect();
    let after = resident()?;
    drop(black_box(all));
    Ok((after - before) * 1024.0 / f64::from(count))
}

/// Returns the resident memory in KiB. The cheaper sources of this figure lag by a few dozen pages.
pub(crate) fn resident() -> Result<f64, Box<dyn Error>> {
    let rollup = fs::read_to_string("/proc/self/smaps_rollup")?;
    let line = rollup.lines().find_map(|line| line.strip_prefix("Rss:"));
    let figure = line.and_then(|line| line.split_whitespace().next()).ok_or("no Rss")?;
    Ok(figure.parse()?)
}
