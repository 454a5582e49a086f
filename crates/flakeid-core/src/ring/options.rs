use alloc::format;
use alloc::sync::Arc;
use core::fmt;
use core::time::Duration;

use super::buffer::Producer;
use super::refill::{Handler, Handlers, Limits, Shared};
use super::stock::Stock;
use crate::generator::Tenure;
use crate::options::{NamedOption, OptionKind, SetByName};
use crate::{Error, Rollback};

/// The options of a [`CachedGenerator`](crate::CachedGenerator). All options have defaults.
///
/// ```
/// use flakeid_core::{CachedGenerator, Generator, Layout, RingOptions};
/// use std::time::Duration;
///
/// let options = RingOptions::new()
///     .boost_power(0)
///     .max_age(Duration::from_millis(500))
///     .on_rejected_take(|error| eprintln!("{error}"));
/// let cached = CachedGenerator::with(&Generator::new(Layout::TWITTER, 7)?, options)?;
/// assert_eq!(cached.capacity(), 4096);
/// # Ok::<(), flakeid_core::Error>(())
/// ```
#[must_use = "options have no effect until a ring is created with them"]
#[derive(Clone)]
pub struct RingOptions {
    boost_power: u64,
    padding_factor: u64,
    refill_interval: Option<Duration>,
    max_age: Option<Duration>,
    on_rejected_put: Option<Handler>,
    on_rejected_take: Option<Handler>,
}

impl RingOptions {
    /// The largest capacity of a ring, in IDs. A ring of this capacity takes 8 MiB of memory.
    const MOST_IDS: u64 = 1 << 20;
    const MOST_BOOST: u64 = 20;

    /// Creates the default options.
    pub const fn new() -> Self {
        Self {
            boost_power: 3,
            padding_factor: 50,
            refill_interval: None,
            max_age: None,
            on_rejected_put: None,
            on_rejected_take: None,
        }
    }

    /// Sets the capacity of the ring: the IDs of 2^`power` full ticks, but at least 2 IDs and at most 2^20 IDs.
    /// `power` is a number from 0 to 20; the default is 3.
    pub const fn boost_power(mut self, power: u64) -> Self {
        self.boost_power = power;
        self
    }

    /// Sets the fill level below which the ring is refilled, as a percentage of the capacity from 1 to 99. The default
    /// is 50.
    pub const fn padding_factor(mut self, percent: u64) -> Self {
        self.padding_factor = percent;
        self
    }

    /// Sets the interval at which the ring is refilled even if enough IDs are left, so that an idle ring contains fresh
    /// IDs. The interval must be at least 1 ms. By default (`None`), the ring is refilled only when few IDs are left.
    pub const fn refill_interval(mut self, interval: Option<Duration>) -> Self {
        self.refill_interval = interval;
        self
    }

    /// Sets the longest age at which an ID may be issued, in whole milliseconds. The age counts from the beginning of
    /// the ID's tick, and the limit must be at least two ticks. The default is 1 s or two ticks, whichever is longer.
    /// Older IDs are dropped and counted.
    ///
    /// If the generator uses the system clock, limits of 40 ms or more are checked with the coarse clock. IDs may then
    /// be dropped up to 10 ms early, because the coarse clock may lag by up to 10 ms.
    pub const fn max_age(mut self, max_age: Duration) -> Self {
        self.max_age = Some(max_age);
        self
    }

    /// Sets a handler that the refill thread calls with the error each time the generator refuses to fill the ring.
    /// Full ticks are not reported, because every refill eventually reaches a full tick. Full rings are not reported,
    /// because no ID is generated for a full ring. The handler must not block. If the handler panics, the panic is
    /// reported as in any other thread, and refilling continues.
    pub fn on_rejected_put(mut self, handler: impl Fn(&Error) + Send + Sync + 'static) -> Self {
        self.on_rejected_put = Some(Arc::new(handler));
        self
    }

    /// Sets a handler that is called with the error each time a call fails with an error other than
    /// [`Closed`](crate::ErrorKind::Closed) or [`Forked`](crate::ErrorKind::Forked). The handler runs on the thread of
    /// that call.
    pub fn on_rejected_take(mut self, handler: impl Fn(&Error) + Send + Sync + 'static) -> Self {
        self.on_rejected_take = Some(Arc::new(handler));
        self
    }

