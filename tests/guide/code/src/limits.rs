//! Checks the page of the user guide that lists all limits of a server.

use std::fmt::Write;

use flakeid_server::limits;

use crate::{check_generated, flakeid, read};

#[test]
fn limits_page_lists_exactly_the_limits_of_a_server() {
    let mut table = "\n| limit | option | default | beyond it | counted by `flakeid_…` |\n|---|---|---|---|---|\n".to_owned();
    let metrics = read("reference/metrics");
    for limit in limits() {
        let option = limit.option.map_or("fixed".to_owned(), |option| format!("`--{option}`"));
        let (name, code) = limit.metric.split_once(": ").unwrap_or((limit.metric, ""));
        let mut rows = metrics.lines().map(|line| line.trim_start_matches("| `flakeid_"));
        let is_known = rows.any(|row| {
            let rest = row.strip_prefix(name);
            rest.is_some_and(|rest| rest.starts_with("` |") || rest.starts_with("_total` |"))
        });
        assert!(name.is_empty() || is_known, "{}: the server has no metric {name}", limit.what);
        let metric: Vec<_> = [name, code]
            .iter()
            .filter(|text| !text.is_empty())
            .map(|text| format!("`{text}`"))
            .collect();
        let metric = metric.join(": ");
        let (what, default, beyond) = (limit.what, limit.default, limit.beyond);
        writeln!(table, "| {what} | {option} | {default} | {beyond} | {metric} |").unwrap();
    }
    check_generated("reference/limits", "limits_page", &table);
}

/// The command passes its own defaults to the library, so both must be the same.
#[test]
fn help_of_the_command_shows_the_defaults_of_the_library() {
    let help = flakeid(&["serve", "--help"]);
    let mut compared = 0;
    for limit in limits() {
        let Some(option) = limit.option else { continue };
        let (_, rest) = help.split_once(&format!("\n      --{option} ")).unwrap();
        let of_option = rest.split("\n      --").next().unwrap();
        let Some((_, default)) = of_option.split_once("[default: ") else { continue };
        let default = default.split(']').next().unwrap();
        if default.starts_with(|first: char| first.is_ascii_digit()) && !default.contains(' ') {
            let ours: String = limit.default.chars().filter(|c| !matches!(c, ',' | ' ')).collect();
            assert!(ours.starts_with(default), "--{option}: {default} and {}", limit.default);
            compared += 1;
        }
    }
    assert_eq!(compared, 4, "{help}");
}
