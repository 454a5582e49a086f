//! A fast reader for IDs on standard input, one per line.

use std::io::{self, BufRead, BufReader, IsTerminal};

use flakeid_core::{Error, Id, Layout, Statistics, TextForm};

use crate::args::id;
use crate::failure::{Failure, Outcome};

/// The size of the input buffer in bytes, large enough to make the cost of system calls negligible.
const BUFFER: usize = 1 << 18;

/// The maximum length of an accepted line, in bytes. Every valid ID is shorter.
const LONGEST_LINE: usize = 4096;

/// Adds every ID from standard input to the statistics.
pub(super) fn read(statistics: &mut Statistics, form: TextForm, layout: &Layout) -> Outcome {
    let input = io::stdin();
    if input.is_terminal() {
        let reason = "missing: give them as arguments, or one per line on standard input";
        return Err(Error::invalid_option("IDs", reason).into());
    }
    let mut lines = Lines { statistics, form, layout, number: 0 };
    let mut input = BufReader::with_capacity(BUFFER, input.lock());
    // The beginning of a line that continues in the next buffer.
    let mut begun: Vec<u8> = Vec::new();
    loop {
        let buffer =
            input.fill_buf().map_err(|error| Failure::io("cannot read standard input", error))?;
        if buffer.is_empty() {
            break;
        }
        let length = buffer.len();
        let mut rest = buffer;
        if !begun.is_empty()
            && let Some(end) = end_of_line(rest)
        {
            begun.extend_from_slice(&rest[..end]);
            rest = &rest[end + 1..];
            lines.add(&std::mem::take(&mut begun))?;
        }
        if begun.is_empty() {
            rest = lines.add_all(rest)?;
        }
        // At most one byte more than the longest accepted line is kept, so that an endless line cannot
        // exhaust the memory.
        let room = (LONGEST_LINE + 1).saturating_sub(begun.len());
        begun.extend_from_slice(&rest[..rest.len().min(room)]);
        input.consume(length);
    }
    if begun.is_empty() { Ok(()) } else { lines.add(&begun) }
}

fn end_of_line(bytes: &[u8]) -> Option<usize> {
    bytes.iter().position(|byte| *byte == b'\n')
}

struct Lines<'a> {
    statistics: &'a mut Statistics,
    form: TextForm,
    layout: &'a Layout,
    number: u64,
}

impl Lines<'_> {
    /// Adds the IDs on all complete lines to the statistics, and returns the incomplete last line.
    fn add_all<'a>(&mut self, mut rest: &'a [u8]) -> Result<&'a [u8], Failure> {
        loop {
            if self.form == TextForm::Decimal
                && let Some((id, length)) = plain_line(rest)
            {
                self.number += 1;
                let added = self.statistics.add(Id::from_u64(id));
                added.map_err(|error| Failure::from(error).in_line(self.number))?;
                rest = &rest[length..];
                continue;
            }
            let Some(end) = end_of_line(rest) else { return Ok(rest) };
            self.add(&rest[..end])?;
            rest = &rest[end + 1..];
        }
    }

    fn add(&mut self, line: &[u8]) -> Outcome {
        self.number += 1;
        let text = String::from_utf8_lossy(line);
        // A line that is too long may be incomplete. Such a line is not trimmed, because trimming
        // could turn the line into a valid ID.
        let text = if line.len() > LONGEST_LINE { &text } else { text.trim() };
        let id = id::parse(text, self.form, self.layout);
        let added = id.and_then(|id| Ok(self.statistics.add(id)?));
        added.map_err(|failure| failure.in_line(self.number))
    }
}

/// Returns the ID on a line of 1 to 19 digits, and the length of the line including the line break.
/// Returns `None` for any other line, and for a line that begins in the last 23 bytes of `text`. The
/// caller then parses the line with the core's parser.
fn plain_line(text: &[u8]) -> Option<(u64, usize)> {
    let text: &[u8; 24] = text.first_chunk()?;
    let (mut id, mut length) = (0_u64, 0);
    while length < 16
        && let Some(digits) = text[length..].first_chunk().copied().and_then(eight_digits)
    {
        id = id * 100_000_000 + digits;
        length += 8;
    }
    // The loop accepts at most 19 digits, so that the number stays below 2^64. The 20th byte can
    // only be the line break.
    while length < 20 {
        match text[length] {
            digit @ b'0'..=b'9' if length < 19 => id = id * 10 + u64::from(digit - b'0'),
            b'\n' if length > 0 => return Some((id, length + 1)),
            _ => return None,
        }
        length += 1;
    }
    None
}

/// Returns the number that eight digits represent, or `None` if a byte is not a digit. The eight
/// digits are converted in parallel: adjacent digits are combined into two-digit numbers, and then
/// into four-digit and eight-digit numbers.
fn eight_digits(text: [u8; 8]) -> Option<u64> {
    const ALL: u64 = 0x0101_0101_0101_0101;
    let digits = u64::from_le_bytes(text).wrapping_sub(ALL * u64::from(b'0'));
    // The subtraction turns digits into bytes from 0 to 9. A byte above 9 has a bit set in its
    // upper half, either immediately or after 6 is added. A character below '0' wraps around to a
    // large byte.
    if (digits | digits.wrapping_add(ALL * 6)) & (ALL * 0xf0) != 0 {
        return None;
    }
    let twos = digits.wrapping_mul(10) + (digits >> 8);
    let fours =
        (twos & 0x00ff_00ff_00ff_00ff).wrapping_mul(100) + ((twos >> 16) & 0x00ff_00ff_00ff_00ff);
    let low = fours & 0xffff;
    let high = (fours >> 32) & 0xffff;
    Some(low * 10_000 + high)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(text: &str) -> Option<(u64, usize)> {
        plain_line(format!("{text:\0<24}").as_bytes())
    }

    #[test]
    fn plain_line_parser_reads_decimal_ids_exactly() {
        let mut number = 1_u64;
        for _ in 0..200_000 {
            // Shifting the pseudorandom numbers produces IDs of every possible length.
            number = number.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            let id = number >> (number & 63);
            if id < 10_u64.pow(19) {
                let text = format!("{id}\n");
                assert_eq!(line(&text), Some((id, text.len())));
            }
        }
        assert_eq!(line("0007\n8\n"), Some((7, 5)));
        assert_eq!(line("12345678\n"), Some((12_345_678, 9)));
        assert_eq!(line("9999999999999999999\n"), Some((9_999_999_999_999_999_999, 20)));
    }

    #[test]
    fn plain_line_parser_returns_none_for_signs_spaces_and_twenty_digits() {
        for text in
            ["\n", "1", "12345678", "1 \n", " 1\n", "1\r\n", "-1\n", "+1\n", "0x1\n", "1_0\n"]
        {
            assert_eq!(line(text), None, "{text:?}");
        }
        assert_eq!(line("10000000000000000000\n"), None, "twenty digits may exceed 64 bits");
        // Each of the eight positions is tested with bytes that are not digits, such as the
        // characters next to '0' and '9'.
        for place in 0..8 {
            for wrong in [b'/', b':', b' ', b'\n', 0, 0x80, 0xff, b'9' + 16] {
                let mut text = *b"12345678";
                text[place] = wrong;
                assert_eq!(eight_digits(text), None, "{text:?}");
            }
        }
    }
}
