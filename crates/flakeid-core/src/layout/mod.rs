//! Layouts: the meaning of the 64 bits of an ID.

mod builder;
mod descriptor;
mod preset;

pub use builder::LayoutBuilder;
pub(crate) use preset::PRESETS;

pub(crate) use crate::error::LayoutFault;

use core::time::Duration;

use crate::calendar::{Rfc3339, digits_needed};
use crate::field::{Field, FieldList, FieldSpan, Span};
use crate::{Error, GivenParts, Id, Parts};

/// The layout of an ID's bits, with the epoch and the tick unit.
///
/// IDs are roughly ordered by time (K-ordered), because the time is the most significant field. The node and the
/// sequence follow in either order. The fields of a layout are checked when the layout is built. [`pack`](Self::pack)
/// checks the value of every field, even in release builds.
///
/// ```
/// use flakeid_core::Layout;
///
/// let layout: Layout = "t42.n8.s13@1420070400000/5ms".parse()?;
/// assert_eq!(layout.max_node(), 255);
/// assert_eq!(layout.ids_per_tick(), 8192);
/// assert_eq!(layout.fields().map(|span| span.width).sum::<u8>(), 63);
/// # Ok::<(), flakeid_core::Error>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Layout {
    fields: FieldList,
    epoch: i64,
    unit: u64,
    time: Span,
    node: Span,
    sequence: Span,
    clock_sequence: Span,
    /// The width of the worker field in bits, if the layout splits the node.
    worker_width: Option<u8>,
}

impl Layout {
    /// Returns the fields from the most significant to the least significant, with their widths and bit positions.
    pub fn fields(&self) -> impl Iterator<Item = FieldSpan> + use<> {
        self.fields.spans()
    }

    /// The number of bits that the layout uses, up to 64. The unused high bits are zero.
    #[must_use]
    pub const fn width(&self) -> u32 {
        self.fields.total()
    }

    /// The epoch: the instant of tick 0, in Unix milliseconds.
    #[must_use]
    pub const fn epoch(&self) -> i64 {
        self.epoch
    }

    /// The length of a tick in milliseconds.
    #[must_use]
    pub const fn unit_ms(&self) -> u64 {
        self.unit
    }

    /// The last tick: 2^(time bits) − 1.
    #[must_use]
    pub const fn max_tick(&self) -> u64 {
        self.time.mask()
    }

    /// The largest node: 2^(node bits) − 1. The result is 0 if the layout has no node field.
    #[must_use]
    pub const fn max_node(&self) -> u64 {
        self.node.mask()
    }

    /// The largest sequence number: 2^(sequence bits) − 1.
    #[must_use]
    pub const fn max_sequence(&self) -> u64 {
        self.sequence.mask()
    }

    /// The largest clock sequence, or 0 if the layout has no clock-sequence field.
    #[must_use]
    pub const fn max_clock_sequence(&self) -> u64 {
        self.clock_sequence.mask()
    }

    /// The number of IDs that one node can issue in one tick: 2^(sequence bits).
    #[must_use]
    pub const fn ids_per_tick(&self) -> u64 {
        self.sequence.mask() + 1
    }

    /// The number of IDs that one node can issue in one second.
    #[must_use]
    pub fn ids_per_second(&self) -> f64 {
        self.ids_per_tick() as f64 * 1000.0 / self.unit as f64
    }

    /// Whether the node field is split into a datacenter (the high bits) and a worker (the low bits).
    #[must_use]
    pub const fn is_split(&self) -> bool {
        self.worker_width.is_some()
    }

    /// The largest datacenter and the largest worker, or `None` if the layout does not split the node.
    #[must_use]
    pub const fn max_datacenter_and_worker(&self) -> Option<(u64, u64)> {
        match self.worker_width {
            None => None,
            Some(width) => Some((self.node.mask() >> width, Span { width, shift: 0 }.mask())),
        }
    }

    /// The horizon: the instant at which the last tick ends, in Unix milliseconds.
    #[must_use]
    pub const fn horizon(&self) -> i64 {
        // The horizon fits into an `i64`, because `build` rejects layouts with a larger horizon.
        self.epoch + ((self.time.mask() as i128 + 1) * self.unit as i128) as i64
    }

