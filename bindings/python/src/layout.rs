use flakeid_core::{GivenParts, Id, Layout as Core};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyType};

use crate::argument::{field, id as id_of, string, unix_ms as unix_ms_of, wrong_type};
use crate::error::raise;
use crate::parts::Parts;
use crate::time::from_python;

/// The layout of an ID: the fields and their widths, the epoch, and the length of a tick.
///
/// Create a layout from the name of a preset, as in Layout.parse("twitter"), or from a descriptor,
/// as in Layout.parse("t42.n8.s13@1420070400000/5ms").
#[pyclass(frozen, eq, hash, str, module = "flakeid", name = "Layout")]
#[derive(PartialEq, Eq, Hash)]
pub(crate) struct Layout(pub(crate) Core);

impl std::fmt::Display for Layout {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.fmt(f)
    }
}

/// The value of the argument `layout`: a Layout, a preset's name or a descriptor.
pub(crate) struct Chosen(pub(crate) Core);

impl<'py> FromPyObject<'_, 'py> for Chosen {
    type Error = PyErr;

    fn extract(value: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        if let Ok(layout) = value.cast::<Layout>() {
            return Ok(Self(layout.get().0));
        }
        match string("layout", &value) {
            Ok(text) => text.parse().map(Self).map_err(raise),
            Err(_) => Err(wrong_type("layout", "a Layout or a str", &value)),
        }
    }
}

impl Layout {
    pub(crate) fn from_chosen(chosen: Option<Chosen>) -> Self {
        Self(chosen.map_or_else(Core::default, |chosen| chosen.0))
    }

    /// Returns the layout that the arguments `layout` and `epoch` specify.
    pub(crate) fn from_epoch(
        chosen: Option<Chosen>,
        epoch: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Core> {
        let Self(layout) = Self::from_chosen(chosen);
        match epoch {
            Some(epoch) => layout.with_epoch(unix_ms_of("epoch", epoch)?).map_err(raise),
            None => Ok(layout),
        }
    }

    /// Returns the name of the preset with this layout's descriptor, or the descriptor if there is
    /// no such preset.
    pub(crate) fn short_name(&self) -> String {
        self.0.preset_name().map_or_else(|| self.0.to_string(), str::to_owned)
    }

    /// Returns the largest datacenter and worker, for error messages about numbers that do not fit
    /// in 64 bits.
    pub(crate) fn split_limits(layout: &Core) -> (u64, u64) {
        layout.max_datacenter_and_worker().unwrap_or_default()
    }
}

#[pymethods]
impl Layout {
    /// Returns the layout that a preset's name or a descriptor specifies. A descriptor has the form
    /// FIELDS@EPOCH/UNIT, for example t41.d5.w5.s12@1288834974657/1ms.
    #[classmethod]
    fn parse(_class: &Bound<'_, PyType>, text: &Bound<'_, PyAny>) -> PyResult<Self> {
        string("text", text)?.parse().map(Self).map_err(raise)
    }

    /// Returns a dict of all presets by name. Every function that accepts a descriptor also accepts
    /// the name of a preset.
    #[staticmethod]
    fn presets(py: Python<'_>) -> PyResult<Bound<'_, PyDict>> {
        let presets = PyDict::new(py);
        for (name, layout) in Core::presets() {
            presets.set_item(name, Self(*layout))?;
        }
        Ok(presets)
    }

    /// Returns a layout with the same fields and unit, but with the given epoch (Unix
    /// milliseconds).
    fn with_epoch(&self, unix_ms: &Bound<'_, PyAny>) -> PyResult<Self> {
        self.0.with_epoch(unix_ms_of("epoch", unix_ms)?).map(Self).map_err(raise)
    }

    /// The canonical descriptor of the layout, in the form FIELDS@EPOCH/UNIT.
    #[getter]
    fn descriptor(&self) -> String {
        self.0.to_string()
    }

    /// The name of the preset with this descriptor, or None if no preset has this descriptor.
    #[getter]
    fn preset_name(&self) -> Option<&'static str> {
        self.0.preset_name()
    }

