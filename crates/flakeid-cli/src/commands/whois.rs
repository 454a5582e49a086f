//! `flakeid whois`: finds the process that generated an ID.

use std::fmt::Write as _;

use clap::Args;
use flakeid_core::{Id, Layout};
use flakeid_json::{HeldJson, HolderJson};
use flakeid_protocol::operations::{Listing, PastHolder};
use flakeid_protocol::{Client, State};

use crate::args::id::{self, InputForm};
use crate::failure::{Failure, Outcome};
use crate::format::{BOLD, DIM, duration, printable, sanitize};
use crate::store::{Connection, Source, StoreArgs};
use crate::terminal;

/// Finds the process that generated an ID
///
/// The command searches the history of the namespace for the process that held the ID's node at the
/// ID's tick. The windows of one node do not overlap, so the command finds one process, or none if
/// the history does not cover the ID's tick. If the process was a client of a broker, the command
/// also names the broker. If --store specifies the broker's URL, the command also finds grants that
/// are not in the history yet.
///
/// In a pipe, or with --json, the command writes one JSON object per ID.
#[derive(Args)]
#[command(after_long_help = EXAMPLES)]
pub(crate) struct WhoisArgs {
    /// IDs to look up; the prefix 0x marks a hexadecimal number
    #[arg(value_name = "ID", required = true, allow_negative_numbers = true)]
    ids: Vec<String>,

    #[command(flatten)]
    store: StoreArgs,

    /// Format of the IDs
    #[arg(long, value_enum, value_name = "FORM", default_value = "dec")]
    format: InputForm,

    /// Write one JSON object per ID, even on a terminal
    #[arg(long)]
    json: bool,
}

// The tests run every example line that begins with `flakeid`.
const EXAMPLES: &str = "\
Examples:
  flakeid whois 910499571847892992 --store sqlite://flakeid.db
  flakeid next --store sqlite://flakeid.db | xargs flakeid whois --store sqlite://flakeid.db";

pub(crate) fn run(args: &WhoisArgs) -> Outcome {
    let answers = match args.store.connect_to_read()? {
        Source::Store(mut connection) => {
            let listing = connection.list()?;
            let ids = args.parse(&listing.namespace.layout)?;
            let found = ids.into_iter().map(|id| find(&mut connection, &listing, id));
            found.collect::<Result<Vec<_>, _>>()?
        }
        #[cfg(feature = "http")]
        Source::Broker(broker) => {
            let layout = broker.layout()?;
            let ids = args.parse(&layout)?;
            // All IDs are checked before the broker looks up the first ID, so that an invalid ID is
            // reported immediately.
            ids.iter().try_for_each(|id| layout.unpack(*id).map(drop))?;
            ids.into_iter().map(|id| broker.holder(id)).collect::<Result<Vec<_>, _>>()?
        }
    };
    if terminal::is_terminal() && !args.json {
        let texts: Vec<String> = answers.iter().map(draw).collect();
        return Ok(terminal::show(&texts.join("\n"))?);
    }
    Ok(terminal::show_json(answers.iter())?)
}

impl WhoisArgs {
    fn parse(&self, layout: &Layout) -> Result<Vec<Id>, Failure> {
        let form = self.format.text_form();
        self.ids.iter().map(|text| id::parse(text, form, layout)).collect()
    }
}

/// Looks up one ID in the store's history.
fn find(connection: &mut Connection, listing: &Listing, id: Id) -> Result<HolderJson, Failure> {
    let namespace = &listing.namespace;
    let parts = namespace.layout.unpack(id)?;
    let found = connection.whois(parts.node, parts.tick)?;
    let mut answer = HolderJson::new(id, namespace, found.as_ref())?;
    let Some(found) = found else {
        answer.reason = Some(why_unknown(listing, parts.node, parts.tick));
        return Ok(answer);
    };
    let is_current = is_current(listing, &found);
    let of_record = if found.client.is_some() { &mut answer.broker } else { &mut answer.holder };
    if let Some(of_record) = of_record {
        of_record.current = Some(is_current);
    }
    // While a broker holds its block, only the broker can determine whether a client still holds a
    // node in the block. After the broker has lost the block, no client holds the node.
    if let (Some(holder), Some(Client::Known { .. }), false) =
        (&mut answer.holder, &found.client, is_current)
    {
        holder.current = Some(false);
    }
    Ok(answer)
}

/// Whether the holder in the record still holds the node, and can therefore still extend the
/// window.
fn is_current(listing: &Listing, PastHolder { record, .. }: &PastHolder) -> bool {
    listing.rows.iter().any(|row| {
        (row.node, row.grant, row.state) == (record.node, record.grant, State::Held)
            && row.expires > listing.now
    })
}

fn draw(answer: &HolderJson) -> String {
    // Control characters are replaced, because a broker's response can contain any characters.
    let [id, timestamp] = [&answer.id, &answer.timestamp].map(|text| printable(text));
    let mut text = format!("{BOLD}{id}{BOLD:#}  node {}, {timestamp}\n", answer.node);
    let mut pair = |name: &str, value: &str| {
        let _ = writeln!(text, "  {DIM}{name:<7}{DIM:#}  {value}");
    };
    if let Some(holder) = &answer.holder {
        draw_held(holder, "owner", &mut pair);
    }
    if let Some(reason) = &answer.reason {
        pair("unknown", &printable(reason));
    }
    if let Some(broker) = &answer.broker {
        if answer.holder.is_none() {
            draw_held(broker, "broker", &mut pair);
        } else {
            let HeldJson { owner, host, pid, .. } = broker;
            let owner = printable(owner.as_deref().unwrap_or("-"));
            let host = sanitize(host.as_deref().unwrap_or("-"));
            pair("broker", &format!("{owner} (pid {pid} on {host})"));
        }
    }
    text
}

fn draw_held(held: &HeldJson, owner: &str, pair: &mut impl FnMut(&str, &str)) {
    if let Some(name) = &held.owner {
        pair(owner, &sanitize(name));
    }
    pair("host", &sanitize(held.host.as_deref().unwrap_or_default()));
    pair("pid", &held.pid.to_string());
    pair("from", &printable(&held.from));
    let length = duration::shown(held.to_unix_ms.abs_diff(held.from_unix_ms));
    let still = if held.current == Some(true) { ", and still holds it" } else { "" };
    pair("to", &format!("{} ({length}{still})", printable(&held.to)));
}

fn why_unknown(listing: &Listing, node: u64, tick: u64) -> String {
    let namespace = &listing.namespace;
    if !namespace.keeps_history {
        return format!(
            "namespace {} was created without a history, which cannot be added",
            namespace.name
        );
    }
    let number = namespace.row_of(node);
    let what = if namespace.block_bits == 0 {
        format!("node {node}")
    } else {
        format!("block {number}, which contains node {node},")
    };
    match listing.rows.iter().find(|row| row.node == number && row.grant > 0) {
        None => format!("{what} was never leased in the namespace {}", namespace.name),
        Some(row) if tick >= row.fence => {
            let end = namespace.layout.timestamp(namespace.layout.unix_ms_at(row.fence));
            format!("no window of {what} reaches the ID's tick: the latest window ends at {end}")
        }
        Some(_) => format!("the history of {what} has no window that covers the ID's tick"),
    }
}
