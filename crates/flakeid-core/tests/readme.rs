//! The project's README tells the presets as they are.

#![allow(clippy::unwrap_used, clippy::panic)]

use flakeid_core::{Layout, Rfc3339};

#[test]
fn the_table_of_presets() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../README.md");
    let readme = std::fs::read_to_string(path).unwrap();
    let date = |unix_ms| Rfc3339::new(unix_ms, 0).to_string()[..10].to_owned();
    for (name, layout) in Layout::presets() {
        let row = format!("| `{name}` | `{layout}` | {}", date(layout.horizon()));
        let line = readme.lines().find(|line| line.starts_with(&row));
        let line = line.unwrap_or_else(|| panic!("README.md lacks the row: {row}"));
        if layout.width() == 64 {
            let from = format!("top bit set from {}", date(layout.fits_i64_until()));
            assert!(line.contains(&from), "README.md, {name}: must say {from:?}");
        }
    }
}
