//! The bounds of a time range as JSON.

use serde::Serialize;

use crate::time_range::{Bound, TimeRange};

/// The smallest and the largest ID of a range, both inclusive. The JSON keys are in the same order as the fields.
///
/// ```
/// use flakeid_core::Layout;
/// use flakeid_json::{BoundsJson, EndNames, TimeRange};
///
/// let range = TimeRange::parse(&Layout::TWITTER, &EndNames::FIELDS, Some("2026-01-31"), None)?;
/// let json = serde_json::to_value(BoundsJson::new(&range, "twitter"))?;
/// assert_eq!((&json["layout"], &json["upper"]), (&"twitter".into(), &serde_json::Value::Null));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Serialize)]
pub struct BoundsJson<'a> {
    layout: &'a str,
    from: Option<String>,
    to: Option<String>,
    lower: Option<String>,
    upper: Option<String>,
}

impl<'a> BoundsJson<'a> {
    /// Builds the JSON of a time range. `name` is the [`layout_name`](crate::layout_name) of the layout. The JSON
    /// fields `from` and `to` are the start times of the ticks that contain the range's ends.
    #[must_use]
    pub fn new(range: &TimeRange, name: &'a str) -> Self {
        let tick = |bound: &Bound| bound.tick.clone();
        let text = |bound: &Bound| bound.id.to_string();
        Self {
            layout: name,
            from: range.lower().map(tick),
            to: range.upper().map(tick),
            lower: range.lower().map(text),
            upper: range.upper().map(text),
        }
    }
}
