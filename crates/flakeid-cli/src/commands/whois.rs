//! `flakeid whois`: the process that generated an ID.

use std::fmt::Write as _;

use clap::Args;
use flakeid_core::{Id, Parts, Rfc3339};
use flakeid_lease::protocol::State;
use flakeid_lease::store::operations::{Listing, PastHolder};
use serde::Serialize;

use crate::args::id::{self, InputForm};
use crate::failure::{Failure, Outcome};
use crate::format::duration;
use crate::format::{BOLD, DIM, sanitize};
use crate::store::{Connection, StoreArgs};
use crate::terminal;

/// Finds the process that generated an ID
///
/// It looks up in the history of the namespace which process held the ID's node at the ID's tick.
/// The windows of one node do not overlap, so there is one answer, or none if the history does not
/// reach that far.
///
/// In a pipe, or with --json, it writes one JSON object per ID.
#[derive(Args)]
#[command(after_long_help = EXAMPLES)]
pub(crate) struct WhoisArgs {
    /// IDs to look up; 0x in front marks a hexadecimal number
    #[arg(value_name = "ID", required = true, allow_negative_numbers = true)]
    ids: Vec<String>,

    #[command(flatten)]
    store: StoreArgs,

    /// How the IDs are written
    #[arg(long, value_enum, value_name = "FORM", default_value = "dec")]
    format: InputForm,

    /// Write one JSON object per ID, also on a terminal
    #[arg(long)]
    json: bool,
}

// Every line of this that begins with `flakeid` is run by the tests.
const EXAMPLES: &str = "\
Examples:
  flakeid whois 910499571847892992 --store sqlite://flakeid.db
  flakeid next --store sqlite://flakeid.db | xargs flakeid whois --store sqlite://flakeid.db";

pub(crate) fn run(args: &WhoisArgs) -> Outcome {
    let mut connection = args.store.connect()?;
    let listing = connection.list()?;
    let layout = &listing.namespace.layout;
    let form = args.format.text_form();
    let ids = args.ids.iter().map(|text| id::parse(text, form, layout));
    let ids = ids.collect::<Result<Vec<_>, _>>()?;
    let answers = ids.into_iter().map(|id| Answer::find(&mut connection, &listing, id));
    let answers = answers.collect::<Result<Vec<_>, _>>()?;
    if terminal::is_terminal() && !args.json {
        let texts: Vec<String> = answers.iter().map(|answer| answer.draw(&listing)).collect();
        return Ok(terminal::show(&texts.join("\n"))?);
    }
    Ok(terminal::show_json(answers.iter().map(|answer| answer.report(&listing)))?)
}

/// What is known about one ID.
struct Answer {
    id: Id,
    parts: Parts,
    /// Who held its node at that tick, or why that is unknown.
    holder: Result<PastHolder, String>,
}

impl Answer {
    fn find(connection: &mut Connection, listing: &Listing, id: Id) -> Result<Self, Failure> {
        let parts = listing.namespace.layout.unpack(id)?;
        let found = connection.whois(listing.namespace.row_of(parts.node), parts.tick)?;
        let holder = found.ok_or_else(|| why_unknown(listing, &parts));
        Ok(Self { id, parts, holder })
    }

    /// Whether the holder still has the node, so that its window may still grow.
    fn is_current(&self, listing: &Listing) -> bool {
        let Ok(PastHolder { record, .. }) = &self.holder else { return false };
        listing.rows.iter().any(|row| {
            (row.node, row.grant, row.state) == (record.node, record.grant, State::Held)
                && row.expires > listing.now
        })
    }

    fn draw(&self, listing: &Listing) -> String {
        let layout = &listing.namespace.layout;
        let Parts { node, unix_ms, .. } = self.parts;
        let time = layout.timestamp(unix_ms);
        let mut text = format!("{BOLD}{}{BOLD:#}  node {node}, {time}\n", self.id);
        let mut pair = |name: &str, value: &str| {
            let _ = writeln!(text, "  {DIM}{name:<7}{DIM:#}  {value}");
        };
        let holding = match &self.holder {
            Ok(holding) => holding,
            Err(reason) => {
                pair("unknown", reason);
                return text;
            }
        };
        let owner = &holding.record.owner;
        if !owner.name.is_empty() {
            pair("owner", &sanitize(&owner.name));
        }
        pair("host", &sanitize(&owner.host));
        pair("pid", &owner.pid.to_string());
        let (from, to) =
            (layout.unix_ms_at(holding.record.start), layout.unix_ms_at(holding.fence));
        pair("from", &layout.timestamp(from).to_string());
        let length = duration::shown(to.abs_diff(from));
        let still = if self.is_current(listing) { ", and still holds it" } else { "" };
        pair("to", &format!("{} ({length}{still})", layout.timestamp(to)));
        text
    }

    fn report<'a>(&'a self, listing: &'a Listing) -> Report<'a> {
        let layout = &listing.namespace.layout;
        let time = |unix_ms| layout.timestamp(unix_ms);
        let holder = self.holder.as_ref().ok().map(|PastHolder { record, fence }| {
            let (from, to) = (layout.unix_ms_at(record.start), layout.unix_ms_at(*fence));
            Holder {
                owner: (!record.owner.name.is_empty()).then_some(record.owner.name.as_str()),
                host: (!record.owner.host.is_empty()).then_some(record.owner.host.as_str()),
                pid: record.owner.pid,
                grant: record.grant,
                acquired: Rfc3339::new(record.acquired, 3).to_string(),
                from: time(from).to_string(),
                from_unix_ms: from,
                to: time(to).to_string(),
                to_unix_ms: to,
                current: self.is_current(listing),
            }
        });
        Report {
            id: self.id.to_string(),
            namespace: &listing.namespace.name,
            node: self.parts.node,
            tick: self.parts.tick,
            timestamp: time(self.parts.unix_ms).to_string(),
            unix_ms: self.parts.unix_ms,
            holder,
            reason: self.holder.as_ref().err(),
        }
    }
}

fn why_unknown(listing: &Listing, parts: &Parts) -> String {
    let namespace = &listing.namespace;
    let Parts { node, tick, .. } = *parts;
    if !namespace.keeps_history {
        return format!("namespace {} keeps no history", namespace.name);
    }
    match listing.rows.iter().find(|row| row.node == node && row.grant > 0) {
        None => format!("node {node} was never leased in namespace {}", namespace.name),
        Some(row) if tick >= row.fence => {
            let end = namespace.layout.timestamp(namespace.layout.unix_ms_at(row.fence));
            format!("no window of node {node} reaches that tick: the latest one ends at {end}")
        }
        Some(_) => format!("no window of node {node} in the history covers that tick"),
    }
}

/// The keys stand in this order.
#[derive(Serialize)]
struct Report<'a> {
    id: String,
    namespace: &'a str,
    node: u64,
    tick: u64,
    timestamp: String,
    unix_ms: i64,
    /// Null if the holder is unknown; then there is a reason.
    holder: Option<Holder<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<&'a String>,
}

#[derive(Serialize)]
struct Holder<'a> {
    owner: Option<&'a str>,
    host: Option<&'a str>,
    pid: u32,
    grant: u64,
    acquired: String,
    from: String,
    from_unix_ms: i64,
    to: String,
    to_unix_ms: i64,
    current: bool,
}
