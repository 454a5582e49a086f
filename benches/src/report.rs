//! The output: sections of Markdown with the targets at their end, and the same as JSON.

use std::fmt::{self, Display};

use serde_json::{Value, json};

use crate::sample::Samples;

/// The three kinds of figures, which are easily confused, and `Other`.
#[derive(Clone, Copy)]
pub(crate) enum Kind {
    Ceiling,
    Cost,
    Borrowed,
    Other,
}

impl Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Ceiling => "the layout's ceiling",
            Self::Cost => "CPU cost per ID",
            Self::Borrowed => "IDs borrowed from the future",
            Self::Other => "none of the three",
        })
    }
}

/// One figure of one row.
pub(crate) struct Figure {
    pub(crate) label: String,
    /// `floor`, `ours` or `rival` if it is part of the chart.
    pub(crate) role: Option<&'static str>,
    pub(crate) kind: Kind,
    pub(crate) unit: &'static str,
    pub(crate) median: f64,
    pub(crate) min: f64,
    pub(crate) max: f64,
    /// Ratio to the floor of the table in the same rounds, or not a number if the table has no floor.
    pub(crate) ratio: f64,
}

impl Figure {
    pub(crate) fn new(label: &str, kind: Kind, unit: &'static str, samples: &Samples) -> Self {
        let (median, min, max) = (samples.median(), samples.min(), samples.max());
        let label = label.replace(" [^turn]", "");
        Self { label, role: None, kind, unit, median, min, max, ratio: f64::NAN }
    }

    /// Returns a figure that was measured once.
    pub(crate) fn single(label: &str, kind: Kind, unit: &'static str, value: f64) -> Self {
        let mut samples = Samples::new();
        samples.push(value);
        Self::new(label, kind, unit, &samples)
    }

    pub(crate) fn over(mut self, samples: &Samples, floor: &Samples) -> Self {
        self.ratio = samples.over(floor).median();
        self
    }

    pub(crate) fn charted(mut self) -> Self {
        self.role = Some(match self.ratio {
            1.0 => "floor",
            _ if self.label.starts_with("flakeid") => "ours",
            _ => "rival",
        });
        self
    }

    /// Returns the figure as JSON. Not a number becomes `null`.
    fn data(&self, section: &Section) -> Value {
        json!({
            "id": format!("rust.{}.{}", section.id, slug(&format!("{} {}", self.label, self.unit))),
            "table": section.title,
            "label": self.label,
            "role": self.role,
            "kind": self.kind.to_string(),
            "unit": self.unit,
            "median": self.median,
            "min": self.min,
            "max": self.max,
            "ratio": self.ratio,
        })
    }
}

/// Returns the letters and digits of the text, with one hyphen in place of all other characters between them.
fn slug(text: &str) -> String {
    text.to_lowercase()
        .split(|character: char| !character.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .collect::<Vec<_>>()
        .join("-")
}

/// One table with its caption and footnotes.
pub(crate) struct Section {
    /// Name of the table in `--only`.
    pub(crate) id: &'static str,
    pub(crate) title: &'static str,
    pub(crate) kind: String,
    pub(crate) header: Vec<&'static str>,
    pub(crate) rows: Vec<Vec<String>>,
    pub(crate) notes: Vec<String>,
    pub(crate) targets: Vec<Target>,
    pub(crate) figures: Vec<Figure>,
}

impl Section {
    /// Returns the number at the start of the title.
    pub(crate) fn number(&self) -> Option<u32> {
        self.title.split_once('.')?.0.parse().ok()
    }
}

impl Display for Section {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "## {}\n\nKind of figures: {}.\n", self.title, self.kind)?;
        table(f, &self.header, &self.rows)?;
        for note in &self.notes {
            writeln!(f, "\n{note}")?;
        }
        Ok(())
    }
}

