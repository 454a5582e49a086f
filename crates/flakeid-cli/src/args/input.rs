//! A reader that passes the lines of standard input to a command one by one.

use std::io::{self, BufRead, BufReader, IsTerminal, Read, Write};

use flakeid_core::Error;

use crate::failure::{Failure, Outcome};
use crate::terminal;

/// The maximum length of an input line in bytes. Every valid line is shorter. Longer lines are
/// truncated, so that an endless line cannot exhaust the memory.
const LONGEST_LINE: u64 = 4096;

/// Calls `each` with every line of standard input as soon as the line arrives. `what` is the name
/// of the input values in error messages.
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
        // The output is flushed before a read that may block, so that results do not stay in the
        // buffer while the command waits for input.
        if input.buffer().is_empty() {
            out.flush()?;
        }
        line.clear();
        let read_line = input.by_ref().take(LONGEST_LINE).read_until(b'\n', &mut line);
        if read_line.map_err(|error| Failure::io("cannot read standard input", error))? == 0 {
            break;
        }
        let text = String::from_utf8_lossy(&line);
        // A truncated line is not trimmed, because trimming could turn it into a valid ID. The
        // parser rejects the untrimmed line because of its length or its spaces.
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