    /// Checks the options for `tenure`, and creates a ring that contains the first IDs.
    pub(super) fn fill_ring(self, tenure: Arc<Tenure>) -> Result<(Shared, Producer), Error> {
        let capacity = self.resolve_capacity(&tenure)?;
        let max_age = self.resolve_max_age(&tenure)?;
        if self.refill_interval.is_some_and(|interval| interval < Duration::from_millis(1)) {
            return Err(Error::invalid_option(
                "refill_interval_ms",
                &format!("{:?} must be at least 1 ms", self.refill_interval.unwrap_or_default()),
            ));
        }
        if !(1..=99).contains(&self.padding_factor) {
            return Err(Error::option_out_of_range("padding_factor", &self.padding_factor, 1, 99));
        }
        if tenure.policy.rollback == Rollback::ClockSequence {
            return Err(Error::invalid_option(
                "rollback",
                "clock-sequence cannot be combined with a ring, because the IDs of a ring \
                 strictly increase; use continue, error or wait",
            ));
        }
        let low = (capacity * self.padding_factor).div_ceil(100).max(1);
        let (stock, mut producer) = Stock::new(tenure, capacity, max_age);
        stock.put_one_waiting(&mut producer)?;
        // Any error, such as a full tick or the end of a window, ends this loop. The error can be ignored here, because
        // the refill thread will encounter the same error, and takers can already take the existing IDs.
        while matches!(stock.put(&mut producer), Ok(1..)) {}
        let limits = Limits { low, interval: self.refill_interval };
        let handlers = Handlers { put: self.on_rejected_put, take: self.on_rejected_take };
        Ok((Shared::new(stock, limits, handlers), producer))
    }

    fn resolve_capacity(&self, tenure: &Tenure) -> Result<u64, Error> {
        if self.boost_power > Self::MOST_BOOST {
            return Err(Error::option_out_of_range(
                "boost_power",
                &self.boost_power,
                0,
                Self::MOST_BOOST,
            ));
        }
        // The bound is applied before the shift, because the shift could otherwise overflow in a layout with 44 or more
        // sequence bits.
        let tick = (tenure.layout().max_sequence() + 1).min(Self::MOST_IDS);
        Ok((tick << self.boost_power).clamp(2, Self::MOST_IDS))
    }

    fn resolve_max_age(&self, tenure: &Tenure) -> Result<Duration, Error> {
        let shortest = Duration::from_millis(tenure.layout().unit_ms()).saturating_mul(2);
        match self.max_age {
            None => Ok(shortest.max(Duration::from_secs(1))),
            Some(max_age) if max_age >= shortest => Ok(max_age),
            Some(max_age) => Err(Error::invalid_option(
                "max_age_ms",
                &format!("{max_age:?} is shorter than two ticks of the layout ({shortest:?})"),
            )),
        }
    }
}

impl SetByName for RingOptions {
    const OPTIONS: &'static [NamedOption<Self>] = &[
        NamedOption::number(
            "boost_power",
            |_| Self::MOST_BOOST,
            |options, power| options.boost_power = power,
        ),
        NamedOption {
            name: "padding_factor",
            kind: OptionKind::Number {
                min: 1,
                max: |_| 99,
                set: |options, percent| options.padding_factor = percent,
            },
        },
        NamedOption::duration("refill_interval_ms", |options, interval| {
            options.refill_interval = Some(interval);
        }),
        NamedOption::duration("max_age_ms", |options, max_age| options.max_age = Some(max_age)),
    ];
}

impl Default for RingOptions {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for RingOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RingOptions")
            .field("boost_power", &self.boost_power)
            .field("padding_factor", &self.padding_factor)
            .field("refill_interval", &self.refill_interval)
            .field("max_age", &self.max_age)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    #[test]
    fn ring_options_are_equal_whether_set_by_name_or_by_method() {
        let mut by_name = RingOptions::new();
        for (name, text) in [
            ("boost_power", "5"),
            ("padding_factor", "20"),
            ("refill_interval_ms", "30"),
            ("max_age_ms", "400"),
        ] {
            by_name = by_name.set(name, text).unwrap();
        }
        let by_method = RingOptions::new()
            .boost_power(5)
            .padding_factor(20)
            .refill_interval(Some(Duration::from_millis(30)))
            .max_age(Duration::from_millis(400));
        assert_eq!(format!("{by_name:?}"), format!("{by_method:?}"));
        let refused = RingOptions::new().set("padding_factor", "many").unwrap_err();
        assert!(refused.to_string().contains("must be from 1 to 99"), "{refused}");
    }
}
