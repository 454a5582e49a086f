//! Options that fixed and leased generators have in common.

use flakeid_core::{Field, Layout, Overflow, Rollback};
use pyo3::prelude::*;

use crate::error::raise;
use crate::integer::{field, small};
use crate::string::string;

pub(crate) fn sequence_mask(layout: &Layout, value: &Bound<'_, PyAny>) -> PyResult<u64> {
    field("sequence_mask", value, layout.max_sequence())
}

pub(crate) fn sequence_start(layout: &Layout, value: &Bound<'_, PyAny>) -> PyResult<u32> {
    let sequence = layout.fields().find(|span| span.field == Field::Sequence);
    let most = sequence.map_or(0, |span| span.width.into());
    small("sequence_start", value, 0, most)
}

pub(crate) fn overflow(value: &Bound<'_, PyAny>) -> PyResult<Overflow> {
    string("overflow", value)?.parse().map_err(raise)
}

pub(crate) fn rollback(value: &Bound<'_, PyAny>) -> PyResult<Rollback> {
    string("rollback", value)?.parse().map_err(raise)
}
