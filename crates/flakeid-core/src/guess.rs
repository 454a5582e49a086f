//! Guesses which system generated an ID. The module computes a cost for each preset: the number of bits that are
//! required to describe the ID with the layout and the typical values of that preset. The preset with the lowest cost
//! is the likeliest.

use alloc::vec::Vec;
use core::fmt;

use crate::layout::{Layout, PRESETS};
use crate::{Id, Parts};

/// The result for one preset: how well the preset explains the given IDs.
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
    /// The name of the preset.
    pub name: &'static str,
    /// The layout of the preset.
    pub layout: Layout,
    /// The cost of describing the IDs with this preset, in sixteenths of a bit, or the reason why the IDs cannot belong
    /// to this preset. A lower cost means a likelier preset.
    pub verdict: Result<u64, Mismatch>,
    costs: Costs,
}

impl Guess {
    /// Returns the strongest argument against this preset: the aspect whose cost exceeds the cost in `best` by the
    /// largest amount. Returns `None` if no aspect costs more, or if the IDs cannot belong to this preset.
    #[must_use]
    pub fn weakness(&self, best: &Self) -> Option<Aspect> {
        if self.verdict.is_err() {
            return None;
        }
        let more = |(of_this, of_best): (u64, u64)| of_this.saturating_sub(of_best);
        let all = Aspect::ALL.into_iter().zip(self.costs.0.into_iter().zip(best.costs.0).map(more));
        all.filter(|(_, more)| *more > 0).max_by_key(|(_, more)| *more).map(|(aspect, _)| aspect)
    }

    /// Whether this preset is almost as likely as `best`, so that the IDs do not suffice to decide between the two
    /// presets. In this case, the cost is less than 5 bits higher, and the likelihood is more than 1/32 of the
    /// likelihood of `best`.
    #[must_use]
    pub fn is_as_likely_as(&self, best: &Self) -> bool {
        match (&self.verdict, &best.verdict) {
            (Ok(this), Ok(best)) => *this < best + 5 * BIT,
            _ => false,
        }
    }
}

/// A part of the cost of describing IDs as IDs of a preset.
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
    /// The rarity of the system.
    Rarity,
    /// The times of the IDs.
    Time,
    /// The node numbers.
    Node,
    /// The sequence numbers.
    Sequence,
}

impl Aspect {
    const ALL: [Self; 4] = [Self::Rarity, Self::Time, Self::Node, Self::Sequence];

    /// The name of the aspect: `rarity`, `time`, `node` or `sequence`.
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

/// The cost of each aspect in sixteenths of a bit, in the order of [`Aspect::ALL`].
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

/// The reason why the given IDs cannot belong to a preset.
///
/// ```
/// use flakeid_core::{Id, guess};
///
/// let guesses = guess(&[Id::from_u64(1)], 1_800_000_000_000);
/// let impossible = guesses.iter().filter_map(|guess| guess.verdict.err());
/// for mismatch in impossible {
///     println!("{mismatch}"); // 1 would be from 1970-01-01T00:00:00Z, which is before the system existed
/// }
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Mismatch {
    /// The ID has a bit set that the layout never sets.
    Bits(Id),
    /// The ID's time, in Unix milliseconds, would precede the first use of the system.
    TooOld(Id, i64),
    /// The ID's time, in Unix milliseconds, would be in the future.
    Future(Id, i64),
}

/// Writes the ID and the reason for the mismatch.
impl fmt::Display for Mismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let time = |unix_ms| crate::Rfc3339::with_fewest_digits(unix_ms);
        match *self {
            Self::Bits(id) => write!(f, "{id} has bits set that this layout never sets"),
            Self::TooOld(id, unix_ms) => {
                write!(
                    f,
                    "{id} would be from {}, which is before the system existed",
                    time(unix_ms)
                )
            }
            Self::Future(id, unix_ms) => {
                write!(f, "{id} would be from {}, which is in the future", time(unix_ms))
            }
        }
    }
}

