//! Table 13: public IDs compared with another library that hides numbers.

use std::cell::Cell;
use std::error::Error;
use std::hint::black_box;

use flakeid_core::{Id, Key, Keyring, Layout, PublicIds};
use sqids::Sqids;
use uuid47::{Uuid128, UuidV47Key};

use crate::report::{Figure, Kind, Section, Target, ratio, spread};
use crate::sample::{Plan, Row, Samples, nanoseconds_per_id};

const ID: u64 = 910_499_571_847_892_992;
const NAMES: [&str; 9] = [
    "base58 of an ID",
    "the 27 rounds of the cipher alone: the bound",
    "flakeid `seal_bits`",
    "flakeid `seal`",
    "flakeid `open`",
    "sqids `encode`",
    "sqids `decode`",
    "uuid47 `encode_as_v4facade` (128 bits, no text)",
    "uuid47 `decode_from_v4facade` (128 bits, no text)",
];
/// A `UUIDv7` of the same time.
const UUID: [u8; 16] = [1, 0x5e, 0xa0, 0x9f, 0x2f, 0x51, 0x7c, 0x4e, 0x8a, 7, 7, 7, 7, 7, 7, 7];

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
            "Each call is for another ID. `seal_bits` is the cipher and the check of the layout; `seal` also writes \
            the string, and `open` reads it, reads the clock and checks the time. Each round waits for the previous \
            round, for about three operations. sqids shuffles an alphabet and has no key, so its strings can be read \
            with the alphabet. uuid47 hides the time of a `UUIDv7` with SipHash, and keeps the random bits."
                .to_owned(),
        ],
        targets: vec![
            most("`seal_bits`, ns", 25.0, &samples[2]),
            most("`seal`, ns", 25.0, &samples[3]),
            most("`open`, ns", 25.0, &samples[4]),
        ],
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
    let [base58, bound, seal_bits, seal, open, encode, decode, facade, time] = NAMES;
    let sealed = ids.seal(Id::from_u64(ID))?;
    let encoded = sqids.encode(&[ID])?;
    let key = UuidV47Key::new(7, 7);
    let uuid = Uuid128::from_bytes(UUID).map_err(|error| format!("{error:?}"))?;
    let sealed_uuid = uuid.encode_as_v4facade(&key);
    Ok(vec![
        each(base58, |id| id.to_base58().as_bytes()[0].into()),
        each(bound, |id| rounds(black_box(&KEYS), id.to_u64())),
        each(seal_bits, |id| ids.seal_bits(id).unwrap_or_default()),
        each(seal, |id| ids.seal(id).map_or(0, |text| text.len() as u64)),
        Row::new(open, move || ids.open(black_box(&sealed)).map_or(0, Id::to_u64)),
        each(encode, |id| sqids.encode(&[id.to_u64()]).map_or(0, |text| text.len() as u64)),
        Row::new(decode, move || sqids.decode(black_box(&encoded)).first().copied().unwrap_or(0)),
        Row::new(facade, move || version(black_box(uuid).encode_as_v4facade(black_box(&key)))),
        Row::new(time, move || {
            version(black_box(sealed_uuid).decode_from_v4facade(black_box(&key)))
        }),
    ])
}

/// Returns the version of a UUID, so that the compiler cannot omit its creation.
fn version(uuid: Uuid128) -> u64 {
    black_box(uuid).uuid_version().into()
}

const KEYS: [u32; 27] = [0x9e37_79b9; 27];

/// Runs the rounds of Speck64/128.
fn rounds(keys: &[u32; 27], block: u64) -> u64 {
    let halves = ((block >> 32) as u32, block as u32);
    let (high, low) = keys.iter().fold(halves, |(high, low), key| {
        let high = high.rotate_right(8).wrapping_add(low) ^ key;
        (high, low.rotate_left(3) ^ high)
    });
    u64::from(high) << 32 | u64::from(low)
}

fn each<'a>(name: &'static str, call: impl Fn(Id) -> u64 + 'a) -> Row<'a> {
    let next = Cell::new(ID);
    Row::new(name, move || {
        next.set(next.get() + 1);
        call(Id::from_u64(next.get()))
    })
}
