//! What members of a fleet have noticed.

use std::collections::BTreeMap;
use std::fmt::{self, Display, Formatter};
use std::io;

/// The figures of one member.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Member {
    /// The longest time without an ID after its first one, in milliseconds.
    pub(super) longest_ms: u64,
    /// How late it woke up from a sleep at most, in milliseconds, because the machine was busy.
    pub(super) late_ms: u64,
    /// How often it took another node.
    pub(super) moves: u64,
    pub(super) renewed: u64,
    /// Requests that failed, and calls for an ID that did, but for those of the next field.
    pub(super) failed: u64,
    /// How often it was told that no node is free.
    pub(super) no_free_node: u64,
    /// Failures by the code of their error.
    pub(super) texts: BTreeMap<String, u64>,
}

impl Member {
    pub(super) fn to_text(&self) -> String {
        let Self { longest_ms, late_ms, moves, renewed, failed, no_free_node, texts } = self;
        let texts = texts.iter().map(|(code, count)| format!("{count} {code}\n"));
        let numbers = [longest_ms, late_ms, moves, renewed, failed, no_free_node];
        let numbers = numbers.map(ToString::to_string).join(" ");
        std::iter::once(format!("{numbers}\n")).chain(texts).collect()
    }

    pub(super) fn parse(text: &str) -> io::Result<Self> {
        let wrong = || io::Error::other(format!("these are no figures of a member: {text:?}"));
        let mut lines = text.lines();
        let numbers: Result<Vec<u64>, _> =
            lines.next().ok_or_else(wrong)?.split(' ').map(str::parse).collect();
        let numbers: Result<[u64; 6], _> = numbers.map_err(|_| wrong())?.try_into();
        let Ok([longest_ms, late_ms, moves, renewed, failed, no_free_node]) = numbers else {
            return Err(wrong());
        };
        let mut texts = BTreeMap::new();
        for line in lines {
            let (count, code) = line.split_once(' ').ok_or_else(wrong)?;
            texts.insert(code.to_owned(), count.parse().map_err(|_| wrong())?);
        }
        Ok(Self { longest_ms, late_ms, moves, renewed, failed, no_free_node, texts })
    }
}

/// What all members together have noticed.
#[derive(Debug)]
pub(super) struct Measured {
    members: Vec<Member>,
    ids: usize,
    repeated: usize,
    /// The most blocks that were taken at a time, of all that there are.
    most_blocks: (usize, u64),
}

/// The longest time without an ID that is allowed, in milliseconds.
const LONGEST_MS: u64 = 1_000;

impl Measured {
    pub(super) fn new(
        mut members: Vec<Member>,
        mut ids: Vec<u64>,
        most_blocks: (usize, u64),
    ) -> Self {
        members.sort_unstable_by_key(|member| member.longest_ms);
        let issued = ids.len();
        ids.sort_unstable();
        ids.dedup();
        Self { members, ids: issued, repeated: issued - ids.len(), most_blocks }
    }

    /// Whether no ID was repeated, nobody was told that no node is free, and every member had an ID in
    /// each second.
    pub(super) fn is_good(&self) -> bool {
        let fails = |member: &Member| member.longest_ms > LONGEST_MS || member.no_free_node > 0;
        self.repeated == 0 && self.ids > 0 && !self.members.iter().any(fails)
    }

    /// The failures of all members, by the code of their error.
    pub(super) fn failures(&self) -> BTreeMap<&str, u64> {
        let mut all = BTreeMap::new();
        for (code, count) in self.members.iter().flat_map(|member| &member.texts) {
            *all.entry(code.as_str()).or_default() += count;
        }
        all
    }
}

impl Display for Measured {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        let Self { members, ids, repeated, most_blocks: (taken, blocks) } = self;
        let seconds = |ms: u64| ms as f64 / 1_000.0;
        let longest = members.last().map_or(0, |member| member.longest_ms);
        let of_most = members.get((members.len() * 99).div_ceil(100).saturating_sub(1));
        let of_most = of_most.map_or(0, |member| member.longest_ms);
        let moved = members.iter().filter(|member| member.moves > 0).count();
        let sum = |count: fn(&Member) -> u64| members.iter().map(count).sum::<u64>();
        write!(
            formatter,
            "{ids} | {repeated} | {:.2} | {:.2} | {:.2} | {} ({moved}) | {} | {} | {taken} of {blocks} | {}",
            seconds(longest),
            seconds(of_most),
            seconds(members.iter().map(|member| member.late_ms).max().unwrap_or(0)),
            sum(|member| member.moves),
            sum(|member| member.renewed),
            sum(|member| member.failed),
            sum(|member| member.no_free_node),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_read_as_they_were_written() {
        let texts = [("FLAKEID_STORE_UNAVAILABLE".to_owned(), 3)].into();
        let member = Member {
            longest_ms: 1,
            late_ms: 6,
            moves: 2,
            renewed: 3,
            failed: 4,
            no_free_node: 5,
            texts,
        };
        assert_eq!(Member::parse(&member.to_text()).ok(), Some(member));
        assert!(Member::parse("1 6 2 3 4").is_err());
    }

    #[test]
    fn repeated_ids_long_gaps_and_exhausted_nodes_are_failures() {
        let member = |longest_ms| Member { longest_ms, moves: 1, renewed: 7, ..Member::default() };
        let good = Measured::new(vec![member(900), member(20)], vec![1, 2, 3], (2, 64));
        assert!(good.is_good());
        assert_eq!(good.to_string(), "3 | 0 | 0.90 | 0.90 | 0.00 | 2 (2) | 14 | 0 | 2 of 64 | 0");
        assert!(!Measured::new(vec![member(1_001)], vec![1], (1, 64)).is_good());
        assert!(!Measured::new(vec![member(20)], vec![1, 2, 1], (1, 64)).is_good());
        let exhausted = Member { no_free_node: 1, ..member(20) };
        assert!(!Measured::new(vec![exhausted], vec![1], (1, 64)).is_good());
    }
}
