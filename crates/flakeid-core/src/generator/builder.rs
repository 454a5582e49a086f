//! The options of generators, set by method or by name, and their validation.

use alloc::format;
use alloc::sync::Arc;
use core::time::Duration;

use super::cell::Cell;
use super::node_choice::NodeChoice;
use super::shape::{Shape, limit_of};
use super::start::SequenceStart;
use super::tenure::{Ahead, Tenure};
use super::{Generator, Overflow, Policy, Rollback, Window};
use crate::calendar::whole_ms;
use crate::clock::{Clock, ClockSource};
use crate::fork::Limit;
use crate::layout::LayoutFault;
use crate::options::{NamedOption, SetByName};
use crate::sync::NativeOnly;
use crate::{Error, ErrorKind, Layout};

/// The options of a [`Generator`]. Every option except the node has a default.
///
/// ```
/// use std::time::Duration;
///
/// use flakeid_core::{Generator, GeneratorBuilder, Layout, Overflow};
///
/// let builder: GeneratorBuilder = Generator::builder(Layout::TWITTER).node(7);
/// let generator = builder.overflow(Overflow::Error).max_wait(Duration::from_millis(50)).build()?;
/// assert_eq!(generator.node(), Some(7));
/// # Ok::<(), flakeid_core::Error>(())
/// ```
#[must_use = "a builder does nothing until it is built"]
pub struct GeneratorBuilder {
    layout: Layout,
    node: NodeChoice,
    policy: Policy,
    sequence_mask: Option<u64>,
    sequence_start: u64,
    max_ahead: Duration,
    max_wait: Option<Duration>,
    clock: Option<ClockSource>,
    window_start: Option<u64>,
    window_fence: Option<u64>,
}

impl GeneratorBuilder {
    fn new(layout: Layout) -> Self {
        Self {
            layout,
            node: NodeChoice::default(),
            policy: Policy::default(),
            sequence_mask: None,
            sequence_start: 0,
            max_ahead: Duration::from_secs(20),
            max_wait: None,
            clock: None,
            window_start: None,
            window_fence: None,
        }
    }

    /// Sets the node, from 0 to the layout's [`max_node`](Layout::max_node). The node has no default, because two
    /// generators with the same default would issue the same IDs. A process also repeats IDs if it uses the node of an
    /// earlier process while the clock is behind the latest ID of the earlier process.
    pub const fn node(mut self, node: u64) -> Self {
        self.node.node = Some(node);
        self
    }

    /// Sets several different nodes instead of a single node. The number of nodes must be a power of two. The largest
    /// number of IDs per second is multiplied by the number of nodes (four nodes in Twitter's layout give 16.384
    /// million IDs per second). The IDs of the generator still strictly increase, unlike the IDs of several
    /// generators, because the generator combines the node and the sequence number in a single counter.
    ///
    /// Cannot be combined with [`sequence_mask`](Self::sequence_mask) or with layouts that have a clock sequence.
    /// Within a process, a node cannot be used both alone and with other nodes, or in different sets of nodes.
    ///
    /// On `wasm32-unknown-unknown`, [`build`](Self::build) rejects several nodes, to keep the downloaded module small.
    pub fn nodes(mut self, nodes: &[u64]) -> Self {
        self.node.several = Some(NativeOnly::new(|| Some(nodes.into())));
        self
    }

    /// Sets the high part of the node, in layouts that split the node. Requires [`worker`](Self::worker), and cannot be
    /// combined with [`node`](Self::node).
    pub const fn datacenter(mut self, datacenter: u64) -> Self {
        self.node.datacenter = Some(datacenter);
        self
    }

    /// Sets the low part of the node, in layouts that split the node. Requires [`datacenter`](Self::datacenter), and
    /// cannot be combined with [`node`](Self::node).
    pub const fn worker(mut self, worker: u64) -> Self {
        self.node.worker = Some(worker);
        self
    }

