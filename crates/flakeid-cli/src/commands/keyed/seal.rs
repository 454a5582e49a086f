//! `flakeid seal`: IDs in their public form.

use std::io::Write;

use clap::Args;

use super::DomainArgs;
use crate::args::id::{self, InputForm};
use crate::args::input;
use crate::failure::{Failure, Outcome};
use crate::terminal;

/// Encrypts IDs for outsiders, so that they reveal neither when nor where they were made
///
/// The public form of an ID is the prefix, the letter of the key, and 11 digits of base58; `open` turns
/// it back. It hides what an ID reveals, and nobody without the key can make one up for an ID of their
/// choice. It does not grant access: check who may see what, as with any other ID.
///
/// Without arguments it reads one ID per line from standard input.
#[derive(Args)]
#[command(after_long_help = EXAMPLES)]
pub(crate) struct SealArgs {
    /// IDs to encrypt; 0x in front marks a hexadecimal number
    #[arg(value_name = "ID", allow_negative_numbers = true)]
    ids: Vec<String>,

    #[command(flatten)]
    domain: DomainArgs,

    /// How the IDs are written
    #[arg(long, value_enum, value_name = "FORM", default_value = "dec")]
    format: InputForm,
}

// Every line of this that begins with `flakeid` is run by the tests.
const EXAMPLES: &str = "\
Examples:
  flakeid keygen --key-file public.keys
  flakeid seal --key-file public.keys --domain user --prefix usr 910499571847892992
  flakeid next -n 3 --node 7 | flakeid seal --key-file public.keys --domain order";

pub(crate) fn run(args: &SealArgs) -> Outcome {
    let ids = args.domain.public_ids()?;
    let form = args.format.text_form();
    let seal = |text: &str| -> Result<String, Failure> {
        Ok(ids.seal(id::parse(text, form, ids.layout())?)?)
    };
    if args.ids.is_empty() {
        return input::each_line("ID", |out, text| Ok(writeln!(out, "{}", seal(text)?)?));
    }
    // All are read before the first is shown, so that a wrong one leaves no gap in the output.
    let sealed: Vec<String> = args.ids.iter().map(|text| seal(text)).collect::<Result<_, _>>()?;
    let mut out = terminal::stream();
    for text in sealed {
        writeln!(out, "{text}")?;
    }
    Ok(out.flush()?)
}
