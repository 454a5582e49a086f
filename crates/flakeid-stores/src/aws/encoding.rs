//! Percent-encoding and hexadecimal digits.

use std::fmt::Write as _;

/// Encodes all characters except letters, digits and `-._~` in percent-encoding. If `is_path` is set, slashes also remain
/// unchanged.
pub(crate) fn encode(text: &str, is_path: bool) -> String {
    let mut encoded = String::with_capacity(text.len());
    for byte in text.bytes() {
        let is_kept = byte.is_ascii_alphanumeric() || b"-._~".contains(&byte);
        if is_kept || (is_path && byte == b'/') {
            encoded.push(char::from(byte));
        } else {
            let _ = write!(encoded, "%{byte:02X}");
        }
    }
    encoded
}

pub(super) fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

#[cfg(test)]
mod tests {
    use super::encode;

    #[test]
    fn reserved_characters_are_percent_encoded() {
        assert_eq!(encode("a/b c+ü", true), "a/b%20c%2B%C3%BC");
        assert_eq!(encode("a/b~", false), "a%2Fb~");
    }
}
