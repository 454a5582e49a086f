use alloc::format;
use alloc::sync::Arc;
use alloc::vec;
use alloc::vec::Vec;
use core::time::Duration;

use super::cell::Cell;
use super::shape::Shape;
use super::{Generator, Overflow, Policy, Rollback, Window, limit_of};
use crate::clock::{Clock, ClockSource};
use crate::fork::Limit;
use crate::layout::LayoutFault;
use crate::{Error, ErrorKind, Layout};

/// The options of a [`Generator`]. Only the node has no default.
#[must_use = "a builder does nothing until it is built"]
pub struct GeneratorBuilder {
    pub(super) layout: Layout,
    pub(super) node: Option<u64>,
    #[cfg(not(all(target_family = "wasm", target_os = "unknown")))]
    pub(super) nodes: Option<Vec<u64>>,
    pub(super) datacenter: Option<u64>,
    pub(super) worker: Option<u64>,
    pub(super) policy: Policy,
    pub(super) sequence_mask: Option<u64>,
    pub(super) sequence_start: u64,
    pub(super) max_ahead: Duration,
    pub(super) max_wait: Option<Duration>,
    pub(super) clock: Option<ClockSource>,
    pub(super) window_start: Option<u64>,
    pub(super) window_fence: Option<u64>,
}

