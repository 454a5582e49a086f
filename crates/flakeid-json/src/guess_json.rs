//! Which preset made some IDs, as JSON.

use flakeid_core::{Aspect, Guess, Id, Rfc3339};
use serde::Serialize;

/// What is to be said of one preset. The keys stand in this order.
#[derive(Serialize)]
pub struct GuessJson<'a> {
    layout: &'a str,
    /// Whether it is the likeliest, or so close to it that the IDs do not decide.
    likely: bool,
    /// How many bits it takes to describe the IDs as this preset's. The fewer, the likelier.
    #[serde(skip_serializing_if = "Option::is_none")]
    bits: Option<f64>,
    /// What speaks most against it, if it is not the likeliest: `rarity`, `time`, `node` or `sequence`.
    #[serde(skip_serializing_if = "Option::is_none")]
    weakness: Option<&'static str>,
    /// The times of the first and the last ID given.
    #[serde(skip_serializing_if = "Option::is_none")]
    first: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    last: Option<String>,
    /// Why it cannot be.
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
}

impl<'a> GuessJson<'a> {
    /// Of one of the `guesses` about `ids`, which are in order, the likeliest first.
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

    /// Whether a guess is the best of all, or as good as it.
    #[must_use]
    pub fn is_likely(guess: &Guess, guesses: &[Guess]) -> bool {
        guesses.first().is_some_and(|best| guess.is_as_likely_as(best))
    }

    /// What speaks most against a guess, if it is not the best.
    #[must_use]
    pub fn weakness(guess: &Guess, guesses: &[Guess]) -> Option<&'static str> {
        guesses.first().and_then(|best| guess.weakness(best)).map(Aspect::name)
    }

    /// What a verdict says, in bits.
    #[must_use]
    pub fn bits(sixteenths: u64) -> f64 {
        // Some thousand bits for each of a few million IDs: exact.
        sixteenths as f64 / 16.0
    }

    /// When the first and the last ID were made, if they are this preset's.
    #[must_use]
    pub fn times(guess: &Guess, ids: &[Id]) -> (Rfc3339, Rfc3339) {
        let time = |id: Option<&Id>| {
            let parts = id.and_then(|id| guess.layout.unpack(*id).ok());
            guess.layout.timestamp(parts.map_or(guess.layout.epoch(), |parts| parts.unix_ms))
        };
        (time(ids.first()), time(ids.last()))
    }
}
