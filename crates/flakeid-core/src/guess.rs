//! Which system made an ID: every preset is judged by how many bits it takes to describe the ID as one of its own.

use alloc::vec::Vec;
use core::fmt;

use crate::layout::Layout;
use crate::{Id, Parts};

/// How well a preset explains IDs of which nothing is known.
///
/// ```
/// use flakeid_core::{Id, guess};
///
/// let now = 1_800_000_000_000; // 2027
/// let guesses = guess(&[Id::from_u64(1_050_118_621_198_921_728)], now);
/// assert_eq!(guesses[0].name, "twitter");
/// assert!(guesses[0].verdict.is_ok());
/// assert!(guesses[1].weakness(&guesses[0]).is_some());
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Guess {
    /// The preset's name.
    pub name: &'static str,
    /// The preset.
    pub layout: Layout,
    /// How many sixteenths of a bit it takes to describe the IDs as this preset's: the fewer, the likelier. Or why they
    /// cannot be its.
    pub verdict: Result<u64, Mismatch>,
    costs: Costs,
}

impl Guess {
    /// What speaks most against this preset, compared with the `best`: the part that costs most more than its. `None`
    /// if no part does, or if the IDs cannot be this preset's.
    #[must_use]
    pub fn weakness(&self, best: &Self) -> Option<Aspect> {
        if self.verdict.is_err() {
            return None;
        }
        let more = |(of_this, of_best): (u64, u64)| of_this.saturating_sub(of_best);
        let all = Aspect::ALL.into_iter().zip(self.costs.0.into_iter().zip(best.costs.0).map(more));
        all.filter(|(_, more)| *more > 0).max_by_key(|(_, more)| *more).map(|(aspect, _)| aspect)
    }

    /// Whether this one is so close to the `best` that the IDs do not decide between the two: less than 5 bits, so
    /// that it is at least a thirty-second as likely.
    #[must_use]
    pub fn is_as_likely_as(&self, best: &Self) -> bool {
        match (&self.verdict, &best.verdict) {
            (Ok(this), Ok(best)) => *this < best + 5 * BIT,
            _ => false,
        }
    }
}

/// A part of what it takes to describe IDs as a preset's.
///
/// ```
/// use flakeid_core::{Aspect, Id, guess};
///
/// let guesses = guess(&[Id::from_u64(1_050_118_621_198_921_728)], 1_800_000_000_000);
/// let instagram = guesses.iter().find(|guess| guess.name == "instagram").unwrap();
/// assert_eq!(instagram.weakness(&guesses[0]), Some(Aspect::Sequence));
/// assert_eq!(Aspect::Sequence.name(), "sequence");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Aspect {
    /// The system is rarely met.
    Rarity,
    /// When the IDs were made.
    Time,
    /// The node numbers.
    Node,
    /// The sequence numbers.
    Sequence,
}

impl Aspect {
    const ALL: [Self; 4] = [Self::Rarity, Self::Time, Self::Node, Self::Sequence];

    /// `rarity`, `time`, `node` or `sequence`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Rarity => "rarity",
            Self::Time => "time",
            Self::Node => "node",
            Self::Sequence => "sequence",
        }
    }
}

/// In sixteenths of a bit, in the order of [`Aspect::ALL`].
#[derive(Clone, Copy, Debug, Default)]
struct Costs([u64; 4]);

impl Costs {
    const fn add(&mut self, aspect: Aspect, cost: u64) {
        self.0[aspect as usize] += cost;
    }

    fn sum(self) -> u64 {
        self.0.into_iter().sum()
    }
}

/// Why IDs cannot be a preset's.
///
/// ```
/// use flakeid_core::{Id, guess};
///
/// let guesses = guess(&[Id::from_u64(1)], 1_800_000_000_000);
/// let impossible = guesses.iter().filter_map(|guess| guess.verdict.err());
/// for mismatch in impossible {
///     println!("{mismatch}"); // 1 would be of 1970-01-01T00:00:00Z, before the system existed
/// }
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Mismatch {
    /// This ID has bits that the layout never sets.
    Bits(Id),
    /// This ID would be from this time (Unix milliseconds), when the system did not exist yet.
    TooOld(Id, i64),
    /// This ID would be from this time (Unix milliseconds), which has not come yet.
    Future(Id, i64),
}

