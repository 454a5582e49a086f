//! The statistics of many IDs, as JSON.

use flakeid_core::{Id, Layout, Statistics};
use serde::Serialize;

use crate::layout_name;

/// The statistics that consist of one number each. The keys are in this order.
#[derive(Serialize)]
pub struct FiguresJson {
    count: u64,
    layout: String,
    first: Option<String>,
    last: Option<String>,
    from: Option<String>,
    to: Option<String>,
    /// The number of repeated IDs, or `null` if there were too many IDs to count them.
    repeats: Option<u64>,
    steps_back: u64,
    longest_step_back_ms: u64,
    longest_gap_ms: u64,
    largest_sequence: u64,
    full_ticks: u64,
}

impl FiguresJson {
    /// Reads the statistics of all IDs so far. `repeats` is [`Statistics::repeats`], which sorts
    /// the IDs, or `None` to skip that cost.
    #[must_use]
    pub fn new(statistics: &Statistics, layout: &Layout, repeats: Option<u64>) -> Self {
        let time = |id: Option<Id>| {
            let parts = id.and_then(|id| layout.unpack(id).ok());
            parts.map(|parts| layout.timestamp(parts.unix_ms).to_string())
        };
        let (first, last) = statistics.ends().unzip();
        Self {
            count: statistics.count(),
            layout: layout_name(layout),
            first: first.map(|id| id.to_string()),
            last: last.map(|id| id.to_string()),
            from: time(first),
            to: time(last),
            repeats,
            steps_back: statistics.steps_back(),
            longest_step_back_ms: statistics.longest_step_back_ms(),
            longest_gap_ms: statistics.longest_gap().map_or(0, |gap| gap.ms),
            largest_sequence: statistics.largest_sequence(),
            full_ticks: statistics.full_ticks(),
        }
    }
}

/// The statistics of many IDs, with every node and period. The keys are in this order.
#[derive(Serialize)]
pub struct StatsJson {
    #[serde(flatten)]
    figures: FiguresJson,
    nodes: Vec<(u64, u64)>,
    other_nodes: u64,
    period_ms: i64,
    periods: Vec<(i64, u64)>,
}

impl StatsJson {
    /// Reads the statistics of all IDs so far. Counting the repeated IDs sorts the IDs.
    #[must_use]
    pub fn new(statistics: &mut Statistics, layout: &Layout) -> Self {
        let repeats = statistics.repeats();
        Self {
            figures: FiguresJson::new(statistics, layout, repeats),
            nodes: statistics.nodes().collect(),
            other_nodes: statistics.other_nodes(),
            period_ms: statistics.period_ms(),
            periods: statistics.periods().collect(),
        }
    }
}
