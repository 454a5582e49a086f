//! `flakeid seal`: encrypts IDs into their public form.

use std::io::Write;

use clap::Args;

use super::DomainArgs;
use crate::args::id::{self, InputForm};
use crate::args::input;
use crate::failure::{Failure, Outcome};
use crate::terminal;

/// Encrypts IDs, so that outsiders cannot see when and where the IDs were generated
///
/// The public form of an ID consists of the prefix (if any), the key's letter, and 11 base58
/// characters. `flakeid open` converts the public form back into the ID. Without the key, outsiders
/// can neither read the ID nor forge the public form of a chosen ID. A public ID does not grant
/// access: check permissions, as with any other ID.
///
/// Without arguments, the command reads one ID per line from standard input.
#[derive(Args)]
#[command(after_long_help = EXAMPLES)]
pub(crate) struct SealArgs {
    /// IDs to encrypt; the prefix 0x marks a hexadecimal number
    #[arg(value_name = "ID", allow_negative_numbers = true)]
    ids: Vec<String>,

    #[command(flatten)]
    domain: DomainArgs,

    /// Format of the IDs
    #[arg(long, value_enum, value_name = "FORM", default_value = "dec")]
    format: InputForm,
}

// The tests run every example line that begins with `flakeid`.
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
    // All arguments are sealed before the first public ID is shown, so that an invalid argument
    // causes no partial output.
    let sealed: Vec<String> = args.ids.iter().map(|text| seal(text)).collect::<Result<_, _>>()?;
    let mut out = terminal::stream();
    for text in sealed {
        writeln!(out, "{text}")?;
    }
    Ok(out.flush()?)
}