/// Rates how well each preset explains the given IDs. Returns the likeliest preset first and the impossible presets
/// last. `now` is the current time, in Unix milliseconds. An ID counts as a future ID only if its time is more than a
/// day after `now`.
///
/// The result is a guess. The cost of a preset is the number of bits that are required to describe the IDs, given the
/// typical properties of the system. Recent times, few nodes, and sequence numbers that begin at 0 in every tick
/// require fewer bits. More IDs from one system make the result more reliable, and the order of the IDs matters little.
/// If no preset has the epoch and the layout of the IDs, the guess may name a wrong preset or no preset.
#[must_use]
pub fn guess(ids: &[Id], now: i64) -> Vec<Guess> {
    let mut guesses: Vec<Guess> = PRESETS
        .iter()
        .map(|&(name, layout, habits)| {
            let described = habits.describe(ids, &layout, now);
            let verdict = described.map(Costs::sum);
            Guess { name, layout, verdict, costs: described.unwrap_or_default() }
        })
        .collect();
    guesses.sort_by_key(|guess| guess.verdict.unwrap_or(u64::MAX));
    guesses
}

/// The number of cost units in one bit. Costs are in sixteenths of a bit.
const BIT: u64 = 16;
const DAY: i64 = 86_400_000;
const HOUR: u64 = 3_600_000;

/// The kind of numbers that a field typically contains.
#[derive(Clone, Copy)]
pub(crate) enum Numbers {
    Small,
    Random,
    /// Numbers that are either small or arbitrary, depending on the system or on the user of the system.
    Either,
    /// Numbers that are usually in this list.
    Known(&'static [u64]),
}

/// The properties of a system apart from its layout.
#[derive(Clone, Copy)]
pub(crate) struct Habits {
    /// The instant at which the system was first used, in Unix milliseconds.
    pub(crate) born: i64,
    /// The additional cost of a rare system, in bits.
    pub(crate) rare: u64,
    /// The typical numbers in the datacenter field and in the worker field. The first entry also applies to an unsplit
    /// node.
    pub(crate) node: [Numbers; 2],
    pub(crate) sequence: Numbers,
}

impl Habits {
    /// Returns the cost of describing the IDs in the given order.
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
                // At most 64 nodes are collected, because 64 different nodes show no pattern.
                if nodes.len() < 64 {
                    nodes.push(parts.node);
                }
            }
            last = Some(parts);
        }
        // The loop has already added each ID's distance from the previous ID. In addition, only the age of the oldest
        // ID is added. If every age were added, the preset with the latest epoch would win for IDs that span several
        // years.
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

/// Returns the cost of a value in a field that has the given width and typically contains the given numbers.
fn cost_of(numbers: Numbers, value: u64, width: u64) -> u64 {
    // The cost of a small number is about twice its length in bits, as in Elias codes.
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

/// Returns the base-2 logarithm of a number, in sixteenths, or 0 for the number 0. The logarithm is interpolated
/// linearly between powers of two and rounded down, so the result is too low by less than 0.15 (2.4 sixteenths).
fn log2(number: u64) -> u64 {
    let Some(whole) = number.checked_ilog2() else { return 0 };
    let fraction = (u128::from(number) << 4 >> whole) as u64 & 15;
    u64::from(whole) * BIT + fraction
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn approximate_log2_grows_linearly_between_powers_of_two() {
        for (number, sixteenths) in [(0, 0), (1, 0), (2, 16), (3, 24), (1024, 160), (1536, 168)] {
            assert_eq!(log2(number), sixteenths, "{number}");
        }
        assert_eq!(log2(u64::MAX), 63 * 16 + 15);
    }

    #[test]
    fn guess_returns_a_verdict_for_every_preset() {
        let most = Id::from_u64(u64::MAX);
        for (ids, now) in [(&[][..], 0), (&[most], i64::MAX), (&[most, Id::from_u64(0)], i64::MIN)]
        {
            assert_eq!(guess(ids, now).len(), Layout::presets().len());
        }
        let fits = guess(&[], 0).iter().filter(|guess| guess.verdict.is_ok()).count();
        assert_eq!(fits, Layout::presets().len(), "every preset is possible");
    }
}
