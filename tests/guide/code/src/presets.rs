//! The table of presets.

use flakeid_core::{Layout, Rfc3339};

use crate::read;

#[test]
fn guide_lists_every_preset_with_its_layout() {
    let guide = read("how-to/layouts");
    let date = |unix_ms| Rfc3339::new(unix_ms, 0).to_string()[..10].to_owned();
    for (name, layout) in Layout::presets() {
        let row = format!("| `{name}` | `{layout}` | {}", date(layout.horizon()));
        let line = guide.lines().find(|line| line.starts_with(&row));
        let line = line.unwrap_or_else(|| panic!("how-to/layouts.md lacks the row: {row}"));
        if layout.width() == 64 {
            let from = format!("top bit set from {}", date(layout.fits_i64_until()));
            assert!(line.contains(&from), "how-to/layouts.md, {name}: must say {from:?}");
        }
    }
}