    /// Sets the behaviour when a tick is full. The default is [`Overflow::Wait`].
    pub const fn overflow(mut self, overflow: Overflow) -> Self {
        self.policy.overflow = overflow;
        self
    }

    /// Sets the behaviour when the clock goes backwards. The default is [`Rollback::Continue`].
    pub const fn rollback(mut self, rollback: Rollback) -> Self {
        self.policy.rollback = rollback;
        self
    }

    /// Sets the overflow behaviour and the rollback behaviour together, for example to [`Policy::STRICT`].
    pub const fn policy(mut self, policy: Policy) -> Self {
        self.policy = policy;
        self
    }

    /// Sets the largest sequence number that the generator uses. The number must be 2^k − 1, and at most the layout's
    /// [`max_sequence`](Layout::max_sequence), which is the default. The option corresponds to `seqMask` in `FlakeId`.
    pub const fn sequence_mask(mut self, mask: u64) -> Self {
        self.sequence_mask = Some(mask);
        self
    }

    /// Sets the number of random bits in the sequence number at which each tick begins. The default is 0, so that each
    /// tick begins at sequence number 0. Without random bits, every ID of a generator with a low rate ends in sequence
    /// number 0, so `id mod 2^k` is badly skewed. Each tick loses up to 2^`bits` − 1 IDs. If the layout places the
    /// sequence above the node, random bits do not make `id mod 2^k` more uniform.
    pub const fn sequence_start(mut self, bits: u64) -> Self {
        self.sequence_start = bits;
        self
    }

    /// Sets how far the IDs of a generator with a window may be ahead of the clock. The duration is rounded up to whole
    /// ticks. The default is 20 s.
    pub const fn max_ahead(mut self, max_ahead: Duration) -> Self {
        self.max_ahead = max_ahead;
        self
    }

    /// Sets the longest time that a call waits without issuing an ID. The default is 1 s or two ticks, whichever is
    /// longer. A call may exceed this time by the time that the operating system takes to wake a thread.
    pub const fn max_wait(mut self, max_wait: Duration) -> Self {
        self.max_wait = Some(max_wait);
        self
    }

    /// Sets the clock. The default is the system clock, read through [`GatedClock`](crate::GatedClock). A generator
    /// with a custom clock, or with a [`ManualClock`](crate::ManualClock), does not share its position with other
    /// generators.
    pub fn clock(mut self, clock: impl Clock) -> Self {
        self.clock = Some(ClockSource::of(clock));
        self
    }

    /// Sets the ticks that this generator may use. By default, the generator may use all ticks of the node. This
    /// option is for leases: the component that grants windows must ensure that the windows of one node never
    /// overlap.
    pub const fn window(mut self, window: Window) -> Self {
        (self.window_start, self.window_fence) = (Some(window.start()), Some(window.fence()));
        self
    }

    /// Checks all options and builds the generator.
    ///
    /// # Errors
    /// [`FieldOutOfRange`](ErrorKind::FieldOutOfRange) for `node`, `datacenter`, `worker` or `sequence_start`;
    /// [`InvalidOption`](ErrorKind::InvalidOption) for a missing node, options that exclude each other, or a mask
    /// that is not 2^k − 1; [`InvalidLayout`](ErrorKind::InvalidLayout) if the layout can only decode IDs;
    /// [`HorizonReached`](ErrorKind::HorizonReached) if the layout's ticks have run out;
    /// [`Forked`](ErrorKind::Forked) if the parent process used this node.
    pub fn build(self) -> Result<Generator, Error> {
        self.build_tenure().map(Generator::from)
    }