impl GeneratorBuilder {
    pub(super) fn new(layout: Layout) -> Self {
        Self {
            layout,
            node: None,
            #[cfg(not(all(target_family = "wasm", target_os = "unknown")))]
            nodes: None,
            datacenter: None,
            worker: None,
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
        self.node = Some(node);
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
        self.nodes = Some(nodes.into());
        self
    }

    /// The high part of the node, in layouts that split it, together with
    /// [`worker`](Self::worker) and instead of [`node`](Self::node).
    pub const fn datacenter(mut self, datacenter: u64) -> Self {
        self.datacenter = Some(datacenter);
        self
    }

    /// The low part of the node, in layouts that split it, together with
    /// [`datacenter`](Self::datacenter) and instead of [`node`](Self::node).
    pub const fn worker(mut self, worker: u64) -> Self {
        self.worker = Some(worker);
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

    /// The clock: the system's unless set. On a clock of your own, or a
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
        let nodes = self.resolve_nodes()?;
        let shape = Shape::new(&layout, &nodes)?;
        let sequence_mask = self.resolve_sequence_mask(&shape)?;
        let start_mask = self.resolve_start_mask(sequence_mask)?;
        let window = self.resolve_window()?;
        self.check_policy(window)?;
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
        Ok(Generator {
            has_clock_sequences: cell.has_clock_sequences(),
            cell,
            limit: Limit::new(limit_of(&layout, &shape, fence)),
            clock,
            shape,
            epoch: layout.epoch(),
            unit: layout.unit_ms(),
            span: (layout.horizon() - layout.epoch()).cast_unsigned(),
            sequence_mask,
            start_mask,
            start_seed: if start_mask == 0 { 0 } else { random_seed() },
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

    #[cfg(all(target_family = "wasm", target_os = "unknown"))]
    fn resolve_nodes(&self) -> Result<Vec<u64>, Error> {
        Ok(vec![self.resolve_node()?])
    }

    #[cfg(not(all(target_family = "wasm", target_os = "unknown")))]
    fn resolve_nodes(&self) -> Result<Vec<u64>, Error> {
        let Some(nodes) = &self.nodes else { return Ok(vec![self.resolve_node()?]) };
        let refused = |reason: &str| Err(Error::invalid_option("nodes", reason));
        if self.node.is_some() || self.datacenter.is_some() || self.worker.is_some() {
            return refused("give either nodes or one node, not both");
        }
        if !nodes.len().is_power_of_two() {
            return refused(&format!("{} nodes: their number must be a power of two", nodes.len()));
        }
        let mut nodes = nodes.clone();
        nodes.sort_unstable();
        if let Some((twice, _)) = nodes.iter().zip(&nodes[1..]).find(|(a, b)| a == b) {
            return refused(&format!("node {twice} is there twice"));
        }
        if nodes.len() > 1 {
            let (time, _, clock_sequence, sequence) = self.layout.spans();
            let more = nodes.len().trailing_zeros();
            if clock_sequence.width > 0 {
                return refused(
                    "several nodes cannot be combined with a layout that has a clock sequence (c)",
                );
            }
            if u32::from(time.width + sequence.width) + more > 63 {
                return refused(&format!(
                    "{} nodes need {more} bits besides the {} of time and the {} of sequence, and \
                     together these may be 63; give fewer nodes",
                    nodes.len(),
                    time.width,
                    sequence.width
                ));
            }
            if self.sequence_mask.is_some() {
                return Err(Error::invalid_option(
                    "sequence_mask",
                    "cannot be combined with several nodes, which are for more IDs per tick; \
                     leave one of the two out",
                ));
            }
        }
        Ok(nodes)
    }

    fn resolve_node(&self) -> Result<u64, Error> {
        match (self.node, self.datacenter, self.worker) {
            (Some(_), Some(_), _) | (Some(_), _, Some(_)) => Err(Error::invalid_option(
                "node",
                "give either a node, or a datacenter with a worker, not both",
            )),
            (Some(node), None, None) => Ok(node),
            (None, Some(datacenter), Some(worker)) => self.layout.join_node(datacenter, worker),
            (None, Some(_), None) => {
                Err(Error::invalid_option("worker", "missing: datacenter and worker go together"))
            }
            (None, None, Some(_)) => Err(Error::invalid_option(
                "datacenter",
                "missing: datacenter and worker go together",
            )),
            (None, None, None) if self.layout.max_node() == 0 => Ok(0),
            (None, None, None) => Err(Error::invalid_option(
                "node",
                &format!(
                    "missing: give a node from 0 to {} that no other generator of this layout \
                     uses at the same time",
                    self.layout.max_node()
                ),
            )),
        }
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

    fn resolve_start_mask(&self, sequence_mask: u64) -> Result<u64, Error> {
        let most = sequence_mask.count_ones().into();
        if self.sequence_start > most {
            let bits = &self.sequence_start;
            return Err(Error::field_out_of_range("sequence_start", bits, 0, most));
        }
        Ok((1 << self.sequence_start) - 1)
    }

    fn resolve_window(&self) -> Result<Option<Window>, Error> {
        match (self.window_start, self.window_fence) {
            (None, None) => Ok(None),
            (Some(start), Some(fence)) => Window::new(start, fence).map(Some),
            _ => Err(Error::invalid_option("window", "give both window_start and window_fence")),
        }
    }

    fn check_policy(&self, window: Option<Window>) -> Result<(), Error> {
        if self.policy.overflow == Overflow::Borrow && window.is_none() {
            return Err(Error::invalid_option(
                "overflow",
                "borrow requires a leased window, because after a restart a fixed node would \
                 repeat the IDs that it had borrowed; use wait or error, or lease the node",
            ));
        }
        if self.policy.rollback == Rollback::ClockSequence {
            let bits = self.layout.spans().2.width;
            if bits == 0 || bits > 8 {
                return Err(Error::invalid_option(
                    "rollback",
                    &format!(
                        "clock-sequence needs a layout with 1 to 8 clock-sequence bits (c), not {bits}"
                    ),
                ));
            }
            if window.is_some() {
                return Err(Error::invalid_option(
                    "rollback",
                    "clock-sequence needs a fixed node; on a lease use continue, wait or error",
                ));
            }
        }
        window.map_or(Ok(()), |window| window.check(&self.layout))
    }

    #[cfg_attr(feature = "std", expect(clippy::unnecessary_wraps, reason = "it can fail without"))]
    fn resolve_clock(&mut self) -> Result<ClockSource, Error> {
        if let Some(clock) = self.clock.take() {
            return Ok(clock);
        }
        #[cfg(feature = "std")]
        return Ok(ClockSource::System);
        #[cfg(not(feature = "std"))]
        Err(Error::invalid_option(
            "clock",
            "missing: give a clock, because the feature std is \
             off and there is no system clock without it",
        ))
    }
}

#[cfg(not(loom))]
fn shared_cell(
    layout: &Layout,
    nodes: &[u64],
    make: impl FnOnce() -> Cell,
) -> Result<Arc<Cell>, Error> {
    super::registry::REGISTRY.cell(layout.unsplit(), nodes, make)
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
    let ticks = duration.as_nanos().div_ceil(u128::from(layout.unit_ms()) * 1_000_000);
    u64::try_from(ticks).unwrap_or(u64::MAX).min(layout.max_tick())
}

/// Differs from process to process; nothing about it is secret.
#[cfg(feature = "std")]
fn random_seed() -> u64 {
    use std::hash::{BuildHasher, RandomState};
    RandomState::new().hash_one(())
}

/// Without an operating system, what differs is where things are in memory.
#[cfg(not(feature = "std"))]
fn random_seed() -> u64 {
    let here = 0u8;
    core::ptr::from_ref(&here).addr() as u64
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
