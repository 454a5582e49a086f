//! The result of guessing which preset the given IDs belong to, as JSON.

use flakeid_core::{Aspect, Guess, Id, Rfc3339};
use serde::Serialize;

/// The result of the guess for one preset. The JSON keys are in the same order as the fields.
///
/// ```
/// use flakeid_core::{Id, guess};
/// use flakeid_json::GuessJson;
///
/// let ids = [Id::from_u64(1_541_815_603_606_036_480)];
/// let guesses = guess(&ids, 1_800_000_000_000);
/// let json = serde_json::to_value(GuessJson::new(&guesses[0], &guesses, &ids))?;
/// assert_eq!(json["likely"], true);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Serialize)]
pub struct GuessJson<'a> {
    layout: &'a str,
    /// Whether this preset is the likeliest one, or about as likely.
    likely: bool,
    /// The number of bits needed to describe the IDs as IDs of this preset. A likelier preset needs fewer bits.
    #[serde(skip_serializing_if = "Option::is_none")]
    bits: Option<f64>,
    /// The strongest evidence against this preset: `rarity`, `time`, `node` or `sequence`. `None` for the likeliest
    /// preset and for impossible presets.
    #[serde(skip_serializing_if = "Option::is_none")]
    weakness: Option<&'static str>,
    /// The time of the first ID, decoded with this preset; `None` if the preset is impossible.
    #[serde(skip_serializing_if = "Option::is_none")]
    first: Option<String>,
    /// The time of the last ID, decoded with this preset; `None` if the preset is impossible.
    #[serde(skip_serializing_if = "Option::is_none")]
    last: Option<String>,
    /// The reason why this preset is impossible; `None` for a possible preset.
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
}

impl<'a> GuessJson<'a> {
    /// Builds the JSON of `guess`, which is one of the `guesses` for `ids`. The likeliest guess must come first in
    /// `guesses`.
    #[must_use]
    pub fn new(guess: &'a Guess, guesses: &[Guess], ids: &[Id]) -> Self {
        let times = guess.verdict.is_ok().then(|| Self::times(guess, ids));
        Self {
            layout: guess.name,
            likely: Self::is_likely(guess, guesses),
            bits: guess.verdict.ok().map(Self::bits),
            weakness: Self::weakness(guess, guesses),
            first: times.as_ref().map(|(first, _)| first.to_string()),
            last: times.as_ref().map(|(_, last)| last.to_string()),
            reason: guess.verdict.err().map(|mismatch| mismatch.to_string()),
        }
    }

    /// Whether a guess is the best guess, or about as likely as the best guess. The best guess must come first in
    /// `guesses`.
    #[must_use]
    pub fn is_likely(guess: &Guess, guesses: &[Guess]) -> bool {
        guesses.first().is_some_and(|best| guess.is_as_likely_as(best))
    }

    /// Returns the strongest evidence against a guess, or `None` for the best guess and for impossible presets.
    #[must_use]
    pub fn weakness(guess: &Guess, guesses: &[Guess]) -> Option<&'static str> {
        guesses.first().and_then(|best| guess.weakness(best)).map(Aspect::name)
    }

    /// Converts the cost of a guess from sixteenths of a bit to bits.
    #[must_use]
    pub fn bits(sixteenths: u64) -> f64 {
        // The conversion is exact, because the cost of a few million IDs stays far below 2^53 sixteenths of a bit.
        sixteenths as f64 / 16.0
    }

    /// Returns the times of the first and the last ID, decoded with the layout of the guess.
    #[must_use]
    pub fn times(guess: &Guess, ids: &[Id]) -> (Rfc3339, Rfc3339) {
        let time = |id: Option<&Id>| {
            let parts = id.and_then(|id| guess.layout.unpack(*id).ok());
            guess.layout.timestamp(parts.map_or(guess.layout.epoch(), |parts| parts.unix_ms))
        };
        (time(ids.first()), time(ids.last()))
    }
}
