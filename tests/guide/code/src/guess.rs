//! The page that states how many IDs `guess` attributes to the right system.

#[allow(dead_code, reason = "the module is part of the core's tests")]
#[path = "../../../../crates/flakeid-core/tests/vectors/guess_counts.rs"]
mod guess_counts;

use crate::read;

#[test]
fn guess_recognizes_as_many_ids_as_the_guide_states() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../vectors/guess.json");
    let file = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    let (guide, (_, rows)) = (read("how-it-works/verification/guess"), guess_counts::all(&file));
    for row in rows {
        assert!(guide.lines().any(|line| line == row), "guess.md lacks the row: {row}");
    }
}
