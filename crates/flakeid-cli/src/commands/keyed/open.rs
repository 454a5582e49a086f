//! `flakeid open`: the IDs of public IDs.

use std::io::Write;

use clap::Args;
use flakeid_core::Id;
use flakeid_json::parse_instant;

use super::DomainArgs;
use crate::args::input;
use crate::failure::{Failure, Outcome};
use crate::terminal;

/// Decrypts the public form of IDs, which `seal` makes
///
/// A text that was made up, or sealed by another key, for another domain or with another prefix, is
/// refused without saying which of these it is. A few made-up texts open all the same, as IDs that
/// probably do not exist: one in nine with the layout twitter, and one in 140 with --since a year ago.
///
/// Without arguments it reads one public ID per line from standard input.
#[derive(Args)]
#[command(after_long_help = EXAMPLES)]
pub(crate) struct OpenArgs {
    /// Public IDs to decrypt
    #[arg(value_name = "TEXT")]
    texts: Vec<String>,

    #[command(flatten)]
    domain: DomainArgs,

    /// Refuse IDs from before: a date, RFC 3339 or Unix milliseconds [default: the layout's epoch]
    #[arg(long, value_name = "T", allow_hyphen_values = true)]
    since: Option<String>,
}

// Every line of this that begins with `flakeid` is run by the tests.
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
            let hint = "the key, --domain, --prefix and --layout must be those it was made with, and its \
                        ID neither older than --since nor from the future";
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
