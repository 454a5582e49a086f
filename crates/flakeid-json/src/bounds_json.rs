//! The IDs of a time range as JSON.

use flakeid_core::{Error, Id, Layout};
use serde::Serialize;

/// The smallest and the largest ID of a range, both inclusive. The keys stand in this order.
#[derive(Serialize)]
pub struct BoundsJson<'a> {
    layout: &'a str,
    from: Option<String>,
    to: Option<String>,
    lower: Option<String>,
    upper: Option<String>,
}

impl<'a> BoundsJson<'a> {
    /// From and to an instant in Unix milliseconds. Shown are the ticks that contain them. `name` is
    /// the [`layout_name`](crate::layout_name).
    ///
    /// # Errors
    /// None for the bounds of a layout; they are its own IDs.
    pub fn new(
        layout: &Layout,
        name: &'a str,
        from: Option<i64>,
        to: Option<i64>,
    ) -> Result<Self, Error> {
        let lower = from.map(|from| layout.lower_bound(from));
        let upper = to.map(|to| layout.upper_bound(to));
        let tick = |id: Id| Ok(layout.timestamp(layout.unpack(id)?.unix_ms).to_string());
        let text = |id: Id| id.to_string();
        Ok(Self {
            layout: name,
            from: lower.map(tick).transpose()?,
            to: upper.map(tick).transpose()?,
            lower: lower.map(text),
            upper: upper.map(text),
        })
    }
}
