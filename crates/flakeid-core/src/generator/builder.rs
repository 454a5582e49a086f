//! The options of generators: by method, by name, and what becomes of them.

use alloc::format;
use alloc::sync::Arc;
use core::time::Duration;

use super::cell::Cell;
use super::node_choice::NodeChoice;
use super::shape::Shape;
use super::start::SequenceStart;
use super::{Ahead, Generator, Overflow, Policy, Rollback, Window, limit_of};
use crate::calendar::whole_ms;
use crate::clock::{Clock, ClockSource};
use crate::fork::Limit;
use crate::layout::LayoutFault;
use crate::options::{NamedOption, SetByName};
use crate::sync::NativeOnly;
use crate::{Error, ErrorKind, Layout};

/// The options of a [`Generator`]. Only the node has no default.
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

    /// The node, 0 to the layout's [`max_node`](Layout::max_node). There is no default: two
    /// generators that got the same one silently would repeat each other's IDs. So would a process
    /// that uses the node of an earlier one while its clock reads earlier than that one's latest ID.
    pub const fn node(mut self, node: u64) -> Self {
        self.node.node = Some(node);
        self
    }

    /// Several nodes instead of one: 1, 2, 4, 8 or another power of two, all different. The ceiling
    /// rises with their number (four of Twitter's give 16.384 million IDs a second), and the IDs of
    /// the generator still strictly rise, which those of several generators would not: in the word
    /// that orders them the nodes extend the sequence.
    ///
    /// Does not go with [`sequence_mask`](Self::sequence_mask) or layouts with clock sequences.
    /// Within a process a node cannot be used alone and together with others, or in different sets.
    ///
    /// Not on `wasm32-unknown-unknown`, where every kilobyte is downloaded.
    #[cfg(not(all(target_family = "wasm", target_os = "unknown")))]
    pub fn nodes(mut self, nodes: &[u64]) -> Self {
        self.node.several = Some(NativeOnly::new(|| Some(nodes.into())));
        self
    }

    /// The high part of the node, in layouts that split it, together with
    /// [`worker`](Self::worker) and instead of [`node`](Self::node).
    pub const fn datacenter(mut self, datacenter: u64) -> Self {
        self.node.datacenter = Some(datacenter);
        self
    }

    /// The low part of the node, in layouts that split it, together with
    /// [`datacenter`](Self::datacenter) and instead of [`node`](Self::node).
    pub const fn worker(mut self, worker: u64) -> Self {
        self.node.worker = Some(worker);
        self
    }

    /// What to do when a tick is full: [`Overflow::Wait`] unless set.
    pub const fn overflow(mut self, overflow: Overflow) -> Self {
        self.policy.overflow = overflow;
        self
    }

    /// What to do when the clock goes back: [`Rollback::Continue`] unless set.
    pub const fn rollback(mut self, rollback: Rollback) -> Self {
        self.policy.rollback = rollback;
        self
    }

    /// Both at once, for example [`Policy::STRICT`].
    pub const fn policy(mut self, policy: Policy) -> Self {
        self.policy = policy;
        self
    }

    /// The largest sequence number to use: 2^k − 1, at most the layout's
    /// [`max_sequence`](Layout::max_sequence), which is the default. `FlakeId`'s `seqMask`.
    pub const fn sequence_mask(mut self, mask: u64) -> Self {
        self.sequence_mask = Some(mask);
        self
    }

    /// Begin each tick at a random sequence number below 2^`bits` instead of at 0, which is the
    /// default. At low rates every ID otherwise ends in sequence 0, and `id mod 2^k` is badly
    /// skewed. It costs up to that many IDs per tick, and it cannot help `id mod 2^k` where the
    /// layout has the sequence above the node.
    pub const fn sequence_start(mut self, bits: u64) -> Self {
        self.sequence_start = bits;
        self
    }

    /// How far ahead of the clock IDs may be issued from a window: 20 s unless set, rounded up to
    /// whole ticks.
    pub const fn max_ahead(mut self, max_ahead: Duration) -> Self {
        self.max_ahead = max_ahead;
        self
    }

    /// How long a call waits without issuing an ID: unless set, 1 s or two ticks, whichever is
    /// longer. A call may overrun it by what the operating system takes to wake a thread.
    pub const fn max_wait(mut self, max_wait: Duration) -> Self {
        self.max_wait = Some(max_wait);
        self
    }

    /// The clock: the system's, by way of [`GatedClock`](crate::GatedClock), unless set. On a clock of your own, or a
    /// [`ManualClock`](crate::ManualClock), a generator shares its position with no other.
    pub fn clock(mut self, clock: impl Clock) -> Self {
        self.clock = Some(ClockSource::of(clock));
        self
    }

    /// The ticks that this generator may use, instead of all of the node's. For leases: whoever
    /// hands out windows sees to it that those of one node never overlap.
    pub const fn window(mut self, window: Window) -> Self {
        (self.window_start, self.window_fence) = (Some(window.start()), Some(window.fence()));
        self
    }

    /// Checks everything and makes the generator.
    ///
    /// # Errors
    /// [`FieldOutOfRange`](ErrorKind::FieldOutOfRange) for node, datacenter, worker,
    /// `sequence_start`; [`InvalidOption`](ErrorKind::InvalidOption) for a missing node, options
    /// that exclude each other, or a mask that is not 2^k − 1;
    /// [`InvalidLayout`](ErrorKind::InvalidLayout) if the layout only decodes;
    /// [`HorizonReached`](ErrorKind::HorizonReached) if its ticks have run out;
    /// [`Forked`](ErrorKind::Forked) if the parent process used this node.
    pub fn build(mut self) -> Result<Generator, Error> {
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
                 leave one of the two out",
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
            // An earlier run may have issued in this very tick, up to its last sequence number.
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
        Ok(Generator {
            #[cfg(feature = "std")]
            queue: NativeOnly::new(|| clock.is_system().then(super::queue::Queue::new)),
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

    #[cfg_attr(feature = "std", expect(clippy::unnecessary_wraps, reason = "it can fail without"))]
    fn resolve_clock(&mut self) -> Result<ClockSource, Error> {
        if let Some(clock) = self.clock.take() {
            return Ok(clock);
        }
        #[cfg(feature = "std")]
        return Ok(ClockSource::default());
        #[cfg(not(feature = "std"))]
        Err(Error::invalid_option(
            "clock",
            "missing: give a clock, because the feature std is \
             off and there is no system clock without it",
        ))
    }
}

/// Each option is checked against the others when the generator is built. The clock can be named
/// where there is more than one.
impl SetByName for GeneratorBuilder {
    const OPTIONS: &'static [NamedOption<Self>] = &[
        NamedOption::number("node", |b| b.layout.max_node(), |b, node| b.node.node = Some(node)),
        #[cfg(not(all(target_family = "wasm", target_os = "unknown")))]
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
        #[cfg(all(feature = "std", not(all(target_family = "wasm", target_os = "unknown"))))]
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

/// A static would outlive one run of a model; the registry has models of its own.
#[cfg(loom)]
#[expect(clippy::unnecessary_wraps, reason = "the real one can fail")]
fn shared_cell(
    _layout: &Layout,
    _nodes: &[u64],
    make: impl FnOnce() -> Cell,
) -> Result<Arc<Cell>, Error> {
    Ok(Arc::new(make()))
}

/// A duration in whole ticks, rounded up.
fn ticks_in(duration: Duration, layout: &Layout) -> u64 {
    whole_ms(duration).div_ceil(layout.unit_ms()).min(layout.max_tick())
}

impl Generator {
    /// A generator for a fixed node on the system clock, with the default policies.
    ///
    /// # Errors
    /// As [`GeneratorBuilder::build`].
    #[cfg(feature = "std")]
    pub fn new(layout: Layout, node: u64) -> Result<Self, Error> {
        Self::builder(layout).node(node).build()
    }

    /// Starts a generator with options.
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
    fn texts_do_what_the_methods_do() {
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
        assert_eq!(generator.node(), 3 * 32 + 4);
        assert_eq!((generator.sequence_mask, generator.start.mask), (255, 3));
        let policy = Policy { overflow: Overflow::Borrow, rollback: Rollback::Wait };
        assert_eq!(generator.policy, policy);
        assert_eq!((generator.max_ahead, generator.max_wait), (1_000, Duration::ZERO));
        let id = generator.next_id().unwrap();
        assert_eq!(Layout::TWITTER.unpack(id).unwrap().tick, 10);
        let limit = generator.shape.position(20);
        assert_eq!(generator.limit.get(), limit, "the end of the window");
    }

    #[test]
    fn what_is_wrong_is_named() {
        for (options, kind, said) in [
            (
                &[("nod", "7")][..],
                ErrorKind::InvalidOption,
                "no option \"nod\"; there are node: number, ",
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
        assert_eq!(generator.max_ahead, 2);
    }

    #[test]
    fn half_a_window_is_refused() {
        for given in ["window_start", "window_fence"] {
            let error = set(&[("node", "7"), (given, "10")]).unwrap().build().unwrap_err();
            assert_eq!(error.kind(), ErrorKind::InvalidOption);
            assert!(error.to_string().contains("go together"), "{error}");
        }
    }
}
