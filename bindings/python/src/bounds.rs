//! Functions that require a layout but not a generator.

use pyo3::prelude::*;

use crate::layout::{Chosen, Layout};
use crate::parts::Parts;

/// Returns the parts of an ID.
///
/// Args:
///     id: The ID.
///     layout: A Layout, a preset's name or a descriptor.
///
/// Raises:
///     InvalidIdError: The ID has bits that the layout never sets.
#[pyfunction]
#[pyo3(signature = (id, layout = None), text_signature = "(id, layout='twitter')")]
pub(crate) fn decode(id: &Bound<'_, PyAny>, layout: Option<Chosen>) -> PyResult<Parts> {
    Layout::from_chosen(layout).unpack(id)
}

/// Returns the smallest ID in the tick that contains an instant. In a range scan, use the ID as the
/// lower bound: id >= lower.
///
/// Args:
///     when: An aware datetime, or Unix milliseconds. For an instant before the layout's first
///         tick, the first tick is used. For an instant after the last tick, the last tick is used.
///     layout: A Layout, a preset's name or a descriptor.
#[pyfunction]
#[pyo3(signature = (when, layout = None), text_signature = "(when, layout='twitter')")]
pub(crate) fn lower_bound(when: &Bound<'_, PyAny>, layout: Option<Chosen>) -> PyResult<u64> {
    Layout::from_chosen(layout).lower_bound(when)
}

/// Returns the largest ID in the tick that contains an instant. In a range scan, use the ID as the
/// upper bound: id <= upper.
///
/// Args:
///     when: An aware datetime, or Unix milliseconds. For an instant before the layout's first
///         tick, the first tick is used. For an instant after the last tick, the last tick is used.
///     layout: A Layout, a preset's name or a descriptor.
#[pyfunction]
#[pyo3(signature = (when, layout = None), text_signature = "(when, layout='twitter')")]
pub(crate) fn upper_bound(when: &Bound<'_, PyAny>, layout: Option<Chosen>) -> PyResult<u64> {
    Layout::from_chosen(layout).upper_bound(when)
}
