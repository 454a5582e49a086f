//! What a command is given one after the other: as arguments, or one per line on standard input.

use std::io::{self, BufRead, BufReader, IsTerminal, Read, Write};

use flakeid_core::Error;

use crate::failure::{Failure, Outcome};
use crate::terminal;

/// In bytes. No valid input is longer; a longer line is cut here, so that it does not fill the memory.
const LONGEST_LINE: u64 = 4096;

/// Reads standard input, and does something with each line as it comes. Errors call what is in the lines `what`.
pub(crate) fn each_line(
    what: &'static str,
    mut each: impl FnMut(&mut terminal::Stream, &str) -> Outcome,
) -> Outcome {
    let input = io::stdin();
    if input.is_terminal() {
        let reason = "missing: give it as an argument, or one per line on standard input";
        return Err(Error::invalid_option(what, reason).into());
    }
    let mut input = BufReader::new(input.lock());
    let mut out = terminal::stream();
    let mut line = Vec::new();
    for number in 1_u64.. {
        // Before a read that may wait, so that the reader of a slow pipe gets every answer.
        if input.buffer().is_empty() {
            out.flush()?;
        }
        line.clear();
        let read_line = input.by_ref().take(LONGEST_LINE).read_until(b'\n', &mut line);
        if read_line.map_err(|error| Failure::io("cannot read standard input", error))? == 0 {
            break;
        }
        let text = String::from_utf8_lossy(&line);
        // A line that was cut is not trimmed, so it is refused for its length or its spaces.
        let is_cut = line.len() as u64 == LONGEST_LINE && !line.ends_with(b"\n");
        let text = if is_cut { &text } else { text.trim() };
        if let Err(failure) = each(&mut out, text) {
            out.flush()?;
            return Err(failure.in_line(number));
        }
    }
    out.flush()?;
    Ok(())
}
