//! The output of `flakeid migrate`.

use std::collections::BTreeSet;

use flakeid_core::{Clock, SystemClock};
use flakeid_json::layout_name;
use serde::Serialize;

use super::carry_out::Done;
use super::libraries::Origin;
use super::nodes;
use super::plan::{LastId, Plan};
use crate::failure::Outcome;
use crate::format::{duration, sanitize};
use crate::terminal;

/// The description of a migration plan and its result.
pub(super) struct Report<'a> {
    pub(super) origin: &'a Origin,
    pub(super) plan: &'a Plan,
    pub(super) in_use: &'a BTreeSet<u64>,
    pub(super) namespace: &'a str,
}

#[derive(Serialize)]
struct ReportJson<'a> {
    namespace: &'a str,
    layout: String,
    last: Vec<LastJson>,
    /// The time before which no window starts.
    floor: String,
    quarantined: &'a BTreeSet<u64>,
    /// Whether the migration created the namespace. The field is omitted if the plan was not
    /// carried out.
    #[serde(skip_serializing_if = "Option::is_none")]
    created: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    wait_ms: Option<u64>,
}

#[derive(Serialize)]
struct LastJson {
    id: String,
    time: String,
    node: u64,
}

impl Report<'_> {
    /// Shows the report. `done` contains the full name of the namespace and the result of the
    /// migration, or is `None` in a dry run.
    pub(super) fn show(&self, json: bool, done: Option<(&str, &Done)>) -> Outcome {
        for row in done.iter().flat_map(|(_, done)| &done.granted) {
            let holder = match row.owner.name.as_str() {
                "" => String::new(),
                name => format!(" (last by {})", sanitize(name)),
            };
            terminal::warning(&format!(
                "node {} was leased from this store before{holder}: if the other library used it at the same time, \
                 IDs may have been generated twice",
                row.node
            ));
        }
        if json || !terminal::is_terminal() {
            return Ok(terminal::show_json([self.json(done.map(|(_, done)| done))])?);
        }
        Ok(terminal::show(&self.render(done))?)
    }

    fn render(&self, done: Option<(&str, &Done)>) -> String {
        let mut lines = self.last_id_lines();
        let (namespace, floor) = (self.namespace, self.plan.floor_time());
        let layout = layout_name(&self.plan.layout);
        match done {
            None => lines.push(format!(
                "the namespace {namespace} would have the layout {layout}, and no window would start \
                 before {floor}"
            )),
            Some((name, done)) => {
                let verb = if done.created { "created" } else { "already exists" };
                lines.push(format!("{name}: {verb}"));
                lines.push(format!("the layout is {layout}, and no window starts before {floor}"));
                if done.wait_ms > 0 {
                    let wait = duration::shown(done.wait_ms);
                    lines.push(format!("no leases will be granted for another {wait}"));
                }
            }
        }
        if !self.in_use.is_empty() {
            let are = if done.is_some() { "quarantined" } else { "would be quarantined" };
            lines.push(format!("{are}: {}", nodes::shown(self.in_use)));
        }
        lines.push(String::new());
        lines.join("\n")
    }

    /// Describes the plan, so that the user can confirm it.
    pub(super) fn question(&self) -> String {
        let quarantined = if self.in_use.is_empty() {
            String::new()
        } else {
            format!(", and quarantines nodes {}", nodes::shown(self.in_use))
        };
        format!(
            "{}. This creates the namespace {}, whose windows do not start before {}{quarantined}.",
            self.last_id_lines().join("; "),
            self.namespace,
            self.plan.floor_time(),
        )
    }

    /// Formats one line for each of the last IDs, so that the user can detect a wrong layout.
    fn last_id_lines(&self) -> Vec<String> {
        let line = |LastId { id, parts, time }: &LastId| {
            let ago = duration::relative(parts.unix_ms, SystemClock.unix_ms());
            format!("last ID {id}: {time} ({ago}), {}", self.origin.node(parts))
        };
        self.plan.last.iter().map(line).collect()
    }

    fn json(&self, done: Option<&Done>) -> ReportJson<'_> {
        let last = self.plan.last.iter().map(|last| LastJson {
            id: last.id.to_string(),
            time: last.time.to_string(),
            node: last.parts.node,
        });
        ReportJson {
            namespace: self.namespace,
            layout: layout_name(&self.plan.layout),
            last: last.collect(),
            floor: self.plan.floor_time().to_string(),
            quarantined: self.in_use,
            created: done.map(|done| done.created),
            wait_ms: done.map(|done| done.wait_ms),
        }
    }
}
