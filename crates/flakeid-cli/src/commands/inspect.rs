//! `flakeid inspect`

use std::borrow::Cow;
use std::fmt::Write as _;
use std::io::{self, BufRead, BufReader, IsTerminal, Read, Write};

use flakeid_core::{Error, Field, Id, Layout, TextForm};

use crate::cli::InspectArgs;
use crate::commands::layout::range;
use crate::failure::{Failure, Outcome};
use crate::format::diagram;
use crate::format::id_json::{Record, name_of};
use crate::terminal::output::{self, BOLD, DIM};

/// No ID in any form is longer; what is, is cut here instead of filling the memory.
const LONGEST_LINE: u64 = 4096;

pub(crate) fn run(args: &InspectArgs) -> Outcome {
    let layout = args.layout.resolve()?;
    let form = args.format.text_form();
    let draws = args.pretty || (!args.json && output::is_terminal());
    let mut view = View { layout, name: name_of(&layout), draws, drawn: false };
    if args.ids.is_empty() {
        return view.standard_input(form);
    }
    // All of them before the first is shown: output with a hole in it helps nobody.
    let ids =
        args.ids.iter().map(|text| read(text, form, &layout)).collect::<Result<Vec<_>, _>>()?;
    let mut out = output::stream();
    for id in ids {
        view.show(&mut out, id)?;
    }
    out.flush()?;
    Ok(())
}

/// An ID of the layout.
pub(crate) fn read(text: &str, form: TextForm, layout: &Layout) -> Result<Id, Failure> {
    let (digits, form) = without_prefix(text, form);
    let id = form.decode(&digits).map_err(|error| {
        let hint = hint(&error, text, form);
        Failure::Refused { error, hint }
    })?;
    layout.unpack(id).map_err(|error| {
        Failure::hinted(error, "if it is of another layout, give that one with --layout")
    })?;
    Ok(id)
}

/// `0x` makes it a hexadecimal number, whose leading zeros may be missing. Only of decimal and
/// hexadecimal digits: in base32 and base62 an ID may begin with these two.
fn without_prefix(text: &str, form: TextForm) -> (Cow<'_, str>, TextForm) {
    let digits = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X"));
    match (digits, form) {
        (Some(digits), TextForm::Decimal | TextForm::Hex) => {
            let is_number = !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_hexdigit());
            (if is_number { format!("{digits:0>16}").into() } else { digits.into() }, TextForm::Hex)
        }
        _ => (text.into(), form),
    }
}

/// What is allowed, unless the error has said so, and what else the text may be.
fn hint(error: &Error, text: &str, form: TextForm) -> Option<String> {
    let mut hints = Vec::new();
    if form == TextForm::Decimal && !error.to_string().contains(&u64::MAX.to_string()) {
        hints.push(format!("decimal IDs are from 0 to {}", u64::MAX));
    }
    if form == TextForm::Decimal
        && let Ok(signed @ ..0) = text.parse::<i64>()
    {
        let id = Id::from_i64(signed);
        hints.push(format!("if it is from a signed 64-bit column, its ID is {id}"));
    }
    let others: Vec<&str> = TextForm::ALL
        .into_iter()
        .filter(|other| *other != form && other.decode(text).is_ok())
        .map(TextForm::name)
        .collect();
    if let Some((last, others)) = others.split_last() {
        let or = if others.is_empty() { "" } else { " or " };
        let others = others.join(", ");
        hints.push(format!("in {others}{or}{last} it would be an ID (--format)"));
    }
    (!hints.is_empty()).then(|| hints.join("; "))
}

fn in_line(failure: Failure, number: u64) -> Failure {
    let place = format!("line {number} of standard input");
    match failure {
        Failure::Refused { error, hint: Some(hint) } => {
            Failure::hinted(error, format!("{place}; {hint}"))
        }
        Failure::Refused { error, hint: None } => Failure::hinted(error, place),
        other => other,
    }
}

struct View {
    layout: Layout,
    name: String,
    draws: bool,
    drawn: bool,
}

impl View {
    /// One ID per line, shown as it comes.
    fn standard_input(&mut self, form: TextForm) -> Outcome {
        let input = io::stdin();
        if input.is_terminal() {
            let error = Error::invalid_option(
                "ID",
                "missing: give IDs as arguments, or one per line on standard input",
            );
            return Err(error.into());
        }
        let mut input = BufReader::new(input.lock());
        let mut out = output::stream();
        let mut line = Vec::new();
        for number in 1_u64.. {
            // Before a read that may wait, so that a slow pipe is alive.
            if input.buffer().is_empty() {
                out.flush()?;
            }
            line.clear();
            let read_line = input.by_ref().take(LONGEST_LINE).read_until(b'\n', &mut line);
            if read_line.map_err(|error| Failure::io("cannot read standard input", error))? == 0 {
                break;
            }
            let text = String::from_utf8_lossy(&line);
            // Left as it is, a line that was cut is refused for its length or for its spaces.
            let is_cut = line.len() as u64 == LONGEST_LINE && !line.ends_with(b"\n");
            let text = if is_cut { &text } else { text.trim() };
            match read(text, form, &self.layout) {
                Ok(id) => self.show(&mut out, id)?,
                Err(failure) => {
                    out.flush()?;
                    return Err(in_line(failure, number));
                }
            }
        }
        out.flush()?;
        Ok(())
    }

    fn show(&mut self, out: &mut output::Stream, id: Id) -> Outcome {
        if !self.draws {
            return output::json_line(out, &Record::new(id, &self.layout, &self.name)?);
        }
        let gap = if self.drawn { "\n" } else { "" };
        self.drawn = true;
        let text = self.draw(id)?;
        Ok(output::show(&format!("{gap}{text}"))?)
    }

    fn draw(&self, id: Id) -> Result<String, Error> {
        let layout = &self.layout;
        let parts = layout.unpack(id)?;
        let mut text = format!("{BOLD}{id}{BOLD:#}  {}", self.name);
        if layout.preset_name().is_some() {
            let _ = write!(text, "  {DIM}{layout}{DIM:#}");
        }
        text += "\n\n";
        text += &diagram::draw(layout, Some(id), output::columns());
        text += "\n";
        let spans: Vec<_> = layout.fields().collect();
        let values: Vec<String> =
            spans.iter().map(|span| span.extract(id.to_u64()).to_string()).collect();
        let width = values.iter().map(String::len).max().unwrap_or(0);
        for (span, value) in spans.iter().zip(&values) {
            let remark = if span.field == Field::Time {
                format!("{BOLD}{}{BOLD:#}", layout.timestamp(parts.unix_ms))
            } else {
                format!("{DIM}{}{DIM:#}", range(*span))
            };
            let _ = writeln!(
                text,
                "{}  {value:>width$}  {remark}",
                diagram::legend(span.field, span.width)
            );
        }
        text += "\n";
        let mut pair = |name: &str, value: &str| {
            let _ = writeln!(text, "  {DIM}{name:<9}{DIM:#}  {value}");
        };
        if layout.is_split() {
            pair("node", &parts.node.to_string());
        }
        pair("unix ms", &parts.unix_ms.to_string());
        for form in TextForm::ALL {
            pair(form.name(), &form.encode(id));
        }
        Ok(text)
    }
}
