//! Builds layouts from their fields, and checks the fields.

use super::Layout;
use crate::Error;
use crate::calendar::LAST_FOUR_DIGIT_YEAR;
use crate::error::LayoutFault;
use crate::field::{Field, FieldList, Span};

/// A builder of layouts. Add fields from the most significant to the least significant, then an epoch and a unit.
///
/// ```
/// use flakeid_core::Layout;
///
/// const ORDERS: Layout = Layout::builder()
///     .time(41)
///     .node(10)
///     .sequence(12)
///     .epoch(1_577_836_800_000) // 2020-01-01
///     .build_const();
/// assert_eq!(ORDERS.to_string(), "t41.n10.s12@1577836800000/1ms");
/// ```
#[derive(Clone, Copy)]
#[must_use = "a builder does nothing until it is built"]
pub struct LayoutBuilder {
    fields: FieldList,
    fault: Option<LayoutFault>,
    epoch: i64,
    unit: u64,
}

impl LayoutBuilder {
    pub(super) const fn new() -> Self {
        Self::from_fields(FieldList::new())
    }

    pub(super) const fn from_fields(fields: FieldList) -> Self {
        Self { fields, fault: None, epoch: 0, unit: 1 }
    }

    pub(super) const fn field(mut self, field: Field, width: u8) -> Self {
        let fault = if width == 0 || width > 64 {
            LayoutFault::Width(field)
        } else if self.fields.position(field).is_some() {
            LayoutFault::Repeated(field)
        } else if !self.fields.push(field, width) {
            // The list has room for six of the seven kinds of fields. A layout with all seven kinds would have both an
            // unsplit node and a split node, which is invalid.
            LayoutFault::NodeAndSplit
        } else {
            return self;
        };
        if self.fault.is_none() {
            self.fault = Some(fault);
        }
        self
    }

    /// Adds the time field with `width` bits (1 to 64). The time field must be the first field.
    pub const fn time(self, width: u8) -> Self {
        self.field(Field::Time, width)
    }

    /// Adds the datacenter field, the high part of a split node, with `width` bits. The worker field must be the next
    /// field.
    pub const fn datacenter(self, width: u8) -> Self {
        self.field(Field::Datacenter, width)
    }

    /// Adds the worker field, the low part of a split node, with `width` bits.
    pub const fn worker(self, width: u8) -> Self {
        self.field(Field::Worker, width)
    }

    /// Adds the node field, for an unsplit node, with `width` bits.
    pub const fn node(self, width: u8) -> Self {
        self.field(Field::Node, width)
    }

    /// Adds the sequence field, the counter within a tick, with `width` bits.
    pub const fn sequence(self, width: u8) -> Self {
        self.field(Field::Sequence, width)
    }

    /// Adds the clock-sequence field with `width` bits, for
    /// [`Rollback::ClockSequence`](crate::Rollback::ClockSequence).
    pub const fn clock_sequence(self, width: u8) -> Self {
        self.field(Field::ClockSequence, width)
    }

    /// Adds `width` reserved bits, which are always zero.
    pub const fn reserved(self, width: u8) -> Self {
        self.field(Field::Reserved, width)
    }

    /// Sets the epoch, which is the instant of tick 0, in Unix milliseconds from 0 to 253402300799999. The default is
    /// 0.
    pub const fn epoch(mut self, unix_ms: i64) -> Self {
        self.epoch = unix_ms;
        self
    }

    /// Sets the length of a tick in milliseconds. The length must be at least 1; the default is 1.
    pub const fn unit_ms(mut self, ms: u64) -> Self {
        self.unit = ms;
        self
    }

    /// Checks the fields and builds the layout.
    ///
    /// # Errors
    /// [`InvalidLayout`](crate::ErrorKind::InvalidLayout) in each of these cases:
    /// - A width is not from 1 to 64, or the widths add up to more than 64.
    /// - A field is repeated.
    /// - The time field is missing or is not the first field.
    /// - The layout has only one part of a split node, or the worker field does not immediately follow the datacenter
    ///   field.
    /// - The layout has both an unsplit node and a split node.
    /// - The epoch is outside the years 1970 to 9999.
    /// - The epoch seems to be in seconds: as a number of milliseconds, it is in January 1970, and as a number of
    ///   seconds, it is after the year 2000. A descriptor can contain such an epoch.
    /// - The unit is 0.
    /// - The horizon is beyond 2^63 − 1 milliseconds.
    pub fn build(self) -> Result<Layout, Error> {
        self.check_input().map_err(|fault| Error::layout(None, fault))
    }