    /// Builds a tenure, for a source of tenures. Behaves like [`build`](Self::build).
    ///
    /// # Errors
    /// The errors of [`build`](Self::build).
    #[doc(hidden)]
    pub fn build_tenure(mut self) -> Result<Tenure, Error> {
        let layout = self.layout;
        if !layout.can_generate() {
            let (time, _, clock_sequence, sequence) = layout.spans();
            let fault = LayoutFault::Generates {
                position: u32::from(time.width) + u32::from(sequence.width),
                clock_sequence: u32::from(clock_sequence.width),
            };
            return Err(Error::layout(Some(&format!("{layout}")), fault));
        }
        let nodes = self.node.resolve(&layout)?;
        if nodes.len() > 1 && self.sequence_mask.is_some() {
            return Err(Error::invalid_option(
                "sequence_mask",
                "cannot be combined with several nodes, which are for more IDs per tick; \
                 omit one of them",
            ));
        }
        let shape = Shape::new(&layout, &nodes).map_err(Error::of_option)?;
        let sequence_mask = self.resolve_sequence_mask(&shape)?;
        let start = SequenceStart::new(self.sequence_start, sequence_mask)?;
        let window = self.resolve_window()?;
        self.policy.check(&layout, window)?;
        window.map_or(Ok(()), |window| window.check(&layout))?;
        let clock = self.resolve_clock()?;
        let now = match layout.tick_at(clock.exact_unix_ms()) {
            Ok(tick) => Some(tick),
            Err(error) if error.kind() == ErrorKind::BeforeEpoch => None,
            Err(error) => return Err(error),
        };
        let make = || match window {
            Some(window) => Cell::windowed(shape.position(window.start())),
            // An earlier process may have issued all IDs of the current tick, so the first IDs come from the next tick.
            None if clock.is_real() => {
                Cell::fixed(&layout, shape.position(now.map_or(0, |tick| tick + 1)))
            }
            None => Cell::fixed(&layout, 0),
        };
        let shared = window.is_none() && clock.is_system();
        let cell = if shared { shared_cell(&layout, &nodes, make)? } else { Arc::new(make()) };
        let fence = window.map_or(u64::MAX, |window| window.fence());
        let ahead = match (window, self.policy) {
            (Some(_), Policy { rollback: Rollback::Continue, overflow: Overflow::Borrow }) => {
                Ahead::Borrow
            }
            (Some(_), Policy { rollback: Rollback::Continue, .. }) => Ahead::Tick,
            _ => Ahead::Each,
        };
        Ok(Tenure {
            #[cfg(feature = "std")]
            // WebAssembly cannot sleep, so the host waits for its calls.
            queue: NativeOnly::new(|| {
                let sleeps = !cfg!(all(target_family = "wasm", target_os = "unknown"));
                (sleeps && clock.is_system()).then(super::queue::Queue::new)
            }),
            ahead,
            has_clock_sequences: cell.has_clock_sequences(),
            limit: Limit::new(limit_of(&layout, &shape, fence).min(cell.last_position())),
            cell,
            clock,
            shape,
            epoch: layout.epoch(),
            unit: layout.unit_ms(),
            span: (layout.horizon() - layout.epoch()).cast_unsigned(),
            sequence_mask,
            start,
            shared,
            policy: self.policy,
            max_ahead: ticks_in(self.max_ahead, &layout),
            max_wait: self.max_wait.unwrap_or_else(|| {
                Duration::from_secs(1)
                    .max(Duration::from_millis(layout.unit_ms()).saturating_mul(2))
            }),
            layout,
            nodes: nodes.into(),
        })
    }

    fn resolve_sequence_mask(&self, shape: &Shape) -> Result<u64, Error> {
        let most = self.layout.max_sequence();
        match self.sequence_mask {
            None => Ok(shape.max_sequence()),
            Some(mask) if mask <= most && (mask & mask.wrapping_add(1)) == 0 => Ok(mask),
            Some(mask) => Err(Error::invalid_option(
                "sequence_mask",
                &format!("{mask} must be 2^k - 1, from 0 to {most}"),
            )),
        }
    }

    fn resolve_window(&self) -> Result<Option<Window>, Error> {
        match (self.window_start, self.window_fence) {
            (None, None) => Ok(None),
            (Some(start), Some(fence)) => Window::new(start, fence).map(Some),
            _ => {
                let reason = "missing: `window_start` and `window_fence` go together";
                Err(Error::invalid_option("window_fence", reason))
            }
        }
    }

