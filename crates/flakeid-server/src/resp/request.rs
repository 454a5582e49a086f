//! The parser for commands from Redis clients. A command is an array of bulk strings or a line of words.
//!
//! The parser checks every length before it stores any data. A connection therefore holds at most [`LONGEST`] bytes of
//! a command, regardless of the length that the client announces.

use std::fmt;
use std::str;

/// The maximum length of a command, in bytes. A longer command causes an error that ends the connection.
pub(crate) const LONGEST: usize = 16 * 1_024;

/// The largest number of words in a command.
pub(crate) const MOST_WORDS: usize = 64;

/// The maximum length of a word, in bytes. A token has a few dozen bytes, and a namespace has at most 64 bytes.
pub(crate) const LONGEST_WORD: usize = 4_096;

/// The maximum length, in bytes, of a line that declares a length (`*` or `$` and a number), without the line end.
const LONGEST_LENGTH: usize = 20;

/// A parsed command, and the number of bytes that the command occupies in the input.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Request<'a> {
    /// The words of the command. An empty line or array has no words, and gets no reply.
    pub(crate) words: Vec<&'a [u8]>,
    pub(crate) length: usize,
}

/// An error for input that does not begin with a valid command. The rest of the input cannot be parsed either.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Malformed(String);

impl fmt::Display for Malformed {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

fn malformed<T>(what: impl Into<String>) -> Result<T, Malformed> {
    Err(Malformed(what.into()))
}

/// Parses the first command in `input`. Returns `None` if the command is incomplete.
pub(crate) fn parse(input: &[u8]) -> Result<Option<Request<'_>>, Malformed> {
    let request = match input.first() {
        None => return Ok(None),
        Some(b'*') => array(input)?,
        Some(_) => line_of_words(input)?,
    };
    match request {
        Some(request) if request.length > LONGEST => too_long(),
        None if input.len() >= LONGEST => too_long(),
        request => Ok(request),
    }
}

fn too_long<T>() -> Result<T, Malformed> {
    malformed(format!("the command is longer than {LONGEST} bytes"))
}

fn array(input: &[u8]) -> Result<Option<Request<'_>>, Malformed> {
    let Some((count, mut at)) = length(input, b'*', MOST_WORDS, "words")? else { return Ok(None) };
    let mut words = Vec::with_capacity(count);
    for _ in 0..count {
        let rest = &input[at..];
        let Some((length, begin)) = length(rest, b'$', LONGEST_WORD, "bytes of a word")? else {
            return Ok(None);
        };
        let end = begin + length;
        match rest.get(end..end + 2) {
            Some(b"\r\n") => {}
            Some(_) => return malformed("an argument is longer than its declared length"),
            None => return Ok(None),
        }
        words.push(&rest[begin..end]);
        at += end + 2;
    }
    Ok(Some(Request { words, length: at }))
}

/// Parses the number after `mark`, and returns the number and the position of the next line. A null array, which has
/// the length -1, counts as 0 words.
fn length(
    input: &[u8],
    mark: u8,
    most: usize,
    of: &str,
) -> Result<Option<(usize, usize)>, Malformed> {
    let shown = char::from(mark);
    if input.first().is_some_and(|first| *first != mark) {
        return malformed(format!("expected {shown:?} before a length"));
    }
    let head = &input[..input.len().min(LONGEST_LENGTH + 2)];
    let Some(end) = head.windows(2).position(|two| two == b"\r\n") else {
        if head.len() < LONGEST_LENGTH + 2 {
            return Ok(None);
        }
        return malformed(format!("the length after {shown:?} does not end with CRLF"));
    };
    let digits = &head[1..end];
    if digits == b"-1" && mark == b'*' {
        return Ok(Some((0, end + 2)));
    }
    let is_number = !digits.is_empty() && digits.iter().all(u8::is_ascii_digit);
    let number = str::from_utf8(digits).ok().filter(|_| is_number);
    match number.and_then(|digits| digits.parse::<usize>().ok()) {
        Some(number) if number <= most => Ok(Some((number, end + 2))),
        Some(_) => malformed(format!("more than {most} {of}")),
        None => malformed(format!("the length after {shown:?} is not a number from 0 to {most}")),
    }
}