    /// The exclusive end of the period in which all IDs are positive as signed 64-bit integers, in Unix milliseconds.
    /// For 64-bit layouts, the end is epoch + 2^(time bits − 1) units. For other layouts, the end is the horizon.
    #[must_use]
    pub const fn fits_i64_until(&self) -> i64 {
        if self.width() == 64 {
            let half = (self.time.mask() >> 1) as i128 + 1;
            self.epoch + (half * self.unit as i128) as i64
        } else {
            self.horizon()
        }
    }

    /// Whether a 64-bit float, and therefore a JavaScript number, can represent every ID exactly. This is the case if
    /// the layout has at most 53 bits.
    #[must_use]
    pub const fn fits_f64(&self) -> bool {
        self.width() <= 53
    }

    /// Returns the tick of an instant: floor((`unix_ms` − epoch) / unit).
    ///
    /// # Errors
    /// [`BeforeEpoch`](crate::ErrorKind::BeforeEpoch) if the instant is before the epoch;
    /// [`HorizonReached`](crate::ErrorKind::HorizonReached) if the instant is at the horizon or later.
    pub const fn tick_at(&self, unix_ms: i64) -> Result<u64, Error> {
        if unix_ms < self.epoch {
            let by = self.epoch as i128 - unix_ms as i128;
            return Err(Error::before_epoch(Duration::from_millis(by as u64), self.epoch));
        }
        let tick = (unix_ms - self.epoch) as u64 / self.unit;
        if tick > self.max_tick() {
            return Err(Error::horizon_reached(self.horizon()));
        }
        Ok(tick)
    }

    /// Returns the instant at which a tick begins, in Unix milliseconds, or the horizon for ticks after the last
    /// tick.
    #[must_use]
    pub const fn unix_ms_at(&self, tick: u64) -> i64 {
        if tick > self.max_tick() { self.horizon() } else { self.epoch + (tick * self.unit) as i64 }
    }

    /// Formats an instant, such as the beginning of a tick, as an RFC 3339 timestamp in UTC. The unit and the epoch
    /// determine the number of fractional digits.
    #[must_use]
    pub fn timestamp(&self, unix_ms: i64) -> Rfc3339 {
        let unit = if self.unit.is_multiple_of(1000) { 0 } else { self.unit % 1000 };
        let digits = digits_needed(unit as i64).max(digits_needed(self.epoch));
        Rfc3339::new(unix_ms, digits)
    }

    /// Combines a datacenter and a worker into a node: `datacenter << worker_bits | worker`.
    ///
    /// # Errors
    /// [`FieldOutOfRange`](crate::ErrorKind::FieldOutOfRange) if `datacenter` or `worker` is out of range;
    /// [`InvalidOption`](crate::ErrorKind::InvalidOption) if the layout does not split its node.
    pub fn join_node(&self, datacenter: u64, worker: u64) -> Result<u64, Error> {
        let (Some((most_datacenter, most_worker)), Some(width)) =
            (self.max_datacenter_and_worker(), self.worker_width)
        else {
            return Err(Error::invalid_field(
                "datacenter",
                "this layout does not split its node; give `node` instead of `datacenter` and `worker`",
            ));
        };
        check("datacenter", datacenter, most_datacenter)?;
        check("worker", worker, most_worker)?;
        Ok(datacenter << width | worker)
    }

    /// Splits a node into its datacenter and its worker, or returns `None` if the layout does not split the node.
    #[must_use]
    pub const fn split_node(&self, node: u64) -> Option<(u64, u64)> {
        match self.worker_width {
            None => None,
            Some(width) => Some((node >> width, node & Span { width, shift: 0 }.mask())),
        }
    }