/// Says which ID it was.
impl fmt::Display for Mismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let time = |unix_ms| crate::Rfc3339::with_fewest_digits(unix_ms);
        match *self {
            Self::Bits(id) => write!(f, "{id} has bits that it never sets"),
            Self::TooOld(id, unix_ms) => {
                write!(f, "{id} would be of {}, before the system existed", time(unix_ms))
            }
            Self::Future(id, unix_ms) => {
                write!(f, "{id} would be of {}, in the future", time(unix_ms))
            }
        }
    }
}

/// Judges every preset by these IDs, the likeliest first, and the impossible ones last. The more IDs of one system, the
/// surer; their order matters little. `now` is in Unix milliseconds; IDs of up to a day later are not of the future.
///
/// This is a guess: what is counted is how many bits it takes to write the IDs down if one knows the system's habits:
/// recent times, few nodes, and sequence numbers that begin at 0 in every tick, take fewer. IDs of another epoch or
/// layout than a preset's look like some preset, or like none.
#[must_use]
pub fn guess(ids: &[Id], now: i64) -> Vec<Guess> {
    let mut guesses: Vec<Guess> = Layout::presets()
        .iter()
        .map(|&(name, layout)| {
            let described = Habits::of(name, &layout).describe(ids, &layout, now);
            let verdict = described.map(Costs::sum);
            Guess { name, layout, verdict, costs: described.unwrap_or_default() }
        })
        .collect();
    guesses.sort_by_key(|guess| guess.verdict.unwrap_or(u64::MAX));
    guesses
}

/// One bit, in the unit of costs.
const BIT: u64 = 16;
const DAY: i64 = 86_400_000;
const HOUR: u64 = 3_600_000;

/// What the numbers of a field usually are.
#[derive(Clone, Copy)]
enum Numbers {
    Small,
    Random,
    /// Some systems', or some of their users', are small and some are not.
    Either,
    /// One of these, as a rule.
    Known(&'static [u64]),
}

/// What is known of a system besides its layout.
struct Habits {
    /// Unix milliseconds.
    born: i64,
    /// In bits: what it costs that the system is rarely met.
    rare: u64,
    /// Of the datacenter and the worker, or of the node and nothing.
    node: [Numbers; 2],
    sequence: Numbers,
}

impl Habits {
    fn of(preset: &str, layout: &Layout) -> Self {
        use Numbers::{Either, Known, Random, Small};
        // flake-idgen and its like; before, nobody counted from 1970.
        const YEAR_2013: i64 = 1_356_998_400_000;
        // Release 2.0.0.
        const MASTODON_2: i64 = 1_506_816_000_000;
        // Those of published tweets.
        const OF_TWITTER: &[u64] = &[1, 10, 11];
        let epoch = layout.epoch();
        let (born, rare, node, sequence) = match preset {
            "twitter" => (epoch, 0, [Known(OF_TWITTER), Random], Small),
            "discord" => (epoch, 1, [Small, Small], Either),
            "flakeid" => (YEAR_2013, 2, [Either, Either], Small),
            "plain" => (YEAR_2013, 2, [Either, Small], Small),
            "sonyflake" => (epoch, 1, [Random, Small], Small),
            "mastodon" => (MASTODON_2, 1, [Small, Small], Random),
            "instagram" => (epoch, 3, [Either, Small], Random),
            "tsid" => (epoch, 4, [Random, Small], Random),
            "pgedge" => (epoch, 8, [Small, Small], Small),
            "cosid" => (epoch, 6, [Either, Small], Small),
            "js-safe" => (epoch, 0, [Small, Small], Either),
            _ => (epoch, 5, [Either, Small], Either),
        };
        Self { born, rare, node, sequence }
    }

