//! The results of a campaign on one store, as text and as JSON.

use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::{Value, json};

use crate::audit::Audit;
use crate::fault::StoreFault;
use crate::shared_memory::{SharedMemory, Tally};

/// The counts that are reported, but not checked.
const TALLIES: [(Tally, &str); 8] = [
    (Tally::Opened, "generators opened"),
    (Tally::Grants, "grants"),
    (Tally::Renewals, "renewals"),
    (Tally::FencedOff, "fenced off"),
    (Tally::Released, "released"),
    (Tally::StoreLost, "store lost"),
    (Tally::Failures, "calls without an ID"),
    (Tally::Forks, "forks"),
];

/// Returns how many faults of a category were injected.
fn times(faults: &BTreeMap<&'static str, u64>, is_in_category: fn(StoreFault) -> bool) -> u64 {
    let counted = StoreFault::ALL.into_iter().filter(|fault| is_in_category(*fault));
    counted.filter_map(|fault| faults.get(fault.name())).sum()
}

/// Returns the reason why a campaign proves nothing, or `None` if it is conclusive.
pub(crate) fn inconclusive(
    plain: &Audit,
    heartbeat: &Audit,
    runs: u64,
    continuations: u64,
) -> Option<String> {
    for (name, control) in [("plain", plain), ("heartbeat", heartbeat)] {
        if control.duplicates == 0 {
            return Some(format!(
                "the control {name} repeated no IDs, so the faults were too weak"
            ));
        }
    }
    (runs > 0 && continuations == 0).then(|| {
        format!(
            "no holder continued although the store was restarted, restored or failed over {runs} times, \
             so the campaign did not test continuation"
        )
    })
}

/// The result of a campaign on one store.
pub(crate) struct Report {
    pub(crate) store: String,
    pub(crate) seed: u64,
    pub(crate) command: String,
    pub(crate) took: Duration,
    pub(crate) workers: usize,
    pub(crate) faults: BTreeMap<&'static str, u64>,
    /// The number of runs that the store began.
    pub(crate) runs: u64,
    /// The number of times that a holder renewed its grant in a later incarnation of the store.
    pub(crate) continuations: u64,
    /// The number of IDs in each phase.
    pub(crate) phases: Vec<u64>,
    /// The time from the last fault until every worker had issued IDs again; `None` if a worker did
    /// not.
    pub(crate) recovered: Option<Duration>,
    pub(crate) leased: Audit,
    pub(crate) plain: Audit,
    pub(crate) heartbeat: Audit,
    pub(crate) tallies: Vec<(&'static str, u64)>,
    /// The violated invariants.
    pub(crate) violations: Vec<String>,
    /// The reason why the campaign proves nothing; `None` if it is conclusive.
    pub(crate) inconclusive: Option<String>,
    /// The faults that cannot be injected on this machine, with the reason.
    pub(crate) unsupported: Option<String>,
}

impl Report {
    pub(crate) fn tallies(shared: &SharedMemory) -> Vec<(&'static str, u64)> {
        TALLIES.map(|(tally, name)| (name, shared.total(tally))).to_vec()
    }

    pub(crate) fn has_passed(&self) -> bool {
        self.violations.is_empty() && self.inconclusive.is_none()
    }

    /// Returns the number of times that the store was restarted or restored.
    fn restarts(&self) -> u64 {
        times(&self.faults, StoreFault::is_restart)
    }

    /// Returns the number of times that another server replaced the server that accepted writes.
    fn failovers(&self) -> u64 {
        times(&self.faults, StoreFault::is_failover)
    }

    pub(crate) fn faults(&self) -> u64 {
        self.faults.values().sum()
    }