    /// The tuple (name, width, shift) of every field, from the most to the least significant field.
    #[getter]
    fn fields(&self) -> Vec<(&'static str, u32, u32)> {
        let spans = self.0.fields();
        spans.map(|f| (f.field.name(), f.width.into(), f.shift.into())).collect()
    }

    /// The number of bits that the layout uses, out of 64.
    #[getter]
    fn width(&self) -> u32 {
        self.0.width()
    }

    /// The instant of tick 0, in Unix milliseconds.
    #[getter]
    fn epoch(&self) -> i64 {
        self.0.epoch()
    }

    /// The length of a tick in milliseconds.
    #[getter]
    fn unit_ms(&self) -> u64 {
        self.0.unit_ms()
    }

    /// The last tick.
    #[getter]
    fn max_tick(&self) -> u64 {
        self.0.max_tick()
    }

    /// The largest node; 0 if the layout has no node field.
    #[getter]
    fn max_node(&self) -> u64 {
        self.0.max_node()
    }

    /// The largest datacenter, or None if the layout does not split its node.
    #[getter]
    fn max_datacenter(&self) -> Option<u64> {
        self.0.max_datacenter_and_worker().map(|(datacenter, _)| datacenter)
    }

    /// The largest worker, or None if the layout does not split its node.
    #[getter]
    fn max_worker(&self) -> Option<u64> {
        self.0.max_datacenter_and_worker().map(|(_, worker)| worker)
    }

    /// The largest sequence number.
    #[getter]
    fn max_sequence(&self) -> u64 {
        self.0.max_sequence()
    }

    /// The largest clock sequence; 0 if the layout has no clock sequence.
    #[getter]
    fn max_clock_sequence(&self) -> u64 {
        self.0.max_clock_sequence()
    }

    /// The number of IDs that one node can issue in one tick.
    #[getter]
    fn ids_per_tick(&self) -> u64 {
        self.0.ids_per_tick()
    }

    /// The number of IDs that one node can issue in one second.
    #[getter]
    fn ids_per_second(&self) -> f64 {
        self.0.ids_per_second()
    }

    /// Whether the node is split into a datacenter (high bits) and a worker (low bits).
    #[getter]
    fn is_split(&self) -> bool {
        self.0.is_split()
    }

    /// The horizon: the first instant after the layout's last tick, in Unix milliseconds.
    #[getter]
    fn horizon(&self) -> i64 {
        self.0.horizon()
    }

    /// The exclusive end, in Unix milliseconds, of the period in which IDs are positive as signed
    /// 64-bit integers.
    #[getter]
    fn fits_i64_until(&self) -> i64 {
        self.0.fits_i64_until()
    }

    /// Whether a float, and therefore a JavaScript number, can represent every ID exactly. The
    /// value is True if IDs have at most 53 bits.
    #[getter]
    fn fits_f64(&self) -> bool {
        self.0.fits_f64()
    }

    /// Whether generators can use this layout. If not, the layout can only be used to decode IDs.
    #[getter]
    fn can_generate(&self) -> bool {
        self.0.can_generate()
    }

    /// Returns the tick that contains an instant (an aware datetime, or Unix milliseconds).
    fn tick_at(&self, when: &Bound<'_, PyAny>) -> PyResult<u64> {
        self.0.tick_at(from_python("when", when)?).map_err(raise)
    }

    /// Returns the instant at which a tick begins, in Unix milliseconds. For ticks after the last
    /// tick, returns the horizon.
    fn unix_ms_at(&self, tick: &Bound<'_, PyAny>) -> PyResult<i64> {
        Ok(self.0.unix_ms_at(field("tick", tick, u64::MAX)?))
    }

    /// Returns an instant (an aware datetime, or Unix milliseconds) as an RFC 3339 string in UTC.
    /// The unit and the epoch determine the number of fractional digits.
    fn timestamp(&self, when: &Bound<'_, PyAny>) -> PyResult<String> {
        Ok(self.0.timestamp(from_python("when", when)?).to_string())
    }

