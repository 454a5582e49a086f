//! The encoder for replies in versions 2 and 3 of the Redis protocol.

use flakeid_core::{Error, Id};

/// The encoded replies that have not been sent yet.
#[derive(Debug, Default)]
pub(crate) struct Replies {
    pub(crate) bytes: Vec<u8>,
    /// Whether the client selected protocol version 3 (`HELLO 3`).
    pub(crate) has_maps: bool,
}

impl Replies {
    /// Adds a short status reply, such as `OK`.
    pub(crate) fn simple(&mut self, text: &str) {
        self.line(b'+', text);
    }

    /// Adds an error reply, which begins with the error code. Control characters are replaced by spaces, because an
    /// error reply must be a single line.
    pub(crate) fn error(&mut self, code: &str, text: &str) {
        let text = text.replace(|character: char| character.is_control(), " ");
        self.line(b'-', &format!("{code} {text}"));
    }

    /// Adds an error reply for a library error. The error code is removed from the message, because the reply already
    /// begins with the code.
    pub(crate) fn library_error(&mut self, error: &Error) {
        let text = error.to_string();
        let text = text.strip_prefix(error.code()).unwrap_or(&text);
        self.error(error.code(), text.trim_start_matches([':', ' ']));
    }

    pub(crate) fn integer(&mut self, number: i64) {
        self.line(b':', itoa::Buffer::new().format(number));
    }

    pub(crate) fn bulk(&mut self, bytes: &[u8]) {
        self.length(b'$', bytes.len() as u64);
        self.bytes.extend_from_slice(bytes);
        self.bytes.extend_from_slice(b"\r\n");
    }

    pub(crate) fn null(&mut self) {
        self.bytes.extend_from_slice(if self.has_maps { b"_\r\n" } else { b"$-1\r\n" });
    }

    /// Adds the beginning of an array with the given number of elements.
    pub(crate) fn array(&mut self, count: u64) {
        self.length(b'*', count);
    }

    /// Adds the beginning of a map with the given number of pairs. Protocol version 2 represents a
    /// map as an array.
    pub(crate) fn map(&mut self, pairs: u64) {
        if self.has_maps {
            self.length(b'%', pairs);
        } else {
            self.array(2 * pairs);
        }
    }

    /// Adds each ID as a bulk string of decimal digits.
    pub(crate) fn ids(&mut self, ids: &[Id]) {
        // Each ID takes at most 27 bytes: 5 for the line with the length, 20 for the digits and 2 for the line end.
        self.bytes.reserve_exact(ids.len() * 27);
        let mut digits = itoa::Buffer::new();
        for id in ids {
            self.bulk(digits.format(id.to_u64()).as_bytes());
        }
    }

    fn length(&mut self, mark: u8, length: u64) {
        self.line(mark, itoa::Buffer::new().format(length));
    }

    fn line(&mut self, mark: u8, text: &str) {
        self.bytes.push(mark);
        self.bytes.extend_from_slice(text.as_bytes());
        self.bytes.extend_from_slice(b"\r\n");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn replies_follow_both_versions_of_the_redis_protocol() {
        for (has_maps, written) in [
            (false, &b"+OK\r\n-ERR a  b\r\n:-7\r\n$1\r\n7\r\n$-1\r\n*2\r\n"[..]),
            (true, b"+OK\r\n-ERR a  b\r\n:-7\r\n$1\r\n7\r\n_\r\n%1\r\n"),
        ] {
            let mut replies = Replies { has_maps, ..Replies::default() };
            replies.simple("OK");
            replies.error("ERR", "a\r\nb");
            replies.integer(-7);
            replies.ids(&[Id::from_u64(7)]);
            replies.null();
            replies.map(1);
            assert_eq!(replies.bytes, written);
        }
    }

    #[test]
    fn error_reply_contains_the_error_code_only_once() {
        let mut replies = Replies::default();
        replies.library_error(&Error::invalid_option("namespace", "no such"));
        let text = String::from_utf8_lossy(&replies.bytes).into_owned();
        assert!(text.starts_with("-FLAKEID_INVALID_OPTION "), "{text}");
        assert_eq!(text.matches("FLAKEID_INVALID_OPTION").count(), 1, "{text}");
    }
}