    /// Prints the report as text.
    pub(crate) fn print(&self) {
        println!("\n{}: {} IDs, {} faults", self.store, count(self.leased.ids), self.faults());
        println!("  duplicates           {}", count(self.leased.duplicates));
        println!(
            "  controls             plain {} of {}, heartbeat {} of {} IDs repeated",
            count(self.plain.duplicates),
            count(self.plain.ids),
            count(self.heartbeat.duplicates),
            count(self.heartbeat.ids)
        );
        println!("  ID logs              {}", count(self.leased.generators));
        for (name, value) in &self.tallies {
            println!("  {name:<20} {}", count(*value));
        }
        println!(
            "  continuations        {} after {} restarts and {} failovers, {} other runs of the store",
            count(self.continuations),
            self.restarts(),
            self.failovers(),
            self.runs
        );
        let faults = self.faults.iter().map(|(name, times)| format!("{name} {times}"));
        println!("  faults               {}", faults.collect::<Vec<_>>().join(", "));
        let phases = self.phases.iter().map(|ids| count(*ids));
        println!("  IDs in each phase     {}", phases.collect::<Vec<_>>().join(", "));
        match self.recovered {
            Some(recovered) => println!(
                "  all workers issue    {:.1} s after the last fault",
                recovered.as_secs_f32()
            ),
            None => println!("  all workers issue    no"),
        }
        println!("  workers, duration    {}, {:.1} s", self.workers, self.took.as_secs_f32());
        println!("  seed, command        {}: {}", self.seed, self.command);
        if let Some(unsupported) = &self.unsupported {
            println!("  not possible here    {unsupported}");
        }
        for violation in &self.violations {
            println!("  VIOLATION            {violation}");
        }
        if let Some(inconclusive) = &self.inconclusive {
            println!("  INCONCLUSIVE         {inconclusive}");
        }
    }

    /// Returns the report as JSON.
    pub(crate) fn json(&self) -> Value {
        let tallies = self.tallies.iter().map(|(name, value)| ((*name).to_owned(), json!(value)));
        json!({
            "store": self.store,
            "passed": self.has_passed(),
            "seed": self.seed,
            "command": self.command,
            "seconds": self.took.as_secs(),
            "workers": self.workers,
            "ids": self.leased.ids,
            "duplicates": self.leased.duplicates,
            "faults": self.faults(),
            "faults_by_kind": self.faults,
            "restarts": self.restarts(),
            "failovers": self.failovers(),
            "runs": self.runs,
            "continuations": self.continuations,
            "phases": self.phases,
            "recovered_after_seconds": self.recovered.map(|recovered| recovered.as_secs_f64()),
            "id_logs": self.leased.generators,
            "counts": tallies.collect::<serde_json::Map<_, _>>(),
            "plain": { "ids": self.plain.ids, "duplicates": self.plain.duplicates },
            "heartbeat": { "ids": self.heartbeat.ids, "duplicates": self.heartbeat.duplicates },
            "violations": self.violations,
            "inconclusive": self.inconclusive,
            "unsupported": self.unsupported,
        })
    }
}

/// Formats a number with a space between groups of three digits.
fn count(number: u64) -> String {
    let digits = number.to_string();
    let mut shown = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            shown.push(' ');
        }
        shown.push(digit);
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn campaign_that_proves_nothing_is_reported_as_inconclusive() {
        let audit = |duplicates| Audit { duplicates, ..Audit::default() };
        let why = |plain, heartbeat, runs, continuations| {
            inconclusive(&audit(plain), &audit(heartbeat), runs, continuations)
        };
        assert_eq!(why(1, 1, 3, 1), None);
        assert_eq!(why(1, 1, 0, 0), None, "the store was never restarted");
        assert!(why(0, 1, 3, 1).is_some_and(|why| why.contains("plain")));
        assert!(why(1, 0, 3, 1).is_some_and(|why| why.contains("heartbeat")));
        assert!(why(1, 1, 3, 0).is_some_and(|why| why.contains("failed over 3 times")));
    }

    #[test]
    fn store_restarts_and_failovers_are_counted_separately() {
        let faults = [
            ("killed", 5),
            ("store killed", 2),
            ("store restored", 3),
            ("store locked", 7),
            ("failed over", 11),
            ("cut off and replaced", 13),
        ];
        assert_eq!(times(&faults.into(), StoreFault::is_restart), 5);
        assert_eq!(times(&faults.into(), StoreFault::is_failover), 24);
        assert_eq!(times(&BTreeMap::new(), StoreFault::is_restart), 0);
    }
}
