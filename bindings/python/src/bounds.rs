//! What needs a layout but no generator, by the layout's name.

use pyo3::prelude::*;

use crate::layout::{Chosen, Layout};
use crate::parts::Parts;

/// The parts of an ID. `layout` is a Layout, a preset's name or a descriptor.
///
/// An ID with bits that the layout never sets is InvalidIdError.
#[pyfunction]
#[pyo3(signature = (id, layout = None), text_signature = "(id, layout='twitter')")]
pub(crate) fn decode(id: &Bound<'_, PyAny>, layout: Option<Chosen>) -> PyResult<Parts> {
    Layout::from_chosen(layout).unpack(id)
}

/// The smallest ID of the tick that contains `when` (an aware datetime, or Unix milliseconds), for
/// range scans: id >= lower. Clamped to the layout's range.
#[pyfunction]
#[pyo3(signature = (when, layout = None), text_signature = "(when, layout='twitter')")]
pub(crate) fn lower_bound(when: &Bound<'_, PyAny>, layout: Option<Chosen>) -> PyResult<u64> {
    Layout::from_chosen(layout).lower_bound(when)
}

/// The largest ID of the tick that contains `when` (an aware datetime, or Unix milliseconds),
/// inclusive, for range scans: id <= upper. Clamped to the layout's range.
#[pyfunction]
#[pyo3(signature = (when, layout = None), text_signature = "(when, layout='twitter')")]
pub(crate) fn upper_bound(when: &Bound<'_, PyAny>, layout: Option<Chosen>) -> PyResult<u64> {
    Layout::from_chosen(layout).upper_bound(when)
}
