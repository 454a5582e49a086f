//! Descriptors: strings that define a layout completely, such as `t41.d5.w5.s12@1288834974657/1ms`.

use core::fmt;
use core::str::FromStr;

use super::{Layout, LayoutBuilder};
use crate::Error;
use crate::calendar::Rfc3339;
use crate::error::LayoutFault;
use crate::field::Field;

/// Writes the canonical descriptor, `FIELDS@EPOCH/UNIT`. The fields begin with the most significant field, and the
/// epoch is in Unix milliseconds. The unit is in seconds if it is a whole number of seconds, and otherwise in
/// milliseconds.
impl fmt::Display for Layout {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, span) in self.fields().enumerate() {
            if index > 0 {
                f.write_str(".")?;
            }
            write!(f, "{}{}", span.field.letter(), span.width)?;
        }
        write!(f, "@{}/", self.epoch)?;
        if self.unit.is_multiple_of(1000) {
            write!(f, "{}s", self.unit / 1000)
        } else {
            write!(f, "{}ms", self.unit)
        }
    }
}

impl fmt::Debug for Layout {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Layout({self})")
    }
}

/// Parses a descriptor or the name of a preset. The epoch in the descriptor may also be an RFC 3339 timestamp.
impl FromStr for Layout {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        if let Some((_, preset)) = Self::presets().iter().find(|(name, _)| *name == text) {
            return Ok(*preset);
        }
        parse(text).map_err(|fault| Error::layout(Some(text), fault))
    }
}

fn parse(text: &str) -> Result<Layout, LayoutFault> {
    let (fields, rest) = text.split_once('@').ok_or(LayoutFault::Shape)?;
    let (epoch, unit) = rest.split_once('/').ok_or(LayoutFault::Shape)?;
    let mut builder = Layout::builder();
    for item in fields.split('.') {
        builder = parse_field(builder, item)?;
    }
    builder.epoch(parse_epoch(epoch)?).unit_ms(parse_unit(unit)?).check()
}

fn parse_field(builder: LayoutBuilder, item: &str) -> Result<LayoutBuilder, LayoutFault> {
    let letter = item.chars().next().ok_or(LayoutFault::Shape)?;
    let field = Field::ALL
        .into_iter()
        .find(|field| field.letter() == letter)
        .ok_or(LayoutFault::Letter(letter))?;
    let width = item
        .get(letter.len_utf8()..)
        .and_then(parse_number)
        .and_then(|width| u8::try_from(width).ok());
    Ok(builder.field(field, width.ok_or(LayoutFault::Width(field))?))
}

fn parse_epoch(text: &str) -> Result<i64, LayoutFault> {
    match parse_number(text) {
        Some(ms) => i64::try_from(ms).map_err(|_| LayoutFault::Epoch(i64::MAX)),
        None => Rfc3339::parse(text).ok_or(LayoutFault::EpochText),
    }
}

fn parse_unit(text: &str) -> Result<u64, LayoutFault> {
    let (number, scale) = match text.strip_suffix("ms") {
        Some(number) => (number, 1),
        None => (text.strip_suffix('s').ok_or(LayoutFault::UnitText)?, 1000),
    };
    parse_number(number).and_then(|n| n.checked_mul(scale)).ok_or(LayoutFault::UnitText)
}

/// Parses a number that consists only of digits. Rust's own parser would also accept a plus sign.
fn parse_number(text: &str) -> Option<u64> {
    text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse().ok())?
}
