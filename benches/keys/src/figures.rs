//! The figures of a run: one sample per round for each measure and kind, printed as Markdown and as JSON.

use std::fmt::Write as _;

use serde_json::{Value, json};

use crate::kind::Kind;

/// A measured property, which has one row in a table of the output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Measure {
    Heap,
    KeyIndex,
    TimeIndex,
    Total,
    Density,
    Batch1,
    Batch16,
    Batch16WithTime,
    SingleDurable1,
    SingleDurable16,
    Single1,
    Single16,
    Records1,
    Images1,
    Records16,
    Images16,
    SingleWal1,
    Splits1,
    Splits16,
    ChangedPages,
    Scan,
    ScanPages,
    Lookup,
    LookupPages,
}

/// The text and the format of a measure.
struct Description {
    /// The identifier in the JSON output, which is the same in every run.
    id: &'static str,
    group: &'static str,
    label: &'static str,
    unit: &'static str,
    decimals: usize,
}

impl Measure {
    const ALL: [Self; 24] = [
        Self::Heap,
        Self::KeyIndex,
        Self::TimeIndex,
        Self::Total,
        Self::Density,
        Self::Batch1,
        Self::Batch16,
        Self::Batch16WithTime,
        Self::SingleDurable1,
        Self::SingleDurable16,
        Self::Single1,
        Self::Single16,
        Self::Records1,
        Self::Images1,
        Self::Records16,
        Self::Images16,
        Self::SingleWal1,
        Self::Splits1,
        Self::Splits16,
        Self::ChangedPages,
        Self::Scan,
        Self::ScanPages,
        Self::Lookup,
        Self::LookupPages,
    ];

    const fn describe(self) -> Description {
        const SIZE: &str = "Size after the load";
        const RATE: &str = "Inserted rows per second";
        const WAL: &str = "WAL";
        const PAGES: &str = "Pages of the primary key's index";
        const QUERIES: &str = "Queries";
        let (id, group, label, unit, decimals) = match self {
            Self::Heap => ("heap", SIZE, "table without indexes", "MiB", 0),
            Self::KeyIndex => ("key_index", SIZE, "index of the primary key", "MiB", 0),
            Self::TimeIndex => ("time_index", SIZE, "index on `created_at`", "MiB", 0),
            Self::Total => ("total", SIZE, "table with these indexes", "MiB", 0),
            Self::Density => {
                ("density", SIZE, "use of the leaf pages of the primary key's index", "%", 1)
            }
            Self::Batch1 => ("batch_1", RATE, "1,000 rows per commit, 1 session", "rows/s", 0),
            Self::Batch16 => ("batch_16", RATE, "1,000 rows per commit, 16 sessions", "rows/s", 0),
            Self::Batch16WithTime => (
                "batch_16_time",
                RATE,
                "1,000 rows per commit, 16 sessions, with the index on `created_at`",
                "rows/s",
                0,
            ),
            Self::SingleDurable1 => {
                ("single_on_1", RATE, "1 row per durable commit, 1 session", "rows/s", 0)
            }
            Self::SingleDurable16 => {
                ("single_on_16", RATE, "1 row per durable commit, 16 sessions", "rows/s", 0)
            }
            Self::Single1 => {
                ("single_off_1", RATE, "1 row per asynchronous commit, 1 session", "rows/s", 0)
            }
            Self::Single16 => {
                ("single_off_16", RATE, "1 row per asynchronous commit, 16 sessions", "rows/s", 0)
            }
            Self::Records1 => {
                ("records_1", WAL, "records, 1,000 rows per commit, 1 session", "bytes/row", 0)
            }
            Self::Images1 => (
                "images_1",
                WAL,
                "full-page images, 1,000 rows per commit, 1 session",
                "bytes/row",
                0,
            ),
            Self::Records16 => {
                ("records_16", WAL, "records, 1,000 rows per commit, 16 sessions", "bytes/row", 0)
            }
            Self::Images16 => (
                "images_16",
                WAL,
                "full-page images, 1,000 rows per commit, 16 sessions",
                "bytes/row",
                0,
            ),
            Self::SingleWal1 => {
                ("single_wal_1", WAL, "all, 1 row per durable commit, 1 session", "bytes/row", 0)
            }
            Self::Splits1 => ("splits_1", PAGES, "splits, 1 session", "splits per 1,000 rows", 2),
            Self::Splits16 => {
                ("splits_16", PAGES, "splits, 16 sessions", "splits per 1,000 rows", 2)
            }
            Self::ChangedPages => {
                ("changed", PAGES, "pages that a commit of 1,000 rows changes", "pages", 0)
            }
            Self::Scan => ("scan", QUERIES, "range of time, 10,000 rows", "ms", 2),
            Self::ScanPages => (
                "scan_pages",
                QUERIES,
                "page accesses for a range of time, 10,000 rows",
                "accesses",
                0,
            ),
            Self::Lookup => ("lookup", QUERIES, "one row by its key, inside the server", "µs", 2),
            Self::LookupPages => {
                ("lookup_pages", QUERIES, "page accesses for one row by its key", "accesses", 2)
            }
        };
        Description { id, group, label, unit, decimals }
    }
}

/// The samples of a run.
pub(crate) struct Figures(Vec<[Vec<f64>; 4]>);

impl Figures {
    pub(crate) fn new() -> Self {
        Self(Measure::ALL.map(|_| Default::default()).into())
    }

