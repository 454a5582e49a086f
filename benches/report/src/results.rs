//! `RESULTS.md`: the facts about the run, the figures of the chart, the targets, and all tables.

use crate::data::{Row, Suite, Target};

/// Figures of one language and the Markdown that its benchmark printed.
pub(crate) struct Measured {
    pub(crate) suite: Suite,
    pub(crate) text: String,
}

pub(crate) fn text(measured: &[Measured], commit: &str, minutes: f64, quick: bool) -> String {
    let mut text = String::from("# Results\n\n");
    if quick {
        text.push_str("**A smoke run (`--quick`): these figures mean little.**\n\n");
    }
    let introduction = format!(
        "Written by `cargo xtask bench` at commit {commit}, in {minutes:.1} minutes of measuring. Ratios compare \
        rows of one run and are valid on other machines; nanoseconds apply to this machine at this time. The \
        [README](README.md) explains how to read the tables.\n\n## Machine and versions\n\n",
    );
    text.push_str(&introduction);
    for Measured { suite, .. } in measured {
        for fact in &suite.facts {
            line(&mut text, &format!("- {}: {fact}", suite.name));
        }
    }
    text.push_str("\n## In short\n\n![Cost of an ID in each language](results.svg)\n\n");
    text.push_str("| | | kind | median | min..max | × floor |\n|---|---|---|---:|---:|---:|\n");
    for Measured { suite, .. } in measured {
        for (row, _, ratio) in suite.charted() {
            line(&mut text, &short(&suite.name, row, ratio));
        }
    }
    let targets: Vec<(&str, &Target)> = measured
        .iter()
        .flat_map(|measured| {
            measured.suite.targets.iter().map(|target| (measured.suite.name.as_str(), target))
        })
        .collect();
    targets_of(&mut text, &targets);
    for Measured { suite, text: printed } in measured {
        line(&mut text, &format!("\n## {}\n", suite.name));
        text.push_str(lower(printed).trim());
        text.push('\n');
    }
    text
}

fn line(text: &mut String, line: &str) {
    text.push_str(line);
    text.push('\n');
}

fn short(suite: &str, row: &Row, ratio: f64) -> String {
    let figure = |value: Option<f64>| value.map_or_else(|| "–".to_owned(), |v| format!("{v:.2}"));
    let Row { table, label, kind, unit, median, min, max, .. } = row;
    format!(
        "| {suite}, {table} | {label} | {} | {} {unit} | {}..{} | {ratio:.2} |",
        kind.name(),
        figure(*median),
        figure(*min),
        figure(*max),
    )
}

/// Writes the targets that were missed. The others are listed with the tables of their language.
fn targets_of(text: &mut String, targets: &[(&str, &Target)]) {
    let met = targets.iter().filter(|(_, target)| target.met).count();
    line(text, &format!("\n## Targets\n\n{met} of {} are met. The others:\n", targets.len()));
    for (suite, target) in targets.iter().filter(|(_, target)| !target.met) {
        let Target { id, what, bound, limit, .. } = target;
        let measured = target
            .measured
            .map_or_else(|| "not measured".to_owned(), |value| format!("{value:.3}"));
        line(text, &format!("- {suite}, {id}: {what}, {bound} {limit}: {measured}"));
    }
    if met == targets.len() {
        line(text, "none.");
    }
}

/// Returns the Markdown with every heading one level lower.
fn lower(markdown: &str) -> String {
    let lowered = markdown
        .lines()
        .map(|line| if line.starts_with('#') { format!("#{line}\n") } else { format!("{line}\n") });
    lowered.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::{Role, suite_of};

    fn measured(met: bool) -> Measured {
        let rows = [("F", Role::Floor, 1.0), ("flakeid `next_id`", Role::Ours, 1.04)];
        let mut suite = suite_of("Rust", &rows);
        suite.facts.push("Load: 0.1".to_owned());
        suite.targets.push(Target {
            id: "R1".to_owned(),
            what: "next / F".to_owned(),
            bound: "at most".to_owned(),
            limit: 1.12,
            measured: (!met).then_some(1.5),
            met,
        });
        Measured { suite, text: "- a fact\n\n## 1. One call\n\n| a |\n".to_owned() }
    }

    #[test]
    fn summary_contains_a_complete_row_for_every_measurement() {
        let text = text(&[measured(true)], "abc", 9.5, false);
        let row =
            "| Rust, One ID | flakeid `next_id` | CPU cost per ID | 31.20 ns | 30.16..32.24 |";
        assert!(text.contains(&format!("{row} 1.04 |\n")), "{text}");
        assert!(
            text.contains("- Rust: Load: 0.1\n") && text.contains("commit abc, in 9.5 minutes")
        );
        assert!(text.contains("1 of 1 are met") && !text.contains("smoke"));
    }

    #[test]
    fn missed_target_is_listed_with_its_measured_value() {
        let text = text(&[measured(true), measured(false)], "abc", 1.0, true);
        assert!(text.contains("1 of 2 are met. The others:\n\n- Rust, R1: next / F, at most 1.12"));
        assert!(text.contains(": 1.500\n") && text.contains("smoke run"));
    }

    #[test]
    fn benchmark_output_appears_below_the_heading_of_its_language() {
        let text = text(&[measured(true)], "abc", 1.0, false);
        assert!(text.contains("\n## Rust\n\n- a fact\n\n### 1. One call\n\n| a |\n"), "{text}");
    }
}
