//! What is printed: sections of Markdown, and the targets at their end.

use std::fmt::{self, Display};

use crate::sample::Samples;

/// Three kinds of figures that are often taken for one another.
#[derive(Clone, Copy)]
pub(crate) enum Kind {
    Ceiling,
    Cost,
    Borrowed,
}

impl Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Ceiling => "the layout's ceiling",
            Self::Cost => "CPU cost per ID",
            Self::Borrowed => "IDs borrowed from the future",
        })
    }
}

/// One table with its caption and footnotes.
pub(crate) struct Section {
    pub(crate) title: &'static str,
    pub(crate) kind: String,
    pub(crate) header: Vec<&'static str>,
    pub(crate) rows: Vec<Vec<String>>,
    pub(crate) notes: Vec<String>,
    pub(crate) targets: Vec<Target>,
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

/// The first column is text, the others are figures.
fn table(f: &mut fmt::Formatter<'_>, header: &[&str], rows: &[Vec<String>]) -> fmt::Result {
    writeln!(f, "| {} |", header.join(" | "))?;
    writeln!(f, "|---{}|", "|---:".repeat(header.len() - 1))?;
    for row in rows {
        writeln!(f, "| {} |", row.join(" | "))?;
    }
    Ok(())
}

/// A promise of the project, and what was measured.
pub(crate) struct Target {
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
    fn met(&self) -> bool {
        match self.bound {
            Bound::AtMost(limit) => self.measured <= limit,
            Bound::AtLeast(limit) => self.measured >= limit,
        }
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

pub(crate) fn print_targets(sections: &[Section]) {
    println!("## Targets\n");
    for target in sections.iter().flat_map(|section| &section.targets) {
        println!("{target}");
    }
}

/// A ratio as a cell.
pub(crate) fn ratio(of: &Samples, to: &Samples) -> String {
    let median = of.over(to).median();
    if median.is_nan() { "–".to_owned() } else { format!("{median:.2}") }
}

/// `median` and `min..max` as two cells.
pub(crate) fn spread(samples: &Samples, decimals: usize) -> [String; 2] {
    let (median, min, max) = (samples.median(), samples.min(), samples.max());
    if median.is_nan() {
        return ["–".to_owned(), "–".to_owned()];
    }
    [format!("{median:.decimals$}"), format!("{min:.decimals$}..{max:.decimals$}")]
}
