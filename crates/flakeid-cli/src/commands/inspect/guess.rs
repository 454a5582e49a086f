//! `flakeid inspect --guess`: ranks the presets whose layouts fit the IDs, and explains why the
//! other presets do not fit.

use std::fmt::Write as _;

use anstyle::Style;
use flakeid_core::{Clock, Guess, Id, SystemClock};
use flakeid_json::GuessJson;

use crate::failure::Outcome;
use crate::format::table::{Align, Table};
use crate::format::{BOLD, DIM};
use crate::terminal;

pub(super) fn run(ids: &[Id], draws: bool) -> Outcome {
    if ids.is_empty() {
        // Without IDs, every preset would fit, and a list of all presets would be useless.
        return if draws { Ok(terminal::show("No IDs.\n")?) } else { Ok(()) };
    }
    let guesses = flakeid_core::guess(ids, SystemClock.unix_ms());
    if draws {
        return Ok(terminal::show(&draw(ids, &guesses))?);
    }
    let json = guesses.iter().map(|guess| GuessJson::new(guess, &guesses, ids));
    Ok(terminal::show_json(json)?)
}

fn draw(ids: &[Id], guesses: &[Guess]) -> String {
    let likely: Vec<&str> = guesses
        .iter()
        .filter(|guess| GuessJson::is_likely(guess, guesses))
        .map(|guess| guess.name)
        .collect();
    let what = if ids.len() == 1 { "This ID" } else { "These IDs" };
    let mut text = match likely.as_slice() {
        [] => format!("{what} cannot have been generated with {BOLD}any preset{BOLD:#}.\n"),
        [one] => format!("{what} could be from {BOLD}{one}{BOLD:#}.\n"),
        [rest @ .., last] => format!(
            "{what} could be from {BOLD}{} or {last}{BOLD:#}: give more IDs from the same system to tell which.\n",
            rest.join(", ")
        ),
    };
    let left = |title| (title, Align::Left);
    let columns = match ids {
        [_] => vec![left("layout"), left("time"), left("node"), left("sequence"), left("")],
        _ => vec![left("layout"), left("first"), left("last"), left("")],
    };
    let mut table = Table::new(&columns);
    let mut why_not = String::new();
    for guess in guesses {
        let bits_behind = match (&guess.verdict, guesses.first().map(|best| &best.verdict)) {
            (Err(mismatch), _) => {
                let _ = writeln!(why_not, "  {DIM}not {}: {mismatch}{DIM:#}", guess.name);
                continue;
            }
            (Ok(this), Some(Ok(best))) => GuessJson::bits(this - best),
            (Ok(_), _) => 0.0,
        };
        let likely = GuessJson::is_likely(guess, guesses);
        let remark = match bits_behind {
            0.0 => "likeliest".to_owned(),
            _ if likely => {
                format!("2^{bits_behind:.1} times less likely than the best match")
            }
            _ => {
                let most = GuessJson::weakness(guess, guesses)
                    .map_or_else(String::new, |aspect| format!(", mainly because of the {aspect}"));
                format!("unlikely: 2^{bits_behind:.0} times less likely{most}")
            }
        };
        let mut cells = vec![guess.name.to_owned()];
        let (first, last) = GuessJson::times(guess, ids);
        cells.push(first.to_string());
        match ids {
            [id] => {
                let parts = guess.layout.unpack(*id).ok();
                cells.push(parts.as_ref().map_or_else(String::new, |it| it.node.to_string()));
                cells.push(parts.map_or_else(String::new, |it| it.sequence.to_string()));
            }
            _ => cells.push(last.to_string()),
        }
        cells.push(remark);
        table.row(cells, if likely { Style::new() } else { DIM }, None);
    }
    if !likely.is_empty() {
        text += "\n";
        text += &table.render();
    }
    if !why_not.is_empty() {
        text += "\n";
        text += &why_not;
    }
    text
}
