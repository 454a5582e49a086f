//! The prefix `0x` of typed IDs.

use std::borrow::Cow;

use flakeid_core::TextForm;

/// Returns the digits of a typed ID without its prefix, and their text form. The prefix `0x` marks
/// a hexadecimal number, whose leading zeros may be missing. It is removed only if `form` is
/// decimal or hexadecimal, because in base32 and base62 an ID may begin with these two digits.
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
    fn without_prefix_removes_0x_only_from_decimal_and_hex() {
        for form in [TextForm::Decimal, TextForm::Hex] {
            for text in ["0xca2", "0Xca2"] {
                assert_eq!(
                    without_prefix(text, form),
                    ("0000000000000ca2".into(), TextForm::Hex),
                    "{text}"
                );
            }
            // Without any digits, no zeros are added.
            assert_eq!(without_prefix("0x", form), ("".into(), TextForm::Hex));
            assert_eq!(without_prefix("0x-1", form), ("-1".into(), TextForm::Hex));
        }
        for form in [TextForm::Base32, TextForm::Base62] {
            assert_eq!(without_prefix("0xAAAAAAAAA", form), ("0xAAAAAAAAA".into(), form));
        }
    }
}
