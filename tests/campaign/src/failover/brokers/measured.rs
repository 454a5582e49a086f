//! The combined measurements of the members of a fleet.

use std::collections::BTreeMap;
use std::fmt::{self, Display, Formatter};

use serde::{Deserialize, Serialize};

/// The measurements of one member.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
pub(super) struct Member {
    /// The longest time without an ID after the first one, in milliseconds.
    pub(super) longest_ms: u64,
    /// The time until the member had a node, in milliseconds.
    pub(super) first_ms: u64,
    /// The longest delay in waking up from a sleep, in milliseconds, which a busy machine causes.
    pub(super) late_ms: u64,
    /// The number of times that the member took another node.
    pub(super) moves: u64,
    pub(super) renewed: u64,
    /// The number of failed requests and failed calls for an ID, without those of the next field.
    pub(super) failed: u64,
    /// The number of errors because no node was free.
    pub(super) no_free_node: u64,
    /// The number of failures for each error code.
    pub(super) failure_codes: BTreeMap<String, u64>,
}

/// The members of each runtime.
pub(super) type Fleet = Vec<(&'static str, Vec<Member>)>;

/// The combined results of all members.
#[derive(Debug)]
pub(super) struct Measured {
    /// The longest time without an ID for the members of each runtime, in milliseconds.
    longest_ms: Vec<u64>,
    members: Vec<Member>,
    /// The longest time until a member that started during the event had a node, in milliseconds.
    newcomers_ms: Option<u64>,
    ids: usize,
    repeated: usize,
    /// The largest number of blocks that were taken at the same time, and the number of all blocks.
    most_blocks: (usize, u64),
}

/// The longest accepted time without an ID, in milliseconds.
const LONGEST_MS: u64 = 1_000;
/// The longest accepted time until a new member has a node, in milliseconds.
const NEWCOMERS_MS: u64 = 2_000;

impl Measured {
    pub(super) fn new(
        fleet: Fleet,
        newcomers: Fleet,
        mut ids: Vec<u64>,
        most_blocks: (usize, u64),
    ) -> Self {
        let longest = |members: &Vec<Member>| members.iter().map(|member| member.longest_ms).max();
        let longest_ms = fleet.iter().map(|(_, members)| longest(members).unwrap_or(0)).collect();
        let all = |fleet: Fleet| fleet.into_iter().flat_map(|(_, members)| members);
        let newcomers_ms = all(newcomers).map(|member| member.first_ms).max();
        let mut members: Vec<Member> = all(fleet).collect();
        members.sort_unstable_by_key(|member| member.longest_ms);
        let issued = ids.len();
        ids.sort_unstable();
        ids.dedup();
        let repeated = issued - ids.len();
        Self { longest_ms, members, newcomers_ms, ids: issued, repeated, most_blocks }
    }

    /// Whether no ID was repeated, no member lacked a free node, every member had an ID in each
    /// second, and new members had a node soon.
    pub(super) fn is_good(&self) -> bool {
        let fails = |member: &Member| member.longest_ms > LONGEST_MS || member.no_free_node > 0;
        let is_late = self.newcomers_ms.is_some_and(|ms| ms > NEWCOMERS_MS);
        self.repeated == 0 && self.ids > 0 && !is_late && !self.members.iter().any(fails)
    }

    /// Returns the number of failures of all members for each error code.
    pub(super) fn failures(&self) -> BTreeMap<&str, u64> {
        let mut all = BTreeMap::new();
        for (code, count) in self.members.iter().flat_map(|member| &member.failure_codes) {
            *all.entry(code.as_str()).or_default() += count;
        }
        all
    }
}

impl Display for Measured {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        let Self { longest_ms, members, newcomers_ms, ids, repeated, .. } = self;
        let (taken, blocks) = self.most_blocks;
        let seconds = |ms: u64| ms as f64 / 1_000.0;
        let longest: Vec<_> = longest_ms.iter().map(|ms| format!("{:.2}", seconds(*ms))).collect();
        let newcomers = newcomers_ms.map_or("-".into(), |ms| format!("{:.2}", seconds(ms)));
        let of_most = members.get((members.len() * 99).div_ceil(100).saturating_sub(1));
        let of_most = of_most.map_or(0, |member| member.longest_ms);
        let moved = members.iter().filter(|member| member.moves > 0).count();
        let sum = |count: fn(&Member) -> u64| members.iter().map(count).sum::<u64>();
        write!(
            formatter,
            "{ids} | {repeated} | {} | {:.2} | {:.2} | {newcomers} | {} ({moved}) | {} | {} | {taken} of {blocks} | {}",
            longest.join(", "),
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
    fn member_measurements_round_trip_through_json() {
        let failure_codes = [("FLAKEID_STORE_UNAVAILABLE".to_owned(), 3)].into();
        let member = Member {
            longest_ms: 1,
            first_ms: 7,
            late_ms: 6,
            moves: 2,
            renewed: 3,
            failed: 4,
            no_free_node: 5,
            failure_codes,
        };
        let text = serde_json::to_string(&member).unwrap_or_default();
        assert_eq!(serde_json::from_str(&text).ok(), Some(member));
        assert!(serde_json::from_str::<Member>("{\"longest_ms\": 1}").is_err());
    }

    #[test]
    fn long_gaps_or_repeated_ids_or_missing_nodes_count_as_failures() {
        let member = |longest_ms| Member { longest_ms, moves: 1, renewed: 7, ..Member::default() };
        let newcomer = |first_ms| vec![("Rust", vec![Member { first_ms, ..Member::default() }])];
        let fleet = vec![("Rust", vec![member(20), member(900)]), ("Python", vec![member(40)])];
        let good = Measured::new(fleet, newcomer(700), vec![1, 2, 3], (2, 64));
        assert!(good.is_good());
        assert_eq!(
            good.to_string(),
            "3 | 0 | 0.90, 0.04 | 0.90 | 0.00 | 0.70 | 3 (3) | 21 | 0 | 2 of 64 | 0"
        );
        let is_good = |member: Member, newcomers, ids: &[u64]| {
            let fleet = vec![("Rust", vec![member])];
            Measured::new(fleet, newcomers, ids.to_vec(), (1, 64)).is_good()
        };
        assert!(is_good(member(20), Vec::new(), &[1, 2]));
        assert!(!is_good(member(1_001), Vec::new(), &[1]));
        assert!(!is_good(member(20), Vec::new(), &[1, 2, 1]));
        assert!(!is_good(member(20), newcomer(2_001), &[1]));
        assert!(!is_good(Member { no_free_node: 1, ..member(20) }, Vec::new(), &[1]));
    }
}
