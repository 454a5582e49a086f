use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::{Value, json};

use crate::audit::Audit;
use crate::board::{Board, Tally};

/// How often a worker may begin, keep and lose a lease without it being a figure of the report.
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

/// What a campaign on one store found.
pub(crate) struct Report {
    pub(crate) store: String,
    pub(crate) seed: u64,
    pub(crate) command: String,
    pub(crate) took: Duration,
    pub(crate) workers: usize,
    pub(crate) faults: BTreeMap<&'static str, u64>,
    /// IDs in each sixth of the time.
    pub(crate) phases: Vec<u64>,
    /// How long it took after the last fault until every worker had issued again; `None` if one
    /// did not.
    pub(crate) healed: Option<Duration>,
    pub(crate) leased: Audit,
    pub(crate) plain: Audit,
    pub(crate) heartbeat: Audit,
    pub(crate) tallies: Vec<(&'static str, u64)>,
    /// What is not as it has to be.
    pub(crate) violations: Vec<String>,
    /// Why nothing is proved, if it is not.
    pub(crate) void: Option<String>,
    /// What could not be done on this machine.
    pub(crate) lacks: Option<String>,
}

impl Report {
    pub(crate) fn tallies(board: &Board) -> Vec<(&'static str, u64)> {
        TALLIES.map(|(tally, name)| (name, board.total(tally))).to_vec()
    }

    pub(crate) fn has_passed(&self) -> bool {
        self.violations.is_empty() && self.void.is_none()
    }

    pub(crate) fn faults(&self) -> u64 {
        self.faults.values().sum()
    }

    /// For people.
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
        println!("  notebooks            {}", count(self.leased.generators));
        for (name, value) in &self.tallies {
            println!("  {name:<20} {}", count(*value));
        }
        let faults = self.faults.iter().map(|(name, times)| format!("{name} {times}"));
        println!("  faults               {}", faults.collect::<Vec<_>>().join(", "));
        let phases = self.phases.iter().map(|ids| count(*ids));
        println!("  IDs in each sixth    {}", phases.collect::<Vec<_>>().join(", "));
        match self.healed {
            Some(healed) => println!("  all issue again      after {:.1} s", healed.as_secs_f32()),
            None => println!("  all issue again      no"),
        }
        println!("  workers, duration    {}, {:.1} s", self.workers, self.took.as_secs_f32());
        println!("  seed, command        {}: {}", self.seed, self.command);
        if let Some(lacks) = &self.lacks {
            println!("  not done here        {lacks}");
        }
        for violation in &self.violations {
            println!("  VIOLATION            {violation}");
        }
        if let Some(void) = &self.void {
            println!("  void                 {void}");
        }
    }

    /// For programs: one line.
    pub(crate) fn json(&self) -> Value {
        let tallies = self.tallies.iter().map(|(name, value)| ((*name).to_owned(), json!(value)));
        json!({
            "store": self.store,
            "seed": self.seed,
            "command": self.command,
            "seconds": self.took.as_secs(),
            "workers": self.workers,
            "ids": self.leased.ids,
            "duplicates": self.leased.duplicates,
            "faults": self.faults(),
            "faults_by_kind": self.faults,
            "phases": self.phases,
            "healed_after_seconds": self.healed.map(|healed| healed.as_secs_f64()),
            "notebooks": self.leased.generators,
            "counts": tallies.collect::<serde_json::Map<_, _>>(),
            "plain": { "ids": self.plain.ids, "duplicates": self.plain.duplicates },
            "heartbeat": { "ids": self.heartbeat.ids, "duplicates": self.heartbeat.duplicates },
            "violations": self.violations,
            "void": self.void,
            "lacks": self.lacks,
        })
    }
}

/// A number with its thousands apart.
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