    /// Builds a layout for a constant. Behaves like [`build`](Self::build), but an invalid layout fails to compile.
    ///
    /// ```compile_fail
    /// use flakeid_core::Layout;
    ///
    /// const TIME_NOT_FIRST: Layout = Layout::builder().node(10).time(41).build_const();
    /// # fn main() { TIME_NOT_FIRST.width(); }
    /// ```
    ///
    /// # Panics
    /// Panics if the layout is invalid. In a `const`, the panic is a compile-time error.
    #[must_use]
    #[expect(clippy::panic, reason = "the panic makes an invalid constant fail to compile")]
    pub const fn build_const(self) -> Layout {
        match self.check_input() {
            Ok(layout) => layout,
            Err(fault) => panic!("{}", fault.text()),
        }
    }

    /// Checks a layout that was not read from a descriptor. Every descriptor that a layout writes must be valid, but an
    /// epoch in code is probably wrong if it seems to be in seconds.
    const fn check_input(self) -> Result<Layout, LayoutFault> {
        // Seconds since 2001-01-01, and milliseconds until 1970-02-01.
        if self.epoch >= 978_307_200 && self.epoch < 2_678_400_000 {
            return Err(LayoutFault::EpochInSeconds(self.epoch));
        }
        self.check()
    }

    pub(super) const fn check(self) -> Result<Layout, LayoutFault> {
        if let Some(fault) = self.fault {
            return Err(fault);
        }
        let fields = self.fields;
        match fields.position(Field::Time) {
            None => return Err(LayoutFault::NoTime),
            Some(0) => {}
            Some(_) => return Err(LayoutFault::TimeNotFirst(fields.get(0).0)),
        }
        let split = match (fields.position(Field::Datacenter), fields.position(Field::Worker)) {
            (None, None) => false,
            _ if fields.position(Field::Node).is_some() => return Err(LayoutFault::NodeAndSplit),
            (Some(datacenter), Some(worker)) if worker == datacenter + 1 => true,
            (Some(_), Some(_)) => return Err(LayoutFault::SplitApart),
            _ => return Err(LayoutFault::HalfSplit),
        };
        let total = fields.total();
        if total > 64 {
            return Err(LayoutFault::Total(total));
        }
        if self.epoch < 0 || self.epoch > LAST_FOUR_DIGIT_YEAR {
            return Err(LayoutFault::Epoch(self.epoch));
        }
        if self.unit == 0 {
            return Err(LayoutFault::UnitZero);
        }
        let time = fields.span(Field::Time);
        // The horizon is at most 2^64 × (2^64 − 1) + 2^48, which fits into a `u128`.
        let horizon = self.epoch as u128 + (1 << time.width) * self.unit as u128;
        if horizon > i64::MAX as u128 {
            return Err(LayoutFault::Horizon);
        }
        let worker = fields.span(Field::Worker);
        let (node, worker_width) = if split {
            let datacenter = fields.span(Field::Datacenter);
            let width = datacenter.width + worker.width;
            (Span { width, shift: worker.shift }, Some(worker.width))
        } else {
            (fields.span(Field::Node), None)
        };
        Ok(Layout {
            fields,
            epoch: self.epoch,
            unit: self.unit,
            time,
            node,
            sequence: fields.span(Field::Sequence),
            clock_sequence: fields.span(Field::ClockSequence),
            worker_width,
        })
    }
}

impl Layout {
    /// Returns a builder without fields. Add the fields from the most significant to the least significant.
    pub const fn builder() -> LayoutBuilder {
        LayoutBuilder::new()
    }

    /// Returns a copy of this layout with the given epoch. The epoch is in Unix milliseconds, from 0 to 253402300799999
    /// (the end of the year 9999).
    ///
    /// # Errors
    /// [`InvalidLayout`](crate::ErrorKind::InvalidLayout) if the epoch is out of range or puts
    /// the horizon beyond 2^63 − 1 milliseconds, and if the epoch seems to be in seconds (see
    /// [`LayoutBuilder::build`]).
    pub fn with_epoch(&self, unix_ms: i64) -> Result<Self, Error> {
        LayoutBuilder::from_fields(self.fields).epoch(unix_ms).unit_ms(self.unit).build()
    }
}

#[cfg(test)]
mod tests {
    use alloc::string::ToString;

    use super::Layout;

    #[test]
    fn epoch_in_seconds_is_rejected_except_in_descriptors() {
        let twitter = Layout::TWITTER;
        for seconds in [978_307_200, 1_288_834_974, 2_678_399_999] {
            let error = twitter.with_epoch(seconds).map_err(|error| error.to_string());
            let remedy = alloc::format!("write {seconds}000 instead of {seconds} ");
            assert!(error.is_err_and(|error| error.contains(&remedy)));
            let descriptor = alloc::format!("t41.n10.s12@{seconds}/1ms");
            let layout: Result<Layout, _> = descriptor.parse();
            assert_eq!(layout.map(|layout| layout.to_string()), Ok(descriptor));
        }
        for ms in [0, 978_307_199, 2_678_400_000, 1_288_834_974_657] {
            assert_eq!(twitter.with_epoch(ms).map(|layout| layout.epoch()), Ok(ms));
        }
    }
}
