//! Table 4: compares `fill` with the bare loop that writes the same array.

use std::cell::RefCell;
use std::error::Error;
use std::hint::black_box;

use flakeid_core::{Generator, Id};

use crate::floor::Floor;
use crate::report::{Figure, Kind, Section, Target, ratio, spread};
use crate::sample::{Plan, Row, Samples, nanoseconds_per_id};
use crate::{bare, subject};

/// 8 KB: the array stays in the first-level cache.
const SMALL: usize = 1000;
/// 8 MB: larger than second-level caches.
const LARGE: usize = 1_000_000;

/// One array for all rows of its length. It begins on a cache line, because the alignment of an array affects the
/// speed as much as the code does.
struct Array {
    ids: RefCell<Vec<Id>>,
    skip: usize,
    len: usize,
}

impl Array {
    const LINE: usize = 64;

    fn new(len: usize) -> Self {
        let ids = vec![Id::from_u64(0); len + Self::LINE / size_of::<Id>()];
        let skip = ids.as_ptr().align_offset(Self::LINE);
        Self { ids: RefCell::new(ids), skip, len }
    }

    fn repeat(&self, calls: u64, write: impl Fn(u64, &mut [Id])) {
        let ids = &mut self.ids.borrow_mut()[self.skip..][..self.len];
        for call in 0..calls {
            write(black_box(call), black_box(&mut *ids));
        }
    }
}

/// Rows of each length.
const ROWS: usize = 4;

/// Returns the rows of one length: two loops, the faster loop with the cost of an exact ID added, and `fill`.
fn rows<'a>(
    names: [&'static str; ROWS],
    array: &'a Array,
    floor: &'a Floor,
    generator: &'a Generator,
) -> [Row<'a>; ROWS] {
    let [plain, wide, bound, fill] = names;
    let ids = array.len as u64;
    let widest = bare::wide().unwrap_or(bare::write);
    [
        Row::batched(plain, ids, 1, |calls| array.repeat(calls, bare::write)),
        Row::batched(wide, ids, 1, move |calls| array.repeat(calls, widest)),
        Row::batched(bound, ids, 1, move |calls| {
            array.repeat(calls, |_, ids| widest(black_box(floor).count_by_counter(), ids));
        }),
        Row::batched(fill, ids, 1, move |calls| {
            array.repeat(calls, |_, ids| {
                let issued = subject::fill(black_box(generator), ids);
                assert_eq!(
                    issued,
                    ids.len() as u64,
                    "a layout that never reaches its maximum rate fills the array"
                );
            });
        }),
    ]
}

pub(crate) fn measure(plan: Plan) -> Result<Section, Box<dyn Error>> {
    let generator = subject::with_large_ticks()?;
    let (small, large) = (Array::new(SMALL), Array::new(LARGE));
    let floor = Floor::new();
    let small_names = [
        "bare loop, 1000",
        "bare loop for AVX2, 1000",
        "bare loop for AVX2 after C (the counter, one CAS): the bound, 1000",
        "flakeid `fill`, 1000",
    ];
    let large_names = [
        "bare loop, 1 000 000",
        "bare loop for AVX2, 1 000 000",
        "bare loop for AVX2 after C (the counter, one CAS): the bound, 1 000 000",
        "flakeid `fill`, 1 000 000",
    ];
    let mut rows: Vec<_> = rows(small_names, &small, &floor, &generator)
        .into_iter()
        .chain(rows(large_names, &large, &floor, &generator))
        .collect();
    let samples = nanoseconds_per_id(&mut rows, plan);
    let over = |row: usize, other: usize| samples[row].over(&samples[other]).median();
    let cells = |(index, name): (usize, &str)| {
        let loops = index / ROWS * ROWS;
        let mut cells = vec![name.to_owned()];
        cells.extend(spread(&samples[index], 3));
        cells.extend(
            [loops, loops + 1, loops + 2].map(|other| ratio(&samples[index], &samples[other])),
        );
        cells
    };
    let names = || small_names.into_iter().chain(large_names).enumerate();
    Ok(Section {
        id: "batch",
        title: "4. Batches",
        kind: format!("{} (no layout's cap binds), one thread", Kind::Cost),
        header: vec![
            "",
            "ns per ID",
            "min..max",
            "× bare loop",
            "× bare loop for AVX2",
            "× the bound",
        ],
        rows: names().map(cells).collect(),
        figures: names()
            .map(|(index, name)| {
                Figure::new(name, Kind::Cost, "ns", &samples[index])
                    .over(&samples[index], &samples[index / ROWS * ROWS])
            })
            .collect(),
        notes: vec![format!(
            "No rival has a batch call. The bare loops write `base + i` into the same array and read no clock: at \
            1000 IDs, `fill` takes {:.0} ns per call longer than the loop for AVX2. The bound first reads the \
            processor's counter and makes one compare-and-swap, like C of table 1, because every call that returns \
            exact IDs has to do this. This part alone takes {:.0} ns per call.{}",
            per_call(&samples[3]) - per_call(&samples[1]),
            per_call(&samples[2]) - per_call(&samples[1]),
            if bare::wide().is_none() { " This processor has no AVX2." } else { "" }
        )],
        targets: [
            ("`fill` of 1000 / bare loop", 1.20, over(3, 0)),
            ("`fill` of 1 000 000 / bare loop", 1.05, over(7, 4)),
            ("`fill` of 1000 / bare loop for AVX2", 1.20, over(3, 1)),
            ("`fill` of 1000 / bare loop for AVX2 after C, which is its bound", 1.20, over(3, 2)),
            ("`fill` of 1 000 000 / bare loop for AVX2", 1.05, over(7, 5)),
        ]
        .into_iter()
        .map(|(what, limit, measured)| Target::at_most("R9", what, limit, measured))
        .collect(),
    })
}

fn per_call(samples: &Samples) -> f64 {
    samples.median() * SMALL as f64
}