    /// Encodes parts as an ID. `unix_ms` must be an instant within `tick`. `datacenter` and `worker` must match `node`
    /// if they are set.
    ///
    /// # Errors
    /// [`FieldOutOfRange`](crate::ErrorKind::FieldOutOfRange) if a value does not fit into its field;
    /// [`InvalidOption`](crate::ErrorKind::InvalidOption) if parts contradict each other; the errors of
    /// [`tick_at`](Self::tick_at) for `unix_ms`.
    pub fn pack(&self, parts: &Parts) -> Result<Id, Error> {
        check("tick", parts.tick, self.time.mask())?;
        check("node", parts.node, self.node.mask())?;
        check("clock_sequence", parts.clock_sequence, self.clock_sequence.mask())?;
        check("sequence", parts.sequence, self.sequence.mask())?;
        if self.tick_at(parts.unix_ms)? != parts.tick {
            return Err(Error::invalid_field("unix_ms", "not in the tick given"));
        }
        let split = self.split_node(parts.node);
        let given = (parts.datacenter, parts.worker);
        if given.0.is_some_and(|d| split.map(|s| s.0) != Some(d)) {
            return Err(Error::invalid_field("datacenter", "does not match `node`"));
        }
        if given.1.is_some_and(|w| split.map(|s| s.1) != Some(w)) {
            return Err(Error::invalid_field("worker", "does not match `node`"));
        }
        Ok(Id::from_u64(
            self.time.place(parts.tick)
                | self.node.place(parts.node)
                | self.clock_sequence.place(parts.clock_sequence)
                | self.sequence.place(parts.sequence),
        ))
    }

    /// Derives all parts for [`pack`](Self::pack) from the given parts. A tick or an instant within the tick is
    /// required. If the layout has a node field, either the node or both the datacenter and the worker are required.
    /// This function does not check for contradictions between the given parts, because `pack` does.
    ///
    /// # Errors
    /// [`InvalidOption`](crate::ErrorKind::InvalidOption) if the tick or the node is missing; the errors of
    /// [`tick_at`](Self::tick_at) and [`join_node`](Self::join_node).
    pub fn complete(&self, given: &GivenParts) -> Result<Parts, Error> {
        let (tick, unix_ms) = match (given.tick, given.unix_ms) {
            (Some(tick), unix_ms) => (tick, unix_ms.unwrap_or_else(|| self.unix_ms_at(tick))),
            (None, Some(unix_ms)) => (self.tick_at(unix_ms)?, unix_ms),
            (None, None) => {
                return Err(Error::invalid_field("tick", "missing: give `tick` or `unix_ms`"));
            }
        };
        let GivenParts { datacenter, worker, .. } = *given;
        let node = match (given.node, datacenter, worker) {
            (Some(node), _, _) => node,
            (None, Some(datacenter), Some(worker)) => self.join_node(datacenter, worker)?,
            (None, None, None) if self.max_node() == 0 => 0,
            _ => {
                let reason = "missing: give `node`, or `datacenter` and `worker`";
                return Err(Error::invalid_field("node", reason));
            }
        };
        let clock_sequence = given.clock_sequence.unwrap_or_default();
        let sequence = given.sequence.unwrap_or_default();
        Ok(Parts { tick, unix_ms, node, datacenter, worker, clock_sequence, sequence })
    }

    /// Returns parts for [`pack`](Self::pack) with the tick that contains the given instant. All other parts are zero
    /// or `None`.
    ///
    /// # Errors
    /// The same errors as [`tick_at`](Self::tick_at).
    pub fn parts_at(&self, unix_ms: i64) -> Result<Parts, Error> {
        let tick = self.tick_at(unix_ms)?;
        Ok(Parts { tick, unix_ms: self.unix_ms_at(tick), ..Parts::default() })
    }

    /// Decodes the parts of an ID.
    ///
    /// # Errors
    /// [`InvalidId`](crate::ErrorKind::InvalidId) if the ID has a bit set that this layout never sets. Such an ID
    /// belongs to another layout, and decoding would lose the bit.
    pub fn unpack(&self, id: Id) -> Result<Parts, Error> {
        self.check_bits(id)?;
        let bits = id.to_u64();
        let (tick, node) = (self.time.extract(bits), self.node.extract(bits));
        let split = self.split_node(node);
        Ok(Parts {
            tick,
            unix_ms: self.unix_ms_at(tick),
            node,
            datacenter: split.map(|(datacenter, _)| datacenter),
            worker: split.map(|(_, worker)| worker),
            clock_sequence: self.clock_sequence.extract(bits),
            sequence: self.sequence.extract(bits),
        })
    }

    /// Checks that [`unpack`](Self::unpack) accepts the ID.
    #[inline]
    pub(crate) fn check_bits(&self, id: Id) -> Result<(), Error> {
        match self.stray_bits(id) {
            0 => Ok(()),
            stray => Err(Error::id_bits(id.to_u64(), stray, self)),
        }
    }

