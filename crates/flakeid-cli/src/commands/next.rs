//! `flakeid next`

use std::io::{self, Write};

use flakeid_core::{Id, Layout, TextForm};

use super::next_source::Maker;
use crate::cli::{NextArgs, OutputForm};
use crate::failure::Outcome;
use crate::format::id_json::{Record, name_of};
use crate::format::number;
use crate::terminal::output;
use crate::terminal::progress::Progress;

/// IDs made at a time: a fixed buffer, however many are asked for.
const CHUNK: usize = 4096;

pub(crate) fn run(args: &NextArgs) -> Outcome {
    let layout = args.layout.resolve()?;
    let mut left = number::parse("count", &args.count, 0, u64::MAX)?;
    let maker = Maker::new(args, layout)?;
    let writer = Writer::new(args.format, layout);
    let mut progress = Progress::new(left);
    let mut out = output::stream();
    let mut ids = vec![Id::default(); CHUNK];
    while left > 0 {
        let wanted = usize::try_from(left).map_or(CHUNK, |left| left.min(CHUNK));
        let filled = if let Ok(filled) = maker.try_fill(&mut ids[..wanted]) {
            filled
        } else {
            // Whoever reads the pipe shall not wait for more than the next tick.
            out.flush()?;
            maker.fill(&mut ids[..1])?
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
        Self { form, layout, name: name_of(&layout) }
    }

    fn write(&self, out: &mut output::Stream, id: Id) -> Outcome {
        let form = match self.form {
            OutputForm::Bytes => return Ok(out.write_all(&id.to_be_bytes())?),
            OutputForm::Json => {
                return output::json_line(out, &Record::new(id, &self.layout, &self.name)?);
            }
            OutputForm::Dec => TextForm::Decimal,
            OutputForm::Hex => TextForm::Hex,
            OutputForm::Base32 => TextForm::Base32,
            OutputForm::Base36 => TextForm::Base36,
            OutputForm::Base58 => TextForm::Base58,
            OutputForm::Base62 => TextForm::Base62,
        };
        Ok(line(out, form.encode(id).as_str())?)
    }
}

fn line(out: &mut impl Write, text: &str) -> io::Result<()> {
    out.write_all(text.as_bytes())?;
    out.write_all(b"\n")
}
