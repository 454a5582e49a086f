//! ID arguments, and the text forms in which IDs are written.

use clap::ValueEnum;
use flakeid_core::{Error, Id, Layout, TextForm};
use flakeid_json::{Identifier, entered_id};

use crate::failure::Failure;

/// The text form of the IDs that a command reads.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum InputForm {
    #[value(alias = "decimal")]
    Dec,
    Hex,
    Base32,
    Base36,
    Base58,
    Base62,
    #[value(name = "base58_flickr")]
    Base58Flickr,
    Zbase32,
    Uuid,
}

impl InputForm {
    pub(crate) const fn text_form(self) -> TextForm {
        match self {
            Self::Dec => TextForm::Decimal,
            Self::Hex => TextForm::Hex,
            Self::Base32 => TextForm::Base32,
            Self::Base36 => TextForm::Base36,
            Self::Base58 => TextForm::Base58,
            Self::Base62 => TextForm::Base62,
            Self::Base58Flickr => TextForm::Base58Flickr,
            Self::Zbase32 => TextForm::Zbase32,
            Self::Uuid => TextForm::Uuid,
        }
    }
}

/// Parses an ID, and checks that the ID is valid in the given layout.
pub(crate) fn parse(text: &str, form: TextForm, layout: &Layout) -> Result<Id, Failure> {
    let id = parse_any(text, form)?;
    layout.unpack(id).map_err(|error| {
        Failure::hinted(error, "if the ID has another layout, give that layout with --layout")
    })?;
    Ok(id)
}

/// Parses an ID without checking it against a layout.
pub(crate) fn parse_any(text: &str, form: TextForm) -> Result<Id, Failure> {
    let (digits, form) = entered_id(text, form);
    form.decode(&digits).map_err(|error| {
        let hint = hint(&error, text, form);
        Failure::Refused { error, hint }
    })
}

/// Returns a hint for a string that is not a valid ID in the given text form, or `None` if no hint
/// applies.
///
/// The hint contains the range of decimal IDs, unless the error already contains the maximum. For a
/// negative number, the hint contains the ID with the same 64 bits. The hint also names the other
/// text forms in which the string is a valid ID, and describes other identifiers, such as UUIDs.
fn hint(error: &Error, text: &str, form: TextForm) -> Option<String> {
    let mut hints = Vec::new();
    if form == TextForm::Decimal && !error.to_string().contains(&u64::MAX.to_string()) {
        hints.push(format!("decimal IDs are from 0 to {}", u64::MAX));
    }
    if form == TextForm::Decimal
        && let Ok(signed @ ..0) = text.parse::<i64>()
    {
        let id = Id::from_i64(signed);
        hints.push(format!("if the number comes from a signed 64-bit column, the ID is {id}"));
    }
    hints.extend(other_forms(text, form));
    hints.extend(Identifier::recognize(text).map(|found| format!("the string is {found}")));
    (!hints.is_empty()).then(|| hints.join("; "))
}

/// Returns a hint that names the other text forms in which the string is a valid ID, if there are
/// any.
fn other_forms(text: &str, form: TextForm) -> Option<String> {
    let others: Vec<&str> = TextForm::ALL
        .into_iter()
        .filter(|other| *other != form && other.decode(text).is_ok())
        .map(TextForm::name)
        .collect();
    match others.as_slice() {
        [] => None,
        [other] => Some(format!("the string is a valid ID in {other}: add --format {other}")),
        [first @ .., last] => Some(format!(
            "the string is a valid ID in several forms ({} and {last}): select one form with --format",
            first.join(", ")
        )),
    }
}
