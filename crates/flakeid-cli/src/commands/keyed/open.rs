//! `flakeid open`: decrypts public IDs.

use std::io::Write;

use clap::Args;
use flakeid_core::Id;
use flakeid_json::parse_instant;

use super::DomainArgs;
use crate::args::input;
use crate::failure::{Failure, Outcome};
use crate::terminal;

/// Decrypts public IDs created by `seal`
///
/// The command rejects a public ID that was sealed with another key, domain or prefix. The error
/// does not reveal the reason. Forged public IDs are usually rejected, but some random strings open
/// as IDs that probably do not exist. With the twitter layout, one in nine random strings opens, or
/// one in 140 if --since is a year ago.
///
/// Without arguments, the command reads one public ID per line from standard input.
#[derive(Args)]
#[command(after_long_help = EXAMPLES)]
pub(crate) struct OpenArgs {
    /// Public IDs to decrypt
    #[arg(value_name = "TEXT")]
    texts: Vec<String>,

    #[command(flatten)]
    domain: DomainArgs,

    /// Reject IDs generated before this time: a date, an RFC 3339 time or Unix milliseconds
    /// [default: the layout's epoch]
    #[arg(long, value_name = "T", allow_hyphen_values = true)]
    since: Option<String>,
}

// The tests run every example line that begins with `flakeid`.
const EXAMPLES: &str = "\
Examples:
  flakeid keygen --key-file keys
  flakeid next --node 7 | flakeid seal --key-file keys --domain user > public.txt
  flakeid open --key-file keys --domain user --since 2026-01-01 < public.txt";

pub(crate) fn run(args: &OpenArgs) -> Outcome {
    let mut ids = args.domain.public_ids()?;
    if let Some(since) = &args.since {
        ids = ids.since(parse_instant("--since", since)?);
    }
    let open = |text: &str| -> Result<Id, Failure> {
        ids.open(text).map_err(|error| {
            let hint = "the key, --domain, --prefix and --layout must be those that sealed the ID, and the \
                        ID must not be older than --since or from the future";
            Failure::hinted(error, hint)
        })
    };
    if args.texts.is_empty() {
        return input::each_line("TEXT", |out, text| Ok(writeln!(out, "{}", open(text)?)?));
    }
    let opened: Vec<Id> = args.texts.iter().map(|text| open(text)).collect::<Result<_, _>>()?;
    let mut out = terminal::stream();
    for id in opened {
        writeln!(out, "{id}")?;
    }
    Ok(out.flush()?)
}