    #[cfg_attr(
        feature = "std",
        expect(clippy::unnecessary_wraps, reason = "without `std` this function can fail")
    )]
    fn resolve_clock(&mut self) -> Result<ClockSource, Error> {
        if let Some(clock) = self.clock.take() {
            return Ok(clock);
        }
        #[cfg(feature = "std")]
        return Ok(ClockSource::default());
        #[cfg(not(feature = "std"))]
        Err(Error::invalid_option(
            "clock",
            "missing: give a clock, because the system clock \
             requires the feature std, which is off",
        ))
    }
}

/// The options by name. Each option is checked against the others when the generator is built. The option `clock`
/// exists only with the `std` feature.
impl SetByName for GeneratorBuilder {
    const OPTIONS: &'static [NamedOption<Self>] = &[
        NamedOption::number("node", |b| b.layout.max_node(), |b, node| b.node.node = Some(node)),
        NamedOption::numbers(
            "nodes",
            |b| b.layout.max_node(),
            |b, nodes| b.node.several = Some(NativeOnly::new(|| Some(nodes))),
        ),
        NamedOption::number(
            "datacenter",
            |b| b.layout.max_datacenter_and_worker().unwrap_or_default().0,
            |b, datacenter| b.node.datacenter = Some(datacenter),
        ),
        NamedOption::number(
            "worker",
            |b| b.layout.max_datacenter_and_worker().unwrap_or_default().1,
            |b, worker| b.node.worker = Some(worker),
        ),
        NamedOption::number(
            "sequence_mask",
            |b| b.layout.max_sequence(),
            |b, mask| b.sequence_mask = Some(mask),
        ),
        NamedOption::number(
            "sequence_start",
            |b| b.layout.max_sequence().count_ones().into(),
            |b, bits| b.sequence_start = bits,
        ),
        NamedOption::text("overflow", |b, text| text.parse().map(|it| b.policy.overflow = it)),
        NamedOption::text("rollback", |b, text| text.parse().map(|it| b.policy.rollback = it)),
        #[cfg(feature = "std")]
        NamedOption::text("clock", |b, text| {
            text.parse::<crate::NamedClock>().map(|it| b.clock = Some(ClockSource::of(it)))
        }),
        NamedOption::duration("max_ahead_ms", |b, max_ahead| b.max_ahead = max_ahead),
        NamedOption::duration("max_wait_ms", |b, max_wait| b.max_wait = Some(max_wait)),
        NamedOption::number(
            "window_start",
            |b| b.layout.max_tick(),
            |b, tick| b.window_start = Some(tick),
        ),
        NamedOption::number("window_fence", |_| u64::MAX, |b, tick| b.window_fence = Some(tick)),
    ];
}

#[cfg(not(loom))]
fn shared_cell(
    layout: &Layout,
    nodes: &[u64],
    make: impl FnOnce() -> Cell,
) -> Result<Arc<Cell>, Error> {
    super::registry::REGISTRY.cell(layout, nodes, make)
}

/// Creates a cell without the registry, because the static registry would outlive one execution of a loom model.
/// Separate models cover the registry.
#[cfg(loom)]
#[expect(clippy::unnecessary_wraps, reason = "the real one can fail")]
fn shared_cell(
    _layout: &Layout,
    _nodes: &[u64],
    make: impl FnOnce() -> Cell,
) -> Result<Arc<Cell>, Error> {
    Ok(Arc::new(make()))
}

/// Converts a duration to whole ticks, rounded up and limited to the largest tick of the layout.
fn ticks_in(duration: Duration, layout: &Layout) -> u64 {
    whole_ms(duration).div_ceil(layout.unit_ms()).min(layout.max_tick())
}

