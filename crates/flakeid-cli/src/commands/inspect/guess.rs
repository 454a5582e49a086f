//! `flakeid inspect --guess`: which preset made the IDs, and why others did not.

use std::fmt::Write as _;

use anstyle::Style;
use flakeid_core::{Clock, Guess, Id, Rfc3339, SystemClock};
use serde::Serialize;

use crate::failure::Outcome;
use crate::format::table::{Align, Table};
use crate::format::{BOLD, DIM};
use crate::terminal;

/// What a program reads of one preset.
#[derive(Serialize)]
struct GuessJson<'a> {
    layout: &'a str,
    /// Whether it is the likeliest, or so close to it that the IDs do not decide.
    likely: bool,
    /// How many bits it takes to describe the IDs as this preset's. The fewer, the likelier.
    #[serde(skip_serializing_if = "Option::is_none")]
    bits: Option<f64>,
    /// The times of the first and the last ID given.
    #[serde(skip_serializing_if = "Option::is_none")]
    first: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    last: Option<String>,
    /// Why it cannot be.
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
}

pub(super) fn run(ids: &[Id], draws: bool) -> Outcome {
    let guesses = flakeid_core::guess(ids, SystemClock.unix_ms());
    if draws {
        return Ok(terminal::show(&draw(ids, &guesses))?);
    }
    let json = guesses.iter().map(|guess| {
        let times = guess.verdict.is_ok().then(|| times(ids, guess));
        GuessJson {
            layout: guess.name,
            likely: is_likely(guess, &guesses),
            bits: guess.verdict.ok().map(bits),
            first: times.as_ref().map(|(first, _)| first.to_string()),
            last: times.as_ref().map(|(_, last)| last.to_string()),
            reason: guess.verdict.err().map(|mismatch| mismatch.to_string()),
        }
    });
    Ok(terminal::show_json(json)?)
}

fn is_likely(guess: &Guess, guesses: &[Guess]) -> bool {
    guesses.first().is_some_and(|best| guess.is_as_likely_as(best))
}

/// What a verdict says, in bits.
fn bits(sixteenths: u64) -> f64 {
    // Some thousand bits for each of a few million IDs: exact.
    sixteenths as f64 / 16.0
}

/// When the first and the last ID were made, if they are this preset's.
fn times(ids: &[Id], guess: &Guess) -> (Rfc3339, Rfc3339) {
    let time = |id: Option<&Id>| {
        let parts = id.and_then(|id| guess.layout.unpack(*id).ok());
        guess.layout.timestamp(parts.map_or(guess.layout.epoch(), |parts| parts.unix_ms))
    };
    (time(ids.first()), time(ids.last()))
}

fn draw(ids: &[Id], guesses: &[Guess]) -> String {
    let likely: Vec<&str> =
        guesses.iter().filter(|guess| is_likely(guess, guesses)).map(|guess| guess.name).collect();
    let what = if ids.len() == 1 { "This ID" } else { "These IDs" };
    let mut text = match likely.as_slice() {
        [] => format!("{what} can be of {BOLD}no preset{BOLD:#}.\n"),
        [one] => format!("{what} can be of {BOLD}{one}{BOLD:#}.\n"),
        [rest @ .., last] => format!(
            "{what} can be of {BOLD}{} or {last}{BOLD:#}: more IDs of the same system would tell.\n",
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
        let behind = match (&guess.verdict, guesses.first().map(|best| &best.verdict)) {
            (Err(mismatch), _) => {
                let _ = writeln!(why_not, "  {DIM}not {}: {mismatch}{DIM:#}", guess.name);
                continue;
            }
            (Ok(this), Some(Ok(best))) => bits(this - best),
            (Ok(_), _) => 0.0,
        };
        let likely = is_likely(guess, guesses);
        let remark = match behind {
            0.0 => "likeliest".to_owned(),
            _ if likely => format!("{behind:.1} bits less likely"),
            _ => format!("unlikely: {behind:.0} bits"),
        };
        let mut cells = vec![guess.name.to_owned()];
        let (first, last) = times(ids, guess);
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