    /// Returns the bits that are set in an ID although this layout never sets them.
    #[inline]
    pub(crate) const fn stray_bits(&self, id: Id) -> u64 {
        id.to_u64() & !self.used_bits()
    }

    /// Returns the beginning of an ID's tick, in Unix milliseconds, regardless of the ID's other bits.
    #[inline]
    pub(crate) const fn time_of(&self, id: Id) -> i64 {
        self.unix_ms_at(self.time.extract(id.to_u64()))
    }

    /// Returns the smallest ID in the tick that contains `unix_ms`, for range scans (`id >= lower`). Clamps an
    /// instant outside the layout's range to the first or the last tick.
    #[must_use]
    pub const fn lower_bound(&self, unix_ms: i64) -> Id {
        Id::from_u64(self.time.place(self.clamped_tick(unix_ms)))
    }

    /// Returns the largest ID in the tick that contains `unix_ms`, for range scans (`id <= upper`). Clamps an instant
    /// outside the layout's range to the first or the last tick.
    #[must_use]
    pub const fn upper_bound(&self, unix_ms: i64) -> Id {
        let below = self.used_bits() & !self.time.place(self.time.mask());
        Id::from_u64(self.time.place(self.clamped_tick(unix_ms)) | below)
    }

    /// Returns the first tick in which every ID is larger than `id`, or `None` if the layout does not have such a tick.
    /// `id` may belong to another layout. If a table whose largest ID is `id` switches to this layout at the returned
    /// tick, new rows sort after the existing rows.
    #[must_use]
    pub const fn tick_above(&self, id: Id) -> Option<u64> {
        let tick = id.to_u64() >> self.time.shift;
        if tick < self.max_tick() { Some(tick + 1) } else { None }
    }

    const fn clamped_tick(&self, unix_ms: i64) -> u64 {
        if unix_ms <= self.epoch {
            return 0;
        }
        let tick = (unix_ms - self.epoch) as u64 / self.unit;
        if tick > self.max_tick() { self.max_tick() } else { tick }
    }

    /// The mask of the bits that can be set in an ID of this layout.
    const fn used_bits(&self) -> u64 {
        self.time.place(self.time.mask())
            | self.node.place(self.node.mask())
            | self.clock_sequence.place(self.clock_sequence.mask())
            | self.sequence.place(self.sequence.mask())
    }

    /// Whether flakeid can generate IDs with this layout. The tick, the sequence and any clock sequence must together
    /// fit into one 64-bit atomic integer.
    #[must_use]
    pub const fn can_generate(&self) -> bool {
        let position = self.time.width + self.sequence.width;
        match self.clock_sequence.width {
            0 => position <= 63,
            // One additional bit is necessary, so that the position after the last position does not carry into the
            // next field.
            width => position + width <= 62,
        }
    }

    /// Whether this layout and `other` describe the same IDs. Layouts that describe the same IDs can differ only in how
    /// they split the node.
    #[must_use]
    pub fn is_same_space(&self, other: &Self) -> bool {
        self.unsplit() == other.unsplit()
    }

    /// Returns this layout with an unsplit node.
    pub(crate) fn unsplit(self) -> Self {
        let mut fields = FieldList::new();
        for span in self.fields() {
            match span.field {
                Field::Datacenter => _ = fields.push(Field::Node, self.node.width),
                Field::Worker => {}
                other => _ = fields.push(other, span.width),
            }
        }
        Self { fields, worker_width: None, ..self }
    }

    /// The bit ranges of the time, the node, the clock sequence and the sequence.
    pub(crate) const fn spans(&self) -> (Span, Span, Span, Span) {
        (self.time, self.node, self.clock_sequence, self.sequence)
    }
}

impl Id {
    /// Decodes the parts of the ID with the given layout, as [`Layout::unpack`] does.
    ///
    /// # Errors
    /// [`InvalidId`](crate::ErrorKind::InvalidId) if the ID has bits that the layout never sets.
    pub fn parts(self, layout: &Layout) -> Result<crate::Parts, Error> {
        layout.unpack(self)
    }
}

pub(crate) fn check(field: &'static str, value: u64, most: u64) -> Result<(), Error> {
    if value > most {
        return Err(Error::field_out_of_range(field, &value, 0, most));
    }
    Ok(())
}

impl Default for Layout {
    fn default() -> Self {
        Self::TWITTER
    }
}
