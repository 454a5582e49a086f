//! The numbers of IDs that `guess` attributes to the right system, also for the package that compares the guide with the
//! code.

use flakeid_core::{Guess, Id, Layout, guess};
use serde_json::Value;

fn text<'a>(row: &'a Value, key: &str) -> &'a str {
    row[key].as_str().unwrap()
}

/// Whether the guessed preset decodes the ID to the same time, node and sequence as the expected preset.
fn is_right(guessed: &Guess, wanted: &str, id: Id) -> bool {
    let wanted = Layout::presets().iter().find(|(name, _)| *name == wanted).unwrap().1;
    let parts = |layout: &Layout| layout.unpack(id).map(|it| (it.unix_ms, it.node, it.sequence));
    parts(&guessed.layout).is_ok_and(|one| parts(&wanted).is_ok_and(|other| one == other))
}

pub(crate) fn ids(group: &Value) -> Vec<Id> {
    let ids = group["ids"].as_array().unwrap().iter();
    ids.map(|id| Id::from_u64(id.as_str().unwrap().parse().unwrap())).collect()
}

/// Counts of single IDs and of groups of ten IDs: how many were tested, and how many were guessed correctly.
#[derive(Clone, Copy, Default)]
pub(crate) struct Counts {
    pub(crate) ids: usize,
    pub(crate) first: usize,
    pub(crate) among: usize,
    pub(crate) groups: usize,
    pub(crate) groups_first: usize,
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

    /// Formats the counts as a row of the guide's table.
    fn row(&self, name: &str, layout: &str) -> String {
        let Self { ids, first, among, groups, groups_first } = self;
        let (groups, groups_first) = match groups {
            0 => (String::new(), String::new()),
            _ => (groups.to_string(), groups_first.to_string()),
        };
        format!("| {name} | {layout} | {ids} | {first} | {among} | {groups} | {groups_first} |")
    }
}

/// Returns the counts of all IDs in the vector file, and the rows of the guide's table.
pub(crate) fn all(file: &Value) -> (Counts, Vec<String>) {
    let now: i64 = text(file, "now").parse().unwrap();
    let (mut published, mut made) = (Counts::default(), Counts::default());
    let mut lines = Vec::new();
    for group in file["groups"].as_array().unwrap() {
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
    (all, lines)
}