/// Writes a table whose first column is text and whose other columns are figures.
fn table(f: &mut fmt::Formatter<'_>, header: &[&str], rows: &[Vec<String>]) -> fmt::Result {
    writeln!(f, "| {} |", header.join(" | "))?;
    writeln!(f, "|---{}|", "|---:".repeat(header.len() - 1))?;
    for row in rows {
        writeln!(f, "| {} |", row.join(" | "))?;
    }
    Ok(())
}

/// A performance target of the project, and the measured figure.
pub(crate) struct Target {
    /// Identifier: R1 to R11 and L1 to L3 are numbers of the project, the others name their subjects.
    pub(crate) id: &'static str,
    pub(crate) what: String,
    pub(crate) bound: Bound,
    pub(crate) measured: f64,
}

#[derive(Clone, Copy)]
pub(crate) enum Bound {
    AtMost(f64),
    AtLeast(f64),
}

impl Target {
    pub(crate) fn at_most(
        id: &'static str,
        what: impl Into<String>,
        limit: f64,
        measured: f64,
    ) -> Self {
        Self { id, what: what.into(), bound: Bound::AtMost(limit), measured }
    }

    pub(crate) fn at_least(
        id: &'static str,
        what: impl Into<String>,
        limit: f64,
        measured: f64,
    ) -> Self {
        Self { id, what: what.into(), bound: Bound::AtLeast(limit), measured }
    }

    fn met(&self) -> bool {
        match self.bound {
            Bound::AtMost(limit) => self.measured <= limit,
            Bound::AtLeast(limit) => self.measured >= limit,
        }
    }

    fn data(&self) -> Value {
        let (bound, limit) = match self.bound {
            Bound::AtMost(limit) => ("at most", limit),
            Bound::AtLeast(limit) => ("at least", limit),
        };
        json!({
            "id": self.id,
            "what": self.what,
            "bound": bound,
            "limit": limit,
            "measured": self.measured,
            "met": self.met(),
        })
    }
}

impl Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let bound = match self.bound {
            Bound::AtMost(limit) => format!("≤ {limit}"),
            Bound::AtLeast(limit) => format!("≥ {limit}"),
        };
        let Self { id, what, measured, .. } = self;
        if measured.is_nan() {
            return write!(f, "- {id}: {what} {bound}: **not measured**, the machine was busy");
        }
        let verdict = if self.met() { "met" } else { "**not met**" };
        write!(f, "- {id}: {what} {bound}: measured {measured:.3}, {verdict}")
    }
}

/// Prints all targets, including those without a row.
pub(crate) fn print_targets(sections: &[Section]) {
    println!("## Targets\n");
    for target in sections.iter().flat_map(|section| &section.targets) {
        println!("{target}");
    }
    println!(
        "\nR3 has no row: there is no exact mode for one thread alone; `local()` is for one thread, \
         and late."
    );
}

/// Returns all measurements as JSON for other programs.
pub(crate) fn data(facts: &[String], sections: &[Section]) -> Value {
    let rows: Vec<_> = sections
        .iter()
        .flat_map(|section| section.figures.iter().map(|figure| figure.data(section)))
        .collect();
    let targets: Vec<_> =
        sections.iter().flat_map(|section| &section.targets).map(Target::data).collect();
    json!({ "suite": "Rust", "facts": facts, "rows": rows, "targets": targets })
}

/// Formats a ratio as a cell.
pub(crate) fn ratio(of: &Samples, to: &Samples) -> String {
    let median = of.over(to).median();
    if median.is_nan() { "–".to_owned() } else { format!("{median:.2}") }
}

/// Formats `median` and `min..max` as two cells.
pub(crate) fn spread(samples: &Samples, decimals: usize) -> [String; 2] {
    let (median, min, max) = (samples.median(), samples.min(), samples.max());
    if median.is_nan() {
        return ["–".to_owned(), "–".to_owned()];
    }
    [format!("{median:.decimals$}"), format!("{min:.decimals$}..{max:.decimals$}")]
}