    /// Returns the node with the given datacenter and worker.
    fn join_node(&self, datacenter: &Bound<'_, PyAny>, worker: &Bound<'_, PyAny>) -> PyResult<u64> {
        let (most_datacenter, most_worker) = Self::split_limits(&self.0);
        let datacenter = field("datacenter", datacenter, most_datacenter)?;
        let worker = field("worker", worker, most_worker)?;
        self.0.join_node(datacenter, worker).map_err(raise)
    }

    /// Returns the tuple (datacenter, worker) of a node, or None if the layout does not split its
    /// node.
    fn split_node(&self, node: &Bound<'_, PyAny>) -> PyResult<Option<(u64, u64)>> {
        Ok(self.0.split_node(field("node", node, self.0.max_node())?))
    }

    /// Returns the ID with the given parts.
    ///
    /// Args:
    ///     tick: The tick; unix_ms may be passed instead. If both are passed, they must agree.
    ///     unix_ms: Any instant within the tick, in Unix milliseconds.
    ///     node: The node; datacenter and worker may be passed instead. If all three are passed, they
    ///         must agree.
    ///     datacenter: The high part of the node, in layouts that split the node.
    ///     worker: The low part of the node.
    ///     clock_sequence: The clock sequence (default: 0).
    ///     sequence: The sequence number (default: 0).
    ///
    /// Raises:
    ///     FieldOutOfRangeError: A part is out of the layout's range.
    ///     InvalidOptionError: The tick or the node is missing.
    #[pyo3(signature = (
        *, tick = None, unix_ms = None, node = None, datacenter = None, worker = None,
        clock_sequence = None, sequence = None,
    ))]
    #[expect(clippy::too_many_arguments, reason = "the names are Python keywords")]
    fn pack(
        &self,
        tick: Option<&Bound<'_, PyAny>>,
        unix_ms: Option<&Bound<'_, PyAny>>,
        node: Option<&Bound<'_, PyAny>>,
        datacenter: Option<&Bound<'_, PyAny>>,
        worker: Option<&Bound<'_, PyAny>>,
        clock_sequence: Option<&Bound<'_, PyAny>>,
        sequence: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<u64> {
        let Self(layout) = self;
        let number = |name, value: Option<&Bound<'_, PyAny>>, max| {
            value.map(|value| field(name, value, max)).transpose()
        };
        let (most_datacenter, most_worker) = Self::split_limits(layout);
        let mut given = GivenParts::default();
        given.tick = number("tick", tick, layout.max_tick())?;
        given.unix_ms = unix_ms.map(|value| unix_ms_of("unix_ms", value)).transpose()?;
        given.node = number("node", node, layout.max_node())?;
        given.datacenter = number("datacenter", datacenter, most_datacenter)?;
        given.worker = number("worker", worker, most_worker)?;
        given.clock_sequence =
            number("clock_sequence", clock_sequence, layout.max_clock_sequence())?;
        given.sequence = number("sequence", sequence, layout.max_sequence())?;
        let id = layout.complete(&given).and_then(|parts| layout.pack(&parts));
        id.map(Id::to_u64).map_err(raise)
    }

    /// Returns the parts of an ID. Raises InvalidIdError if the ID has bits that this layout never
    /// sets.
    pub(crate) fn unpack(&self, id: &Bound<'_, PyAny>) -> PyResult<Parts> {
        self.0.unpack(id_of(id)?).map(Parts).map_err(raise)
    }

    /// Returns the smallest ID in the tick that contains `when` (an aware datetime, or Unix
    /// milliseconds).
    pub(crate) fn lower_bound(&self, when: &Bound<'_, PyAny>) -> PyResult<u64> {
        Ok(self.0.lower_bound(from_python("when", when)?).to_u64())
    }

    /// Returns the largest ID in the tick that contains `when`. The ID is an inclusive upper bound.
    pub(crate) fn upper_bound(&self, when: &Bound<'_, PyAny>) -> PyResult<u64> {
        Ok(self.0.upper_bound(from_python("when", when)?).to_u64())
    }

    fn __repr__(&self) -> String {
        format!("Layout.parse('{}')", self.short_name())
    }

    fn __reduce__(&self, py: Python<'_>) -> PyResult<(Py<PyAny>, (String,))> {
        Ok((py.get_type::<Self>().getattr("parse")?.unbind(), (self.descriptor(),)))
    }
}
