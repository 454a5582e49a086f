//! A layout as JSON.

use flakeid_core::{Error, FieldSpan, Generator, Layout, ManualClock, Rfc3339};
use serde::Serialize;

/// Returns the error that prevents generators from using this layout at the time `now`, in Unix milliseconds. Returns
/// `None` if generators can use the layout.
#[must_use]
pub fn layout_obstacle(layout: &Layout, now: i64) -> Option<Error> {
    // This generator uses a manual clock, so that it does not share its position with the program's other generators
    // and cannot affect them.
    let built = Generator::builder(*layout).node(0).clock(ManualClock::new(now)).build();
    built.err().or_else(|| layout.tick_at(now).err())
}

/// A layout with its fields and properties. The JSON keys are in the same order as the fields.
///
/// ```
/// use flakeid_core::Layout;
/// use flakeid_json::LayoutJson;
///
/// let json = serde_json::to_value(LayoutJson::new(&Layout::TWITTER, 1_800_000_000_000))?;
/// assert_eq!((&json["nodes"], &json["can_generate"]), (&1024.into(), &true.into()));
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Serialize)]
pub struct LayoutJson {
    name: Option<&'static str>,
    descriptor: String,
    bits: u32,
    fields: Vec<FieldJson>,
    epoch: String,
    epoch_unix_ms: i64,
    unit_ms: u64,
    nodes: u64,
    ids_per_tick: u64,
    ids_per_second: f64,
    horizon: String,
    horizon_unix_ms: i64,
    fits_i64_until: String,
    js_safe: bool,
    can_generate: bool,
    obstacle: Option<String>,
}

#[derive(Serialize)]
struct FieldJson {
    letter: char,
    name: &'static str,
    bits: u8,
    shift: u8,
    max: u64,
}

impl LayoutJson {
    /// Describes a layout at the time `now`, in Unix milliseconds.
    #[must_use]
    pub fn new(layout: &Layout, now: i64) -> Self {
        let obstacle = layout_obstacle(layout, now);
        let field = |span: FieldSpan| FieldJson {
            letter: span.field.letter(),
            name: span.field.name(),
            bits: span.width,
            shift: span.shift,
            max: span.max(),
        };
        Self {
            name: layout.preset_name(),
            descriptor: layout.to_string(),
            bits: layout.width(),
            fields: layout.fields().map(field).collect(),
            epoch: exact(layout.epoch()),
            epoch_unix_ms: layout.epoch(),
            unit_ms: layout.unit_ms(),
            nodes: layout.max_node() + 1,
            ids_per_tick: layout.ids_per_tick(),
            ids_per_second: layout.ids_per_second(),
            horizon: exact(layout.horizon()),
            horizon_unix_ms: layout.horizon(),
            fits_i64_until: exact(layout.fits_i64_until()),
            js_safe: layout.fits_f64(),
            can_generate: obstacle.is_none(),
            obstacle: obstacle.map(|error| format!("{}: {error}", error.code())),
        }
    }
}

/// Formats an instant in RFC 3339 format, with the fewest digits that represent the instant exactly.
fn exact(unix_ms: i64) -> String {
    Rfc3339::with_fewest_digits(unix_ms).to_string()
}
