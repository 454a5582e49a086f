//! The summary file, with a line for each completed campaign.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs::{self, OpenOptions};
use std::io::{self, ErrorKind, Write as _};
use std::path::Path;

use serde_json::Value;

use crate::store_kind::StoreKind;

/// The campaigns of a summary file, as their JSON reports.
#[derive(Debug, Default)]
pub(crate) struct Summary {
    campaigns: Vec<Value>,
}

/// The totals of the campaigns on one kind of store.
#[derive(Debug, Default)]
struct Totals {
    campaigns: u64,
    /// The number of inconclusive campaigns. Their other numbers are not counted.
    void: u64,
    seconds: u64,
    ids: u64,
    faults: u64,
    restarts: u64,
    failovers: u64,
    continuations: u64,
    grants: u64,
    renewals: u64,
    duplicates: u64,
    plain: u64,
    heartbeat: u64,
}

impl Summary {
    /// Reads a file, which may not exist. Removes an incomplete last line, which a killed writer
    /// may have left.
    pub(crate) fn open(file: &Path) -> io::Result<Self> {
        let text = match fs::read_to_string(file) {
            Err(error) if error.kind() == ErrorKind::NotFound => String::new(),
            text => text?,
        };
        let complete = text.rfind('\n').map_or(0, |end| end + 1);
        if complete < text.len() {
            OpenOptions::new().write(true).open(file)?.set_len(complete as u64)?;
        }
        Self::parse(&text[..complete])
            .map_err(|why| io::Error::other(format!("{}: {why}", file.display())))
    }

    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let mut campaigns = Vec::new();
        for (number, line) in (1..).zip(text.lines()) {
            let campaign: Value =
                serde_json::from_str(line).map_err(|error| format!("line {number}: {error}"))?;
            if campaign["store"].as_str().is_none() || campaign["seed"].as_u64().is_none() {
                return Err(format!("line {number} lacks a store or a seed"));
            }
            campaigns.push(campaign);
        }
        Ok(Self { campaigns })
    }

    /// Appends a campaign in a single write.
    pub(crate) fn append(file: &Path, campaign: &Value) -> io::Result<()> {
        let mut file = OpenOptions::new().append(true).create(true).open(file)?;
        file.write_all(format!("{campaign}\n").as_bytes())
    }

    /// Returns the store and the seed of each campaign.
    pub(crate) fn seeds(&self) -> BTreeSet<(String, u64)> {
        self.campaigns.iter().map(name).collect()
    }

    /// Returns a description of the first failed campaign. An inconclusive campaign, whose faults
    /// were too weak or whose machine was too busy, does not count as failed.
    pub(crate) fn failure(&self) -> Option<String> {
        let has_failed = |campaign: &&Value| campaign["passed"] == false && !is_void(campaign);
        let failed = self.campaigns.iter().find(has_failed)?;
        let (store, seed) = name(failed);
        Some(format!("{store}, seed {seed}: {}", failed["violations"]))
    }

    /// Returns the totals of each kind of store as a Markdown table.
    pub(crate) fn table(&self) -> String {
        let mut totals: BTreeMap<&str, Totals> = BTreeMap::new();
        for campaign in &self.campaigns {
            totals.entry(campaign["store"].as_str().unwrap_or_default()).or_default().add(campaign);
        }
        let mut text = String::from(
            "| store | campaigns | void | minutes | IDs | faults | restarts | failovers \
             | continuations | grants | renewals | duplicates | duplicates of plain / heartbeat |\n\
             |---|---|---|---|---|---|---|---|---|---|---|---|---|\n",
        );
        for kind in StoreKind::All.each() {
            if let Some(totals) = totals.get(kind.name()) {
                // Writing to a string never fails.
                let _ = writeln!(text, "| {} | {} |", kind.title(), totals.cells());
            }
        }
        text
    }
}

impl Totals {
    fn add(&mut self, campaign: &Value) {
        let number = |value: &Value| value.as_u64().unwrap_or(0);
        if is_void(campaign) {
            self.void += 1;
            return;
        }
        self.campaigns += 1;
        for (total, value) in [
            (&mut self.seconds, &campaign["seconds"]),
            (&mut self.ids, &campaign["ids"]),
            (&mut self.faults, &campaign["faults"]),
            (&mut self.restarts, &campaign["restarts"]),
            (&mut self.failovers, &campaign["failovers"]),
            (&mut self.continuations, &campaign["continuations"]),
            (&mut self.grants, &campaign["counts"]["grants"]),
            (&mut self.renewals, &campaign["counts"]["renewals"]),
            (&mut self.duplicates, &campaign["duplicates"]),
            (&mut self.plain, &campaign["plain"]["duplicates"]),
            (&mut self.heartbeat, &campaign["heartbeat"]["duplicates"]),
        ] {
            *total += number(value);
        }
    }

