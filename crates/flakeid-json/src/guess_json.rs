//! A guess of the preset that generated some IDs, as JSON.

use flakeid_core::{Aspect, Guess, Id, Rfc3339};
use serde::Serialize;

/// The guess for one preset. The keys are in this order.
#[derive(Serialize)]
pub struct GuessJson<'a> {
    layout: &'a str,
    /// Whether this preset is the likeliest, or too close to it for the IDs to decide.
    likely: bool,
    /// The number of bits that describe the IDs as this preset's. Fewer bits mean a likelier
    /// preset.
    #[serde(skip_serializing_if = "Option::is_none")]
    bits: Option<f64>,
    /// The strongest evidence against this preset, unless it is the likeliest: `rarity`, `time`,
    /// `node` or `sequence`.
    #[serde(skip_serializing_if = "Option::is_none")]
    weakness: Option<&'static str>,
    /// The time of the first given ID.
    #[serde(skip_serializing_if = "Option::is_none")]
    first: Option<String>,
    /// The time of the last given ID.
    #[serde(skip_serializing_if = "Option::is_none")]
    last: Option<String>,
    /// The reason why the preset is impossible.
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
}

impl<'a> GuessJson<'a> {
    /// Builds the JSON of one of the `guesses` about `ids`, which are sorted by likelihood.
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

    /// Whether a guess is the best one, or as good as the best.
    #[must_use]
    pub fn is_likely(guess: &Guess, guesses: &[Guess]) -> bool {
        guesses.first().is_some_and(|best| guess.is_as_likely_as(best))
    }

    /// Returns the strongest evidence against a guess, unless it is the best one.
    #[must_use]
    pub fn weakness(guess: &Guess, guesses: &[Guess]) -> Option<&'static str> {
        guesses.first().and_then(|best| guess.weakness(best)).map(Aspect::name)
    }

    /// Converts a verdict to bits.
    #[must_use]
    pub fn bits(sixteenths: u64) -> f64 {
        // The result is exact, because it is some thousand bits for each of a few million IDs.
        sixteenths as f64 / 16.0
    }

    /// Returns the times of the first and the last ID in this preset's layout.
    #[must_use]
    pub fn times(guess: &Guess, ids: &[Id]) -> (Rfc3339, Rfc3339) {
        let time = |id: Option<&Id>| {
            let parts = id.and_then(|id| guess.layout.unpack(*id).ok());
            guess.layout.timestamp(parts.map_or(guess.layout.epoch(), |parts| parts.unix_ms))
        };
        (time(ids.first()), time(ids.last()))
    }
}
