//! Tests of `guess` with IDs that other systems published, and with IDs that the packages of other systems generated.

use flakeid_core::{Aspect, Guess, Id, Layout, Mismatch, guess};
use serde_json::Value;

use crate::{load, number, rows, text};

/// The page of the guide that lists how many IDs were guessed correctly.
const PAGE: &str =
    concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/src/how-it-works/verification/guess.md");

/// Whether the guessed preset decodes the ID to the same time, node and sequence as the expected preset.
fn is_right(guessed: &Guess, wanted: &str, id: Id) -> bool {
    let wanted = Layout::presets().iter().find(|(name, _)| *name == wanted).unwrap().1;
    let parts = |layout: &Layout| layout.unpack(id).map(|it| (it.unix_ms, it.node, it.sequence));
    parts(&guessed.layout).is_ok_and(|one| parts(&wanted).is_ok_and(|other| one == other))
}

fn ids(group: &Value) -> Vec<Id> {
    let ids = rows(group, "ids").iter();
    ids.map(|id| Id::from_u64(id.as_str().unwrap().parse().unwrap())).collect()
}

/// Counts of single IDs and of groups of ten IDs: how many were tested, and how many were guessed correctly.
#[derive(Clone, Copy, Default)]
struct Counts {
    ids: usize,
    first: usize,
    among: usize,
    groups: usize,
    groups_first: usize,
}

impl Counts {
    fn of(group: &Value, now: i64) -> Self {
        let wanted = text(group, "layout");
        let ids = ids(group);
        let mut counts = Self { ids: ids.len(), ..Self::default() };
        for id in &ids {
            let guesses = guess(&[*id], now);
            let mut likely = guesses.iter().filter(|it| it.is_as_likely_as(&guesses[0]));
            counts.among += usize::from(likely.any(|it| is_right(it, wanted, *id)));
            counts.first += usize::from(is_right(&guesses[0], wanted, *id));
        }
        for ten in ids.chunks_exact(10) {
            counts.groups += 1;
            counts.groups_first += usize::from(is_right(&guess(ten, now)[0], wanted, ten[0]));
        }
        counts
    }

    fn add(&mut self, more: Self) {
        self.ids += more.ids;
        self.first += more.first;
        self.among += more.among;
        self.groups += more.groups;
        self.groups_first += more.groups_first;
    }

    /// Formats the counts as a row of the table of the page [`PAGE`].
    fn row(&self, name: &str, layout: &str) -> String {
        let Self { ids, first, among, groups, groups_first } = self;
        let (groups, groups_first) = match groups {
            0 => (String::new(), String::new()),
            _ => (groups.to_string(), groups_first.to_string()),
        };
        format!("| {name} | {layout} | {ids} | {first} | {among} | {groups} | {groups_first} |")
    }
}

/// Checks that the table of the page [`PAGE`] states how many IDs of each system were guessed correctly.
#[test]
fn guess_recognizes_as_many_ids_as_the_guide_states() {
    let file = load("guess");
    let now: i64 = number(&file, "now");
    let (mut published, mut made) = (Counts::default(), Counts::default());
    let mut lines = Vec::new();
    for group in rows(&file, "groups") {
        let counts = Counts::of(group, now);
        let is_made = text(group, "origin").starts_with("made on ");
        if is_made { &mut made } else { &mut published }.add(counts);
        lines.push(counts.row(text(group, "system"), &format!("`{}`", text(group, "layout"))));
    }
    let mut all = published;
    all.add(made);
    lines.push(published.row("all that were published", ""));
    lines.push(made.row("all that packages made", ""));
    lines.push(all.row("all", ""));
    println!("{}", lines.join("\n"));
    let guide = std::fs::read_to_string(PAGE).unwrap();
    for row in lines {
        assert!(guide.lines().any(|line| line == row), "{PAGE} lacks the row: {row}");
    }
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