    fn cells(&self) -> String {
        let millions = format!("{:.1} M", self.ids as f64 / 1e6);
        let minutes = format!("{:.1}", self.seconds as f64 / 60.0);
        let repeated = format!("{} / {}", grouped(self.plain), grouped(self.heartbeat));
        [
            grouped(self.campaigns),
            grouped(self.void),
            minutes,
            millions,
            grouped(self.faults),
            grouped(self.restarts),
            grouped(self.failovers),
            grouped(self.continuations),
            grouped(self.grants),
            grouped(self.renewals),
            grouped(self.duplicates),
            repeated,
        ]
        .join(" | ")
    }
}

/// Whether a campaign is inconclusive without any violation.
fn is_void(campaign: &Value) -> bool {
    campaign["inconclusive"].is_string()
        && campaign["violations"].as_array().is_none_or(Vec::is_empty)
}

fn name(campaign: &Value) -> (String, u64) {
    let store = campaign["store"].as_str().unwrap_or_default().to_owned();
    (store, campaign["seed"].as_u64().unwrap_or_default())
}

/// Formats a number with a comma between groups of three digits.
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let groups: Vec<&str> = digits
        .as_bytes()
        .rchunks(3)
        .rev()
        .map(|group| std::str::from_utf8(group).unwrap_or_default())
        .collect();
    groups.join(",")
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    const LINE: &str = "{\"store\":\"redis\",\"seed\":4,\"passed\":true,\"seconds\":90,\"ids\":1250000,\
         \"faults\":570,\"restarts\":3,\"failovers\":2,\"continuations\":5,\"duplicates\":0,\
         \"counts\":{\"grants\":200,\"renewals\":1034},\
         \"plain\":{\"duplicates\":21770},\"heartbeat\":{\"duplicates\":1476}}\n";

    #[test]
    fn summary_table_contains_the_totals_of_each_store() {
        let void = LINE.replace("\"passed\":true", "\"inconclusive\":\"why\",\"passed\":false");
        let lines = LINE.repeat(2) + &void;
        let table = Summary::parse(&lines).unwrap().table();
        let row = "| Redis | 2 | 1 | 3.0 | 2.5 M | 1,140 | 6 | 4 | 10 | 400 | 2,068 | 0 \
                   | 43,540 / 2,952 |";
        assert_eq!(table.lines().last(), Some(row), "{table}");
        let columns = |line: &str| line.matches('|').count();
        assert!(table.lines().all(|line| columns(line) == columns(row)), "{table}");
    }

    #[test]
    fn append_adds_a_line_and_open_removes_incomplete_lines() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("summary.jsonl");
        assert_eq!(Summary::open(&file).unwrap().seeds().len(), 0);
        let campaign = serde_json::from_str(LINE).unwrap();
        Summary::append(&file, &campaign).unwrap();
        fs::write(&file, fs::read_to_string(&file).unwrap() + "{\"store\":\"sq").unwrap();
        assert_eq!(Summary::open(&file).unwrap().seeds(), [("redis".into(), 4)].into());
        Summary::append(&file, &serde_json::json!({ "store": "sqlite", "seed": 1 })).unwrap();
        assert_eq!(Summary::open(&file).unwrap().seeds().len(), 2);
    }

    #[test]
    fn summary_reports_failures_and_rejects_invalid_lines() {
        assert_eq!(Summary::parse(LINE).unwrap().failure(), None);
        let failed = LINE.replace("true", "false").replace("}}", "},\"violations\":[\"I1: 3\"]}");
        let failure = Summary::parse(&failed).unwrap().failure().unwrap();
        assert!(failure.contains("redis, seed 4") && failure.contains("I1: 3"), "{failure}");
        let void = LINE.replace("true", "false").replace("}}", "},\"inconclusive\":\"why\"}");
        assert_eq!(Summary::parse(&void).unwrap().failure(), None, "the campaign is inconclusive");
        let both = failed.replace("},\"violations", "},\"inconclusive\":\"why\",\"violations");
        assert!(Summary::parse(&both).unwrap().failure().is_some());
        for nonsense in ["x\n", "{}\n", "{\"store\":\"redis\"}\n"] {
            let why = Summary::parse(&(LINE.to_owned() + nonsense)).unwrap_err();
            assert!(why.contains("line 2"), "{why}");
        }
    }
}
