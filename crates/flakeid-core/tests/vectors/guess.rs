//! Tests of `guess` with IDs that other systems published, and with IDs that the packages of other systems generated.

use flakeid_core::{Aspect, Id, Mismatch, guess};

use crate::guess_counts::{self, ids};
use crate::{load, number, rows, text};

#[test]
fn guess_recognizes_most_ids_of_every_system() {
    let (all, lines) = guess_counts::all(&load("guess"));
    println!("{}", lines.join("\n"));
    assert!(all.first * 100 >= all.ids * 95, "{} of {}", all.first, all.ids);
    assert!(all.among * 100 >= all.ids * 97, "{} of {}", all.among, all.ids);
    assert!(all.groups_first * 100 >= all.groups * 95, "{} groups", all.groups_first);
}

/// Checks that IDs generated years apart are attributed to the right preset. If the age of every ID contributed to the
/// cost, the guess would favour the preset with the latest epoch.
#[test]
fn guess_finds_the_right_preset_for_ids_generated_years_apart() {
    let file = load("guess");
    let now: i64 = number(&file, "now");
    let bots =
        rows(&file, "groups").iter().find(|group| text(group, "system") == "Discord bots").unwrap();
    let bots = ids(bots);
    let (mut all, mut first) = (0, 0);
    for group in (2..=bots.len()).flat_map(|length| bots.windows(length)) {
        let guesses = guess(group, now);
        let discord = guesses.iter().find(|it| it.name == "discord").unwrap();
        assert!(discord.is_as_likely_as(&guesses[0]), "{group:?}");
        all += 1;
        first += usize::from(guesses[0].name == "discord");
    }
    println!("{first} of {all} groups of Discord bots first");
    assert_eq!(guess(&bots[..3], now)[0].name, "discord");
    assert!(first * 100 >= all * 90, "{first} of {all}");
}

/// Checks that `weakness` returns the aspect whose cost for an unlikely preset exceeds its cost for the likeliest
/// preset by the largest amount.
#[test]
fn weakness_returns_the_aspect_that_makes_a_preset_unlikely() {
    let now = 1_795_451_400_000;
    let guesses = guess(&[Id::from_u64(1_050_118_621_198_921_728)], now);
    let weakness = |preset: &str| {
        let of_preset = guesses.iter().find(|it| it.name == preset).unwrap();
        of_preset.weakness(&guesses[0])
    };
    assert_eq!(guesses[0].name, "twitter");
    assert_eq!(weakness("twitter"), None);
    assert_eq!(weakness("sonyflake"), None, "an impossible preset has no weakness");
    for guess in guesses.iter().filter(|guess| guess.verdict.is_ok()) {
        println!("{} {:?} {:?}", guess.name, guess.verdict, weakness(guess.name));
    }
    assert_eq!(weakness("discord"), Some(Aspect::Node));
}

#[test]
fn guess_gives_the_reason_for_an_impossible_preset() {
    let now = 1_795_451_400_000;
    let why = |id: u64, preset: &str| {
        let guesses = guess(&[Id::from_u64(id)], now);
        guesses.into_iter().find(|guess| guess.name == preset).unwrap().verdict.unwrap_err()
    };
    // A recent Twitter ID.
    let id = 2_124_904_199_878_610_944;
    let future = why(id, "discord");
    assert!(matches!(future, Mismatch::Future(..)), "{future:?}");
    assert_eq!(
        future.to_string(),
        "2124904199878610944 would be from 2031-01-20T14:50:40.062Z, which is in the future"
    );
    assert!(matches!(why(1, "mastodon"), Mismatch::TooOld(_, 0)));
    assert!(why(1, "mastodon").to_string().contains("before the system existed"));
    assert_eq!(why(u64::MAX, "sonyflake"), Mismatch::Bits(Id::from_u64(u64::MAX)));
}
