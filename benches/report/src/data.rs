//! The JSON output of a benchmark.

use serde::Deserialize;

use flakeid_steps::{Failed, files};

/// Measurements of the benchmark of one language.
#[derive(Deserialize)]
pub(crate) struct Suite {
    #[serde(rename = "suite")]
    pub(crate) name: String,
    /// Facts about the machine on which the figures depend.
    pub(crate) facts: Vec<String>,
    pub(crate) rows: Vec<Row>,
    pub(crate) targets: Vec<Target>,
}

#[derive(Deserialize)]
pub(crate) struct Row {
    /// Identifier that is the same in every run.
    pub(crate) id: String,
    pub(crate) table: String,
    pub(crate) label: String,
    /// Role in the chart, if the row is part of it.
    pub(crate) role: Option<Role>,
    pub(crate) kind: Kind,
    pub(crate) unit: String,
    /// Median, missing if the machine was too busy to measure it.
    pub(crate) median: Option<f64>,
    pub(crate) min: Option<f64>,
    pub(crate) max: Option<f64>,
    /// Ratio to the floor in the same rounds.
    pub(crate) ratio: Option<f64>,
}

#[derive(Clone, Copy, Deserialize, PartialEq, Eq, Debug)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Role {
    Floor,
    Ours,
    Rival,
}

/// The three kinds of figures, which are easily confused, and `Other`.
#[derive(Clone, Copy, Deserialize, PartialEq, Eq, Debug)]
pub(crate) enum Kind {
    #[serde(rename = "the layout's ceiling")]
    Ceiling,
    #[serde(rename = "CPU cost per ID")]
    Cost,
    #[serde(rename = "IDs borrowed from the future")]
    Borrowed,
    #[serde(rename = "none of the three")]
    Other,
}

impl Kind {
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Ceiling => "the layout's ceiling",
            Self::Cost => "CPU cost per ID",
            Self::Borrowed => "IDs borrowed from the future",
            Self::Other => "none of the three",
        }
    }
}

#[derive(Deserialize)]
pub(crate) struct Target {
    pub(crate) id: String,
    pub(crate) what: String,
    /// `at most` or `at least`.
    pub(crate) bound: String,
    pub(crate) limit: f64,
    pub(crate) measured: Option<f64>,
    pub(crate) met: bool,
}

impl Suite {
    pub(crate) fn read(file: &str) -> Result<Self, Failed> {
        Self::parse(&files::text(file)?).map_err(|error| Failed(format!("{file}: {error}")))
    }

    fn parse(text: &str) -> serde_json::Result<Self> {
        serde_json::from_str(text)
    }

    /// Returns the rows of the chart with their ratios.
    pub(crate) fn charted(&self) -> impl Iterator<Item = (&Row, Role, f64)> {
        self.rows.iter().filter_map(|row| Some((row, row.role?, row.ratio?)))
    }
}

/// Returns the median, or not a number for an empty slice.
pub(crate) fn median(numbers: &[f64]) -> f64 {
    let mut sorted = numbers.to_vec();
    sorted.sort_by(f64::total_cmp);
    match sorted.len() {
        0 => f64::NAN,
        n if n % 2 == 1 => sorted[n / 2],
        n => f64::midpoint(sorted[n / 2 - 1], sorted[n / 2]),
    }
}

#[cfg(test)]
pub(crate) fn suite_of(name: &str, rows: &[(&str, Role, f64)]) -> Suite {
    let rows = rows
        .iter()
        .map(|&(label, role, ratio)| Row {
            id: label.to_owned(),
            table: "One ID".to_owned(),
            label: label.to_owned(),
            role: Some(role),
            kind: Kind::Cost,
            unit: "ns".to_owned(),
            median: Some(ratio * 30.0),
            min: Some(ratio * 29.0),
            max: Some(ratio * 31.0),
            ratio: Some(ratio),
        })
        .collect();
    Suite { name: name.to_owned(), facts: Vec::new(), rows, targets: Vec::new() }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests only")]

    use super::*;

    const ROW: &str = r#"{"id": "a", "table": "One ID", "label": "flakeid", "role": "ours",
        "kind": "CPU cost per ID", "unit": "ns", "median": 30.5, "min": 30, "max": null,
        "ratio": 1.02}"#;

    fn suite(row: &str) -> serde_json::Result<Suite> {
        Suite::parse(&format!(
            r#"{{"suite": "Rust", "facts": ["Load: 0"], "rows": [{row}], "targets": [
            {{"id": "R1", "what": "x", "bound": "at most", "limit": 1, "measured": null,
              "met": false}}]}}"#
        ))
    }

    #[test]
    fn benchmark_results_with_missing_values_are_parsed() {
        let suite = suite(ROW).unwrap();
        let row = &suite.rows[0];
        assert_eq!((row.median, row.min, row.max), (Some(30.5), Some(30.0), None));
        assert_eq!((row.role, row.kind), (Some(Role::Ours), Kind::Cost));
        assert_eq!(suite.targets[0].measured, None);
        assert_eq!(suite.charted().count(), 1);
    }

    #[test]
    fn measurement_without_a_valid_kind_is_rejected() {
        assert!(suite(&ROW.replace("CPU cost per ID", "fast")).is_err());
        assert!(suite(&ROW.replace("\"kind\": \"CPU cost per ID\",", "")).is_err());
    }

    #[test]
    fn chart_omits_rows_without_a_ratio_or_role() {
        assert_eq!(suite(&ROW.replace("1.02", "null")).unwrap().charted().count(), 0);
        assert_eq!(suite(&ROW.replace("\"ours\"", "null")).unwrap().charted().count(), 0);
    }

    #[test]
    fn median_is_correct_for_lists_of_any_length() {
        assert!(median(&[]).is_nan());
        assert!((median(&[3.0, 1.0, 2.0]) - 2.0).abs() < 1e-9);
        assert!((median(&[4.0, 1.0, 2.0, 3.0]) - 2.5).abs() < 1e-9);
    }
}
