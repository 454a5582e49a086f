//! `flakeid next`: generates IDs, one per line.

use std::io::{self, Write};

use clap::{Args, ValueEnum};
use flakeid_core::{Id, Layout, TextForm};

use super::next_source::{self, SourceArgs};
use crate::failure::Outcome;
use crate::format::number;
use crate::terminal::{self, Progress};
use flakeid_json::{IdJson, layout_name};

/// Generates IDs, one per line
///
/// No two runs with the same store generate the same IDs, even if one of the runs is killed, because
/// the command leases a node from the store. Without --store, the store is the one that root has
/// named in /etc/flakeid/store, or else the embedded store of this user. Another user, even root,
/// has another embedded store, and could generate the same IDs.
///
/// If you specify a store, the command leases the node from that store, even if a flag or an
/// environment variable specifies the node. If you specify a node but no store, flakeid does not
/// check whether another process uses that node. In that case, the first ID is in the tick after
/// the start of the command, so that consecutive runs do not repeat IDs.
#[derive(Args)]
#[command(after_long_help = EXAMPLES)]
pub(crate) struct NextArgs {
    /// Number of IDs to generate; memory use does not depend on this number
    #[arg(short = 'n', long, value_name = "N", default_value = "1", allow_hyphen_values = true)]
    count: String,

    #[command(flatten)]
    source: SourceArgs,

    /// Format of the IDs
    #[arg(long, value_enum, value_name = "FORM", default_value = "dec")]
    format: OutputForm,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum OutputForm {
    /// Decimal digits
    #[value(alias = "decimal")]
    Dec,
    /// 16 hexadecimal digits, whose ASCII order matches the order of the IDs
    Hex,
    /// 13 digits of Crockford's base32, which can be read aloud, and whose ASCII order matches the
    /// order of the IDs
    Base32,
    /// 11 base62 digits (0-9A-Za-z), whose ASCII order matches the order of the IDs
    Base62,
    /// Up to 11 base58 digits in the Bitcoin alphabet
    Base58,
    /// Up to 13 base36 digits (0-9a-z)
    Base36,
    /// Up to 11 base58 digits in the Flickr alphabet, like `Base58` in the Go library
    /// bwmarrin/snowflake
    #[value(name = "base58_flickr")]
    Base58Flickr,
    /// Up to 13 digits of z-base-32, like `Base32` in the Go library bwmarrin/snowflake
    Zbase32,
    /// 36 characters of a UUID of version 8, whose ASCII order matches the order of the IDs
    Uuid,
    /// 8 raw bytes per ID, most significant byte first, without separators
    Bytes,
    /// One JSON object per line, in the format of `inspect --json`
    Json,
}

// The tests run every example line that begins with `flakeid` or sets `FLAKEID_NODE`.
const EXAMPLES: &str = "\
Examples:
  flakeid next
  flakeid next -n 5 --store sqlite://flakeid.db
  flakeid next --store sqlite://flakeid.db --name import
  flakeid next --node 7
  flakeid next -n 5 --datacenter 17 --worker 25 --format base62
  flakeid next -n 1000000 --node 7 --format bytes | wc -c
  flakeid next --node 7 --layout t42.n8.s13@2015-01-01T00:00:00Z/5ms --format json
  FLAKEID_NODE=7 flakeid next

Environment (flags win):
  FLAKEID_STORE       URL of the store, if --store is not given
  FLAKEID_NAMESPACE   namespace in the store, if --namespace is not given
  FLAKEID_LAYOUT      layout, if --layout is not given
  FLAKEID_NODE        node number, if no flag gives one
  FLAKEID_DATACENTER  the node number in two parts:
  FLAKEID_WORKER      set both or neither";

/// The number of IDs that are generated at a time. The buffer has room for this number of IDs,
/// regardless of `--count`.
const CHUNK: usize = 4096;

pub(crate) fn run(args: &NextArgs) -> Outcome {
    let layout = args.source.layout()?;
    let mut left = number::parse("count", &args.count, 0, u64::MAX)?;
    let source = next_source::open(&args.source, layout)?;
    let writer = Writer::new(args.format, layout);
    let mut progress = Progress::new(left);
    let mut out = terminal::stream();
    let mut ids = vec![Id::default(); CHUNK];
    while left > 0 {
        let wanted = usize::try_from(left).map_or(CHUNK, |left| left.min(CHUNK));
        let filled = if let Ok(filled) = source.try_fill(&mut ids[..wanted]) {
            filled
        } else {
            // The output is flushed, so that the reader of a pipe gets the IDs generated so far
            // before this process waits for the next tick.
            out.flush()?;
            source.fill(&mut ids[..1])?
        };
        for id in &ids[..filled] {
            writer.write(&mut out, *id)?;
        }
        left -= filled as u64;
        progress.advance(filled as u64);
    }
    out.flush()?;
    Ok(())
}

struct Writer {
    form: OutputForm,
    layout: Layout,
    name: String,
}

impl Writer {
    fn new(form: OutputForm, layout: Layout) -> Self {
        Self { form, layout, name: layout_name(&layout) }
    }

    fn write(&self, out: &mut terminal::Stream, id: Id) -> Outcome {
        let form = match self.form {
            OutputForm::Bytes => return Ok(out.write_all(&id.to_be_bytes())?),
            OutputForm::Json => {
                let json = IdJson::new(id, &self.layout, &self.name)?;
                return Ok(terminal::json_line(out, &json)?);
            }
            OutputForm::Dec => TextForm::Decimal,
            OutputForm::Hex => TextForm::Hex,
            OutputForm::Base32 => TextForm::Base32,
            OutputForm::Base36 => TextForm::Base36,
            OutputForm::Base58 => TextForm::Base58,
            OutputForm::Base62 => TextForm::Base62,
            OutputForm::Base58Flickr => TextForm::Base58Flickr,
            OutputForm::Zbase32 => TextForm::Zbase32,
            OutputForm::Uuid => TextForm::Uuid,
        };
        Ok(line(out, form.encode(id).as_str())?)
    }
}

fn line(out: &mut impl Write, text: &str) -> io::Result<()> {
    out.write_all(text.as_bytes())?;
    out.write_all(b"\n")
}
