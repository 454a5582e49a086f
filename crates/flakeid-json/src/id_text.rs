//! Removes the `0x` prefix from IDs that users enter.

use std::borrow::Cow;

use flakeid_core::TextForm;

/// Removes the prefix `0x` from an ID that a user entered, and returns the digits with their text form. The prefix
/// marks a hexadecimal number, which is padded to 16 digits with leading zeros. The prefix is removed only if `form` is
/// decimal or hexadecimal, because an ID in base32 or base62 may begin with the digits `0x`.
#[must_use]
pub fn without_prefix(text: &str, form: TextForm) -> (Cow<'_, str>, TextForm) {
    let digits = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X"));
    match (digits, form) {
        (Some(digits), TextForm::Decimal | TextForm::Hex) => {
            let is_number = !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_hexdigit());
            (if is_number { format!("{digits:0>16}").into() } else { digits.into() }, TextForm::Hex)
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
                    without_prefix(text, form),
                    ("0000000000000ca2".into(), TextForm::Hex),
                    "{text}"
                );
            }
            // A string is not padded with zeros if it is empty or contains a character that is not a hexadecimal digit.
            assert_eq!(without_prefix("0x", form), ("".into(), TextForm::Hex));
            assert_eq!(without_prefix("0x-1", form), ("-1".into(), TextForm::Hex));
        }
        for form in [TextForm::Base32, TextForm::Base62] {
            assert_eq!(without_prefix("0xAAAAAAAAA", form), ("0xAAAAAAAAA".into(), form));
        }
    }
}
