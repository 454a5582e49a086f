//! The results of the primary keys in `PostgreSQL`, and the short table that the guide quotes.

use std::fmt::Write as _;
use std::path::PathBuf;

use clap::Args;
use flakeid_steps::{Failed, Outcome, files};

use crate::data::{Row, Suite};

/// The measures of the short table, in their order.
const QUOTED: [&str; 16] = [
    "heap",
    "key_index",
    "time_index",
    "total",
    "density",
    "batch_1",
    "batch_16",
    "batch_16_time",
    "single_on_1",
    "single_on_16",
    "records_16",
    "images_16",
    "splits_16",
    "changed",
    "scan",
    "lookup",
];

/// The comment at the start of every generated file.
const GENERATED: &str =
    "<!-- Written by `cargo xtask bench keys`. To renew the file, run this command. -->\n\n";

#[derive(Args)]
pub(crate) struct Keys {
    /// Folder of the benchmark's output: keys.json and keys.md.
    #[arg(long)]
    from: PathBuf,
    /// Folder to write to.
    #[arg(long)]
    to: PathBuf,
    /// Duration of the measurements in minutes.
    #[arg(long)]
    minutes: f64,
    /// Arguments of the benchmark. The note is the last one.
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    arguments: Vec<String>,
}

impl Keys {
    pub(crate) fn write(&self, commit: &str) -> Outcome {
        let json = files::text(self.from.join("keys.json"))?;
        let suite = Suite::read(&files::shown(&self.from.join("keys.json"))?)?;
        let printed = files::text(self.from.join("keys.md"))?;
        let command = ["cargo xtask bench keys"]
            .into_iter()
            .chain(self.arguments.iter().map(String::as_str))
            // The facts contain the note.
            .take_while(|argument| *argument != "--note")
            .collect::<Vec<_>>()
            .join(" ");
        let introduction = format!(
            "# Primary keys in PostgreSQL\n\nWritten by `{command}` at commit {commit}, in {:.1} \
            minutes of measuring. Each cell contains the median of all rounds, the smallest and the largest value in \
            parentheses, and after × the median ratio to `bigserial` in the same round. The [README](README.md) \
            describes the measurement.\n\n",
            self.minutes,
        );
        for (name, contents) in [
            ("RESULTS.md", format!("{GENERATED}{introduction}{}\n", printed.trim())),
            ("results.json", json),
            ("table.md", format!("{GENERATED}{}", short_table(&suite)?)),
        ] {
            let path = self.to.join(name);
            files::write(&path, contents)?;
            println!("{}", path.display());
        }
        Ok(())
    }
}

/// Returns a table with one column for each kind of key.
fn short_table(suite: &Suite) -> Result<String, Failed> {
    let mut table = String::new();
    for measure in QUOTED {
        let prefix = format!("keys.{measure}.");
        let rows: Vec<&Row> = suite.rows.iter().filter(|row| row.id.starts_with(&prefix)).collect();
        let Some(first) = rows.first() else {
            return Err(Failed(format!("the results have no measure {measure}")));
        };
        if table.is_empty() {
            let kinds: Vec<&str> = rows.iter().map(|row| row.label.as_str()).collect();
            let columns = "|---:".repeat(kinds.len());
            let _ = write!(table, "| | {} |\n|---{columns}|\n", kinds.join(" | "));
        }
        let cells: Vec<String> = rows.iter().map(|row| cell(row.median)).collect();
        let _ = writeln!(table, "| {}, {} | {} |", first.table, first.unit, cells.join(" | "));
    }
    Ok(table)
}

/// Formats a median with three digits or more, and commas between thousands.
fn cell(median: Option<f64>) -> String {
    let Some(value) = median else { return "–".to_owned() };
    let decimals = match value {
        0.0 => 0,
        ..10.0 => 2,
        ..100.0 => 1,
        _ => 0,
    };
    let text = format!("{value:.decimals$}");
    let whole = text.find('.').unwrap_or(text.len());
    let mut grouped = String::new();
    for (index, character) in text.chars().enumerate() {
        if index > 0 && index < whole && (whole - index).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(character);
    }
    grouped
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::{Role, suite_of};

    #[test]
    fn short_table_has_one_line_for_each_quoted_measure() {
        let ids: Vec<String> = QUOTED
            .iter()
            .flat_map(|measure| ["a", "b"].map(|kind| format!("keys.{measure}.{kind}")))
            .collect();
        let rows: Vec<_> = ids.iter().map(|id| (id.as_str(), Role::Ours, 41.0)).collect();
        let table = short_table(&suite_of("Keys", &rows)).unwrap_or_default();
        assert_eq!(table.lines().count(), 2 + QUOTED.len(), "{table}");
        assert!(table.contains("| One ID, ns | 1,230 | 1,230 |\n"), "{table}");
    }

    #[test]
    fn short_table_fails_without_a_quoted_measure() {
        let suite = suite_of("Keys", &[("keys.heap.a", Role::Ours, 1.0)]);
        let why = short_table(&suite).err().map(|Failed(why)| why);
        assert_eq!(why.as_deref(), Some("the results have no measure key_index"));
    }

    #[test]
    fn cell_has_three_digits_and_commas_between_thousands() {
        assert_eq!(cell(Some(1_234_567.8)), "1,234,568");
        assert_eq!([Some(1.234), Some(12.34), Some(123.4)].map(cell), ["1.23", "12.3", "123"]);
        assert_eq!([Some(0.0), None].map(cell), ["0", "–"]);
    }
}
