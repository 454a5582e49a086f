//! Other systems' IDs, published or made by their packages: `guess` finds out whose they are.

use flakeid_core::{Guess, Id, Layout, Mismatch, guess};
use serde_json::Value;

use crate::{load, number, rows, text};

/// Two presets that decode an ID alike are the same answer.
fn is_right(guessed: &Guess, wanted: &str, id: Id) -> bool {
    let wanted = Layout::presets().iter().find(|(name, _)| *name == wanted).unwrap().1;
    let parts = |layout: &Layout| layout.unpack(id).map(|it| (it.unix_ms, it.node, it.sequence));
    parts(&guessed.layout).is_ok_and(|one| parts(&wanted).is_ok_and(|other| one == other))
}

fn ids(group: &Value) -> Vec<Id> {
    let ids = rows(group, "ids").iter();
    ids.map(|id| Id::from_u64(id.as_str().unwrap().parse().unwrap())).collect()
}

#[test]
fn single_ids_are_recognised() {
    let file = load("guess");
    let now: i64 = number(&file, "now");
    let (mut all, mut right, mut among) = (0, 0, 0);
    let mut wrong = Vec::new();
    for group in rows(&file, "groups") {
        let (system, wanted) = (text(group, "system"), text(group, "layout"));
        for id in ids(group) {
            let guesses = guess(&[id], now);
            let likely = guesses.iter().filter(|it| it.is_as_likely_as(&guesses[0]));
            all += 1;
            among += usize::from(likely.clone().any(|it| is_right(it, wanted, id)));
            if is_right(&guesses[0], wanted, id) {
                right += 1;
            } else {
                let likely: Vec<_> = likely.map(|it| it.name).collect();
                wrong.push(format!("{system}: {id} is said to be of {likely:?}"));
            }
        }
    }
    let wrong = wrong.join("\n");
    println!("{right} of {all} first, {among} among the likely ones\n{wrong}");
    assert!(right * 100 >= all * 95, "{right} of {all}\n{wrong}");
    assert!(among * 100 >= all * 97, "{among} of {all}\n{wrong}");
}

#[test]
fn groups_of_ten_are_recognised() {
    let file = load("guess");
    let now: i64 = number(&file, "now");
    let (mut all, mut right, mut wrong) = (0, 0, Vec::new());
    for group in rows(&file, "groups") {
        let (system, wanted) = (text(group, "system"), text(group, "layout"));
        for ten in ids(group).chunks_exact(10) {
            let guesses = guess(ten, now);
            all += 1;
            if is_right(&guesses[0], wanted, ten[0]) {
                right += 1;
            } else {
                let first: Vec<_> = guesses[..3].iter().map(|it| (it.name, &it.verdict)).collect();
                wrong.push(format!("{system}: {first:?}"));
            }
        }
    }
    println!("{right} of {all} groups first\n{}", wrong.join("\n"));
    assert!(right * 100 >= all * 95, "{right} of {all}: {wrong:?}");
}

#[test]
fn what_falls_says_why() {
    let now = 1_795_451_400_000;
    let why = |id: u64, preset: &str| {
        let guesses = guess(&[Id::from_u64(id)], now);
        guesses.into_iter().find(|guess| guess.name == preset).unwrap().verdict.unwrap_err()
    };
    // Twitter's of today.
    let id = 2_124_904_199_878_610_944;
    let future = why(id, "discord");
    assert!(matches!(future, Mismatch::Future(..)), "{future:?}");
    assert_eq!(
        future.to_string(),
        "2124904199878610944 would be of 2031-01-20T14:50:40.062Z, in the future"
    );
    assert!(matches!(why(1, "mastodon"), Mismatch::TooOld(_, 0)));
    assert!(why(1, "mastodon").to_string().contains("before the system existed"));
    assert_eq!(why(u64::MAX, "sonyflake"), Mismatch::Bits(Id::from_u64(u64::MAX)));
}
