//! The statistics of many IDs, as JSON.

use flakeid_core::{Id, Layout, Statistics};
use serde::Serialize;

use crate::layout_name;

/// The statistics that consist of a single value each. The JSON keys are in the same order as the fields.
///
/// ```
/// use flakeid_core::{Id, Layout, Statistics};
/// use flakeid_json::FiguresJson;
///
/// let mut statistics = Statistics::new(Layout::TWITTER);
/// for id in [1_541_815_603_606_036_480, 1_541_815_603_606_036_481] {
///     statistics.add(Id::from_u64(id))?;
/// }
/// let json = serde_json::to_value(FiguresJson::new(&statistics, &Layout::TWITTER, None))?;
/// assert_eq!((&json["count"], &json["largest_sequence"]), (&2.into(), &1.into()));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Serialize)]
pub struct FiguresJson {
    count: u64,
    layout: String,
    first: Option<String>,
    last: Option<String>,
    from: Option<String>,
    to: Option<String>,
    /// The number of repeated IDs; `null` if the repeated IDs were not counted.
    repeats: Option<u64>,
    steps_back: u64,
    longest_step_back_ms: u64,
    longest_gap_ms: u64,
    largest_sequence: u64,
    full_ticks: u64,
}

impl FiguresJson {
    /// Collects the statistics of all IDs added so far. Pass the result of [`Statistics::repeats`] as `repeats`, or
    /// `None` to avoid the cost of sorting the IDs.
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

/// The statistics of many IDs, with every node and period. The JSON keys are in the same order as the fields.
///
/// ```
/// use flakeid_core::{Id, Layout, Statistics};
/// use flakeid_json::StatsJson;
///
/// let mut statistics = Statistics::new(Layout::TWITTER);
/// for id in [1_541_815_603_606_036_480, 1_541_815_603_606_036_481] {
///     statistics.add(Id::from_u64(id))?;
/// }
/// let json = serde_json::to_value(StatsJson::new(&mut statistics, &Layout::TWITTER))?;
/// assert_eq!((&json["repeats"], &json["nodes"][0][1]), (&0.into(), &2.into()));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
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
    /// Collects the statistics of all IDs added so far, including the number of repeated IDs. Counting repeated IDs may
    /// require sorting all IDs.
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
