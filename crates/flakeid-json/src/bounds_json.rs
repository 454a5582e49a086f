//! The bounds of a time range as JSON.

use serde::Serialize;

use crate::time_range::{Bound, TimeRange};

/// The smallest and the largest ID of a range, both inclusive. The keys are in this order.
#[derive(Serialize)]
pub struct BoundsJson<'a> {
    layout: &'a str,
    from: Option<String>,
    to: Option<String>,
    lower: Option<String>,
    upper: Option<String>,
}

impl<'a> BoundsJson<'a> {
    /// Builds the JSON, in which `from` and `to` are the ticks that contain the ends of the range.
    /// `name` is the [`layout_name`](crate::layout_name).
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
