//! The text form of an ID that a user enters.

use std::borrow::Cow;

use flakeid_core::TextForm;

/// Returns the digits of an ID that a user entered, and their text form.
///
/// The prefix `0x` marks a hexadecimal number, which is padded to 16 digits with leading zeros. The prefix is removed
/// only if `form` is decimal or hexadecimal, because an ID in base32 or base62 may begin with the digits `0x`. If `form`
/// is decimal, the ID may also be a UUID, which the hyphens distinguish from a number.
#[must_use]
pub fn entered_id(text: &str, form: TextForm) -> (Cow<'_, str>, TextForm) {
    let digits = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X"));
    match (digits, form) {
        (Some(digits), TextForm::Decimal | TextForm::Hex) => {
            let is_number = !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_hexdigit());
            (if is_number { format!("{digits:0>16}").into() } else { digits.into() }, TextForm::Hex)
        }
        (None, TextForm::Decimal) if text.len() == 36 && text.as_bytes()[8] == b'-' => {
            (text.into(), TextForm::Uuid)
        }
        _ => (text.into(), form),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prefix_0x_is_removed_only_if_the_text_form_is_decimal_or_hex() {
        for form in [TextForm::Decimal, TextForm::Hex] {
            for text in ["0xca2", "0Xca2"] {
                assert_eq!(
                    entered_id(text, form),
                    ("0000000000000ca2".into(), TextForm::Hex),
                    "{text}"
                );
            }
            // A string is not padded with zeros if it is empty or contains a character that is not a hexadecimal digit.
            assert_eq!(entered_id("0x", form), ("".into(), TextForm::Hex));
            assert_eq!(entered_id("0x-1", form), ("-1".into(), TextForm::Hex));
        }
        for form in [TextForm::Base32, TextForm::Base62] {
            assert_eq!(entered_id("0xAAAAAAAAA", form), ("0xAAAAAAAAA".into(), form));
        }
    }

    #[test]
    fn uuid_is_accepted_in_place_of_a_decimal_number() {
        let uuid = "0ca2be89-5c23-8900-8366-6c616b656964";
        assert_eq!(entered_id(uuid, TextForm::Decimal), (uuid.into(), TextForm::Uuid));
        assert_eq!(entered_id(uuid, TextForm::Base62), (uuid.into(), TextForm::Base62));
        assert_eq!(entered_id("-5", TextForm::Decimal), ("-5".into(), TextForm::Decimal));
    }
}