    /// How much it takes to write the IDs down, one after the other.
    fn describe(&self, ids: &[Id], layout: &Layout, now: i64) -> Result<Costs, Mismatch> {
        let mut costs = Costs::default();
        costs.add(Aspect::Rarity, self.rare * BIT);
        let mut nodes: Vec<u64> = Vec::new();
        let mut last: Option<Parts> = None;
        let mut oldest: Option<u64> = None;
        for &id in ids {
            let parts = layout.unpack(id).map_err(|_| Mismatch::Bits(id))?;
            if parts.unix_ms < self.born {
                return Err(Mismatch::TooOld(id, parts.unix_ms));
            }
            if parts.unix_ms > now.saturating_add(DAY) {
                return Err(Mismatch::Future(id, parts.unix_ms));
            }
            let mut sequence = cost_of(self.sequence, parts.sequence, width(layout.max_sequence()));
            let age = now.saturating_sub(parts.unix_ms).max(0).cast_unsigned();
            oldest = Some(oldest.unwrap_or(0).max(age));
            if let Some(last) = &last {
                costs.add(Aspect::Time, 5 * BIT + log2(parts.tick.abs_diff(last.tick) + 1));
                if parts.sequence == last.sequence + 1 {
                    sequence = sequence.min(BIT);
                }
            }
            costs.add(Aspect::Sequence, sequence + BIT);
            if nodes.contains(&parts.node) {
                costs.add(Aspect::Node, log2(nodes.len() as u64));
            } else {
                costs.add(Aspect::Node, self.cost_of_node(&parts, layout));
                // So many are enough to know that there is no pattern.
                if nodes.len() < 64 {
                    nodes.push(parts.node);
                }
            }
            last = Some(parts);
        }
        // Age counts once, and beyond that only how far each ID is from the one before. If each paid for its own age,
        // the preset with the latest epoch would win where IDs are of several years.
        if let Some(age) = oldest {
            costs.add(Aspect::Time, log2((age + HOUR) / layout.unit_ms()));
        }
        Ok(costs)
    }

    fn cost_of_node(&self, parts: &Parts, layout: &Layout) -> u64 {
        let [first, second] = self.node;
        match (parts.datacenter, parts.worker, layout.max_datacenter_and_worker()) {
            (Some(datacenter), Some(worker), Some((most, most_workers))) => {
                cost_of(first, datacenter, width(most))
                    + cost_of(second, worker, width(most_workers))
            }
            _ => cost_of(first, parts.node, width(layout.max_node())),
        }
    }
}

/// What a number costs in a field of so many bits.
fn cost_of(numbers: Numbers, value: u64, width: u64) -> u64 {
    // As in the codes of Elias: a number costs twice its length.
    let small = BIT + 2 * log2(value + 1);
    let any = width * BIT;
    match numbers {
        Numbers::Small => small.min(any + 4 * BIT),
        Numbers::Random => any,
        Numbers::Either => small.min(any) + BIT,
        Numbers::Known(values) if values.contains(&value) => 2 * BIT,
        Numbers::Known(_) => any + 2 * BIT,
    }
}

fn width(most: u64) -> u64 {
    u64::from(u64::BITS - most.leading_zeros())
}

/// The logarithm of a number, in sixteenths: from 0 for 0 and 1. Between powers of two it is a straight line, which
/// is at most a tenth of a bit too low.
fn log2(number: u64) -> u64 {
    let Some(whole) = number.checked_ilog2() else { return 0 };
    let fraction = (u128::from(number) << 4 >> whole) as u64 & 15;
    u64::from(whole) * BIT + fraction
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn logarithms() {
        for (number, sixteenths) in [(0, 0), (1, 0), (2, 16), (3, 24), (1024, 160), (1536, 168)] {
            assert_eq!(log2(number), sixteenths, "{number}");
        }
        assert_eq!(log2(u64::MAX), 63 * 16 + 15);
    }

    #[test]
    fn every_id_has_as_many_verdicts_as_there_are_presets() {
        let most = Id::from_u64(u64::MAX);
        for (ids, now) in [(&[][..], 0), (&[most], i64::MAX), (&[most, Id::from_u64(0)], i64::MIN)]
        {
            assert_eq!(guess(ids, now).len(), Layout::presets().len());
        }
        let fits = guess(&[], 0).iter().filter(|guess| guess.verdict.is_ok()).count();
        assert_eq!(fits, Layout::presets().len(), "nothing speaks against any");
    }
}
