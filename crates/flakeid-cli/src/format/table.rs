//! Text tables with aligned columns.

use std::fmt::Write as _;

use anstyle::Style;

use super::BOLD;

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Align {
    Left,
    Right,
}

/// The spaces between adjacent columns.
const GAP: &str = "  ";

pub(crate) struct Table {
    columns: Vec<(&'static str, Align)>,
    rows: Vec<Row>,
}

struct Row {
    cells: Vec<String>,
    style: Style,
    /// A line of text that is printed below the cells of the row.
    below: Option<String>,
}

impl Table {
    pub(crate) fn new(columns: &[(&'static str, Align)]) -> Self {
        Self { columns: columns.to_vec(), rows: Vec::new() }
    }

    pub(crate) fn row(&mut self, cells: Vec<String>, style: Style, below: Option<String>) {
        self.rows.push(Row { cells, style, below });
    }

    fn widths(&self) -> Vec<usize> {
        let width = |column: usize| {
            let cells = self.rows.iter().map(|row| row.cells[column].chars().count());
            cells.chain([self.columns[column].0.len()]).max().unwrap_or(0)
        };
        (0..self.columns.len()).map(width).collect()
    }

    /// Returns the width of the table in characters. The lines that are printed below rows do not
    /// count.
    pub(crate) fn width(&self) -> usize {
        self.widths().iter().sum::<usize>() + GAP.len() * self.columns.len().saturating_sub(1)
    }

    pub(crate) fn render(&self) -> String {
        let widths = self.widths();
        let titles = self.columns.iter().map(|(title, _)| *title);
        let mut text = self.line(titles, &widths, BOLD);
        for row in &self.rows {
            text += &self.line(row.cells.iter().map(String::as_str), &widths, row.style);
            if let Some(below) = &row.below {
                let style = row.style;
                let _ = writeln!(text, "  {style}{below}{style:#}");
            }
        }
        text
    }

    fn line<'a>(
        &self,
        cells: impl Iterator<Item = &'a str>,
        widths: &[usize],
        style: Style,
    ) -> String {
        let mut line = String::new();
        for (index, cell) in cells.enumerate() {
            if index > 0 {
                line += GAP;
            }
            let width = widths[index];
            let _ = match self.columns[index].1 {
                Align::Left => write!(line, "{cell:<width$}"),
                Align::Right => write!(line, "{cell:>width$}"),
            };
        }
        format!("{style}{}{style:#}\n", line.trim_end())
    }
}