impl Generator {
    /// Builds a generator for a fixed node on the system clock, with the default policies.
    ///
    /// # Errors
    /// The errors of [`GeneratorBuilder::build`].
    #[cfg(feature = "std")]
    pub fn new(layout: Layout, node: u64) -> Result<Self, Error> {
        Self::builder(layout).node(node).build()
    }

    /// Returns a builder for a generator with the given layout.
    pub fn builder(layout: Layout) -> GeneratorBuilder {
        GeneratorBuilder::new(layout)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use alloc::string::ToString;
    use core::time::Duration;

    use super::*;
    use crate::{ErrorKind, Generator, Layout, ManualClock, Overflow, Policy, Rollback};

    fn set(options: &[(&str, &str)]) -> Result<GeneratorBuilder, crate::Error> {
        let mut builder = Generator::builder(Layout::TWITTER);
        for (name, text) in options {
            builder = builder.set(name, text)?;
        }
        Ok(builder)
    }

    #[test]
    fn builder_options_set_by_name_configure_the_generator() {
        let builder = set(&[
            ("datacenter", "3"),
            ("worker", "4"),
            ("sequence_mask", "255"),
            ("sequence_start", "2"),
            ("overflow", "borrow"),
            ("rollback", "wait"),
            ("max_ahead_ms", "1000"),
            ("max_wait_ms", "0"),
            ("window_start", "10"),
            ("window_fence", "20"),
        ]);
        let clock = ManualClock::new(Layout::TWITTER.epoch());
        let generator = builder.unwrap().clock(clock).build().unwrap();
        assert_eq!(generator.node(), Some(3 * 32 + 4));
        let tenure = generator.latest();
        assert_eq!((tenure.sequence_mask, tenure.start.mask), (255, 3));
        let policy = Policy { overflow: Overflow::Borrow, rollback: Rollback::Wait };
        assert_eq!(tenure.policy, policy);
        assert_eq!((tenure.max_ahead, tenure.max_wait), (1_000, Duration::ZERO));
        let id = generator.next_id().unwrap();
        assert_eq!(Layout::TWITTER.unpack(id).unwrap().tick, 10);
        let limit = tenure.shape.position(20);
        assert_eq!(tenure.limit.get(), limit, "the end of the window");
    }

    #[test]
    fn builder_errors_name_the_invalid_option_and_value() {
        for (options, kind, said) in [
            (
                &[("nod", "7")][..],
                ErrorKind::InvalidOption,
                "no option \"nod\"; the options are node: number, ",
            ),
            (
                &[("node", "-1")],
                ErrorKind::FieldOutOfRange,
                "node -1 is out of range: must be from 0 to 1023",
            ),
            (
                &[("node", "7"), ("sequence_start", "4294967296")],
                ErrorKind::FieldOutOfRange,
                "from 0 to 12",
            ),
            (&[("rollback", "never")], ErrorKind::InvalidOption, "not \"never\""),
            (&[("max_wait_ms", "1.5")], ErrorKind::FieldOutOfRange, "max_wait_ms 1.5"),
        ] {
            let error = set(options).and_then(GeneratorBuilder::build).map(drop).unwrap_err();
            assert_eq!(error.kind(), kind);
            assert!(error.to_string().contains(said), "{error}");
        }
    }

    #[test]
    fn max_ahead_is_rounded_up_to_whole_milliseconds() {
        let clock = ManualClock::new(Layout::TWITTER.epoch());
        let builder = Generator::builder(Layout::TWITTER).node(7).clock(clock);
        let generator = builder.max_ahead(Duration::from_micros(1_500)).build().unwrap();
        assert_eq!(generator.latest().max_ahead, 2);
    }

    #[test]
    fn window_start_and_fence_require_each_other() {
        for given in ["window_start", "window_fence"] {
            let error = set(&[("node", "7"), (given, "10")]).unwrap().build().unwrap_err();
            assert_eq!(error.kind(), ErrorKind::InvalidOption);
            assert!(error.to_string().contains("go together"), "{error}");
        }
    }
}
