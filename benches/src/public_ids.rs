//! Table 13: the public form of IDs, beside another library that hides numbers.

use std::cell::Cell;
use std::error::Error;
use std::hint::black_box;

use flakeid_core::{Id, Key, Keyring, Layout, PublicIds};
use sqids::Sqids;

use crate::report::{Figure, Kind, Section, Target, ratio, spread};
use crate::sample::{Plan, Row, Samples, nanoseconds_per_id};

const ID: u64 = 910_499_571_847_892_992;
const NAMES: [&str; 6] = [
    "base58 of an ID",
    "flakeid `seal_bits`",
    "flakeid `seal`",
    "flakeid `open`",
    "sqids `encode`",
    "sqids `decode`",
];

pub(crate) fn measure(plan: Plan) -> Result<Section, Box<dyn Error>> {
    let ids = Keyring::new('a', Key::from_bytes([7; 16]))?.domain("user", Layout::TWITTER)?;
    let sqids = Sqids::default();
    let mut rows = rows(&ids, &sqids)?;
    let samples = nanoseconds_per_id(&mut rows, plan);
    let cells = |(index, name): (usize, &str)| {
        let mut cells = vec![name.to_owned()];
        cells.extend(spread(&samples[index], 1));
        cells.push(ratio(&samples[index], &samples[0]));
        cells
    };
    let most =
        |what: &str, limit, samples: &Samples| Target::at_most("K1", what, limit, samples.median());
    Ok(Section {
        id: "public",
        title: "13. Public IDs",
        kind: format!("{}: time of a call, one thread", Kind::Other),
        header: vec!["", "ns per call", "min..max", "× base58"],
        rows: NAMES.into_iter().enumerate().map(cells).collect(),
        notes: vec![
            "Each call is for another ID. `seal_bits` is the cipher and the check of the layout; `seal` also \
             writes the text, and `open` reads it, asks the clock and checks the time. sqids shuffles an alphabet \
             and has no key: who knows the alphabet can read its texts."
                .to_owned(),
        ],
        targets: vec![most("`seal_bits`, ns", 25.0, &samples[1])],
        figures: NAMES
            .into_iter()
            .zip(&samples)
            .map(|(name, of)| {
                Figure::new(name, Kind::Other, "ns", of).over(of, &samples[0])
            })
            .collect(),
    })
}

fn rows<'a>(ids: &'a PublicIds, sqids: &'a Sqids) -> Result<Vec<Row<'a>>, Box<dyn Error>> {
    let [base58, seal_bits, seal, open, encode, decode] = NAMES;
    let sealed = ids.seal(Id::from_u64(ID))?;
    let encoded = sqids.encode(&[ID])?;
    Ok(vec![
        each(base58, |id| id.to_base58().as_bytes()[0].into()),
        each(seal_bits, |id| ids.seal_bits(id).unwrap_or_default()),
        each(seal, |id| ids.seal(id).map_or(0, |text| text.len() as u64)),
        Row::new(open, move || ids.open(black_box(&sealed)).map_or(0, Id::to_u64)),
        each(encode, |id| sqids.encode(&[id.to_u64()]).map_or(0, |text| text.len() as u64)),
        Row::new(decode, move || sqids.decode(black_box(&encoded)).first().copied().unwrap_or(0)),
    ])
}

fn each<'a>(name: &'static str, call: impl Fn(Id) -> u64 + 'a) -> Row<'a> {
    let next = Cell::new(ID);
    Row::new(name, move || {
        next.set(next.get() + 1);
        call(Id::from_u64(next.get()))
    })
}