/// Parses a command that is a line of words, for example a line that a user typed in a terminal.
fn line_of_words(input: &[u8]) -> Result<Option<Request<'_>>, Malformed> {
    let head = &input[..input.len().min(LONGEST)];
    let Some(end) = head.iter().position(|byte| *byte == b'\n') else { return Ok(None) };
    let line = &head[..end];
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    let words: Vec<_> = line
        .split(|byte| matches!(byte, b' ' | b'\t'))
        .filter(|word| !word.is_empty())
        .take(MOST_WORDS + 1)
        .collect();
    if words.len() > MOST_WORDS {
        return malformed(format!("more than {MOST_WORDS} words"));
    }
    // HTTP requests are rejected as a protection against malicious web pages. A page can make a browser send an HTTP
    // request to a port on the user's machine, and the request can contain Redis commands.
    if words.first().is_some_and(|first| is_http(first)) {
        return malformed("this port uses the Redis protocol, not HTTP");
    }
    Ok(Some(Request { words, length: end + 1 }))
}

fn is_http(word: &[u8]) -> bool {
    ["POST", "PUT", "PATCH", "DELETE", "OPTIONS", "HEAD", "Host:"]
        .iter()
        .any(|known| word.eq_ignore_ascii_case(known.as_bytes()))
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn written(words: &[Vec<u8>]) -> Vec<u8> {
        let mut out = format!("*{}\r\n", words.len()).into_bytes();
        for word in words {
            out.extend_from_slice(format!("${}\r\n", word.len()).as_bytes());
            out.extend_from_slice(word);
            out.extend_from_slice(b"\r\n");
        }
        out
    }

    proptest! {
        /// Checks that parsing an encoded command returns the command's words, regardless of the bytes that follow.
        /// Also checks that every proper prefix of an encoded command is incomplete.
        #[test]
        fn parse_returns_the_words_of_an_encoded_command(
            words in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..40), 0..9),
            after in prop::collection::vec(any::<u8>(), 0..20),
        ) {
            let command = written(&words);
            let input = [command.as_slice(), &after].concat();
            let request = parse(&input).unwrap().unwrap();
            prop_assert_eq!(&request.words, &words);
            prop_assert_eq!(request.length, command.len());
            for part in 0..command.len() {
                prop_assert_eq!(parse(&command[..part]), Ok(None));
            }
        }

        /// Checks that the parser never panics, and that a returned command does not extend beyond the input.
        #[test]
        fn parse_never_panics_on_arbitrary_bytes(input in prop::collection::vec(
            prop_oneof![Just(b'*'), Just(b'$'), Just(b'\r'), Just(b'\n'), b'0'..=b'9', any::<u8>()],
            0..200,
        )) {
            if let Ok(Some(request)) = parse(&input) {
                prop_assert!((1..=input.len()).contains(&request.length));
            }
        }
    }

    #[test]
    fn parse_rejects_malformed_and_oversized_commands() {
        let long_line = "a".repeat(LONGEST);
        let words = "a ".repeat(MOST_WORDS + 1) + "\r\n";
        for input in [
            "*65\r\n",
            "*1000000000\r\n",
            "*99999999999999999999999999999999999\r\n",
            "*-2\r\n",
            "*+1\r\n",
            "*\r\n",
            "*1\r\n$4097\r\n",
            "*1\r\n$-1\r\n",
            "*1\r\n:4\r\n",
            "*1\r\n$1\r\nabc",
            "*2\r\n*1\r\n",
            "POST / HTTP/1.1\r\n",
            "host: localhost\r\n",
            &long_line,
            &words,
        ] {
            let shown: String = input.chars().take(40).collect();
            assert!(parse(input.as_bytes()).is_err(), "{shown:?}");
        }
        // Each word has an allowed length, but the whole command is too long.
        let long = written(&vec![vec![0; LONGEST_WORD]; 4]);
        assert!(parse(&long).is_err());
        assert!(parse(&long[..LONGEST]).is_err());
        assert_eq!(parse(&long[..LONGEST - 1]), Ok(None));
    }

    #[test]
    fn parse_splits_inline_commands_into_words() {
        let request = parse(b"  incr\t orders \r\nPING\r\n").unwrap().unwrap();
        assert_eq!((request.words, request.length), (vec![&b"incr"[..], b"orders"], 17));
        for empty in [&b"\r\n"[..], b"\n", b"*0\r\n", b"*-1\r\n"] {
            let request = parse(empty).unwrap().unwrap();
            assert_eq!((request.words.len(), request.length), (0, empty.len()));
        }
        assert_eq!(parse(b""), Ok(None));
        assert_eq!(parse(b"PING\r"), Ok(None));
    }
}