    pub(crate) fn record(&mut self, measure: Measure, kind: Kind, value: f64) {
        self.0[measure as usize][kind as usize].push(value);
    }

    fn of(&self, measure: Measure, kind: Kind) -> &[f64] {
        &self.0[measure as usize][kind as usize]
    }

    /// Returns the median ratio to the floor in the same rounds. Full-page images have none, because the floor writes
    /// almost no images.
    fn ratio(&self, measure: Measure, kind: Kind) -> Option<f64> {
        if matches!(measure, Measure::Images1 | Measure::Images16) {
            return None;
        }
        let (samples, floor) = (self.of(measure, kind), self.of(measure, Kind::FLOOR));
        let ratios: Vec<f64> = samples.iter().zip(floor).map(|(own, floor)| own / floor).collect();
        median(&ratios).filter(|ratio| ratio.is_finite())
    }

    /// Returns the tables as Markdown.
    pub(crate) fn markdown(&self) -> String {
        let mut text = String::new();
        let mut group = "";
        for measure in Measure::ALL {
            let description = measure.describe();
            if description.group != group {
                group = description.group;
                let names = Kind::ALL.map(Kind::name).join(" | ");
                let columns = "|---:".repeat(Kind::ALL.len());
                let _ = write!(text, "\n## {group}\n\n| | {names} |\n|---{columns}|\n");
            }
            let cells = Kind::ALL.map(|kind| {
                cell(self.of(measure, kind), self.ratio(measure, kind), description.decimals)
            });
            let Description { label, unit, .. } = description;
            let _ = writeln!(text, "| {label}, {unit} | {} |", cells.join(" | "));
        }
        text
    }

    /// Returns all figures in the format of `benches/report`.
    pub(crate) fn data(&self, facts: &[String]) -> Value {
        let rows: Vec<Value> = Measure::ALL
            .into_iter()
            .flat_map(|measure| Kind::ALL.map(|kind| self.entry(measure, kind)))
            .collect();
        json!({ "suite": "Keys in PostgreSQL", "facts": facts, "rows": rows, "targets": [] })
    }

    fn entry(&self, measure: Measure, kind: Kind) -> Value {
        let samples = self.of(measure, kind);
        let Description { id, label, unit, .. } = measure.describe();
        json!({
            "id": format!("keys.{id}.{}", kind.name()),
            "table": label,
            "label": kind.name(),
            "role": null,
            "kind": "none of the three",
            "unit": unit,
            "median": median(samples),
            "min": samples.iter().copied().reduce(f64::min),
            "max": samples.iter().copied().reduce(f64::max),
            "ratio": self.ratio(measure, kind),
        })
    }
}

/// Formats the median, the range, and the ratio to the floor.
fn cell(samples: &[f64], ratio: Option<f64>, decimals: usize) -> String {
    let Some(median) = median(samples) else { return "–".to_owned() };
    let least = samples.iter().copied().fold(f64::INFINITY, f64::min);
    let most = samples.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let mut cell = number(median, decimals);
    if samples.len() > 1 {
        let _ = write!(cell, " ({}..{})", number(least, decimals), number(most, decimals));
    }
    if let Some(ratio) = ratio {
        let _ = write!(cell, " × {ratio:.2}");
    }
    cell
}

/// Formats a number with commas between thousands.
fn number(value: f64, decimals: usize) -> String {
    let text = format!("{value:.decimals$}");
    let (whole, fraction) = text.split_at(text.find('.').unwrap_or(text.len()));
    let mut grouped = String::new();
    for (index, digit) in whole.chars().enumerate() {
        if index > 0 && (whole.len() - index).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped + fraction
}

/// Returns the median, or `None` without samples.
fn median(samples: &[f64]) -> Option<f64> {
    let mut sorted = samples.to_vec();
    sorted.sort_by(f64::total_cmp);
    let middle = sorted.len() / 2;
    if sorted.len() % 2 == 1 {
        return Some(sorted[middle]);
    }
    Some(f64::midpoint(*sorted.get(middle.checked_sub(1)?)?, sorted[middle]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cell_contains_median_range_and_ratio() {
        assert_eq!(cell(&[], None, 0), "–");
        assert_eq!(cell(&[1_234_567.4], Some(1.0), 0), "1,234,567 × 1.00");
        assert_eq!(cell(&[3.0, 1.0, 2.0], Some(0.5), 1), "2.0 (1.0..3.0) × 0.50");
    }

    #[test]
    fn list_of_measures_is_complete_and_in_the_order_of_the_enum() {
        for (index, measure) in Measure::ALL.into_iter().enumerate() {
            assert_eq!(measure as usize, index, "{measure:?}");
        }
        assert_eq!(Measure::ALL[23], Measure::LookupPages);
    }

    #[test]
    fn ratio_is_the_median_of_the_ratios_of_each_round() {
        let mut figures = Figures::new();
        for (ours, floor) in [(1.0, 1.0), (3.0, 2.0), (8.0, 4.0)] {
            figures.record(Measure::Heap, Kind::Flakeid, ours);
            figures.record(Measure::Heap, Kind::FLOOR, floor);
        }
        assert_eq!(figures.ratio(Measure::Heap, Kind::Flakeid), Some(1.5));
        assert_eq!(figures.ratio(Measure::Heap, Kind::UuidV4), None);
    }
}
