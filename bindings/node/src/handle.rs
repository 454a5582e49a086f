use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use flakeid_core::{Error, Generator, Id, Layout, ManualClock, NamedClock, Stats};
use flakeid_lease::LeasedGenerator;

use crate::desk::Maker;
use crate::function::Filler;
use crate::lease::{Lease, Tenant};
use crate::leases::Leases;
use crate::options::OptionTexts;

/// No call on the event loop waits longer, without progress, than this or a tick.
const LONGEST_ON_LOOP: Duration = Duration::from_millis(10);

/// A generator, and what the JavaScript around it needs. It stays in its environment's thread.
pub(crate) enum Handle {
    Fixed(Arc<Fixed>),
    Leased(Arc<Leased>),
}

/// A generator of a fixed node.
pub(crate) struct Fixed {
    pub(crate) generator: Arc<Generator>,
    /// The longest wait on the event loop. None for manual clocks, where waiting takes no time.
    pub(crate) on_loop: Option<Duration>,
    /// The same for a ring, which may have to wait for several ticks.
    pub(crate) on_ring: Duration,
}

/// A generator of a leased node.
pub(crate) struct Leased {
    pub(crate) lease: Lease,
    /// The longest wait on the event loop.
    pub(crate) on_loop: Duration,
    /// The same for a ring, which may have to wait for several ticks.
    pub(crate) on_ring: Duration,
}

impl Handle {
    pub(crate) fn open(options: &OptionTexts, clock: Option<&ManualClock>) -> Result<Self, Error> {
        let layout = options.layout()?;
        let mut builder = options.builder(layout)?;
        let max_wait = options.max_wait()?;
        let mut on_loop = Some(longest_on_loop(&layout, max_wait));
        if let Some(clock) = clock {
            builder = builder.clock(clock.clone());
            on_loop = None;
        } else if let Some(name) = &options.clock {
            builder = builder.clock(name.parse::<NamedClock>()?);
        }
        let generator = Arc::new(builder.build()?);
        let on_ring = longest_on_ring(max_wait);
        Ok(Self::Fixed(Arc::new(Fixed { generator, on_loop, on_ring })))
    }

    pub(crate) fn leased(
        generator: LeasedGenerator,
        max_wait: Option<Duration>,
        leases: &Rc<Leases>,
    ) -> Self {
        let on_loop = longest_on_loop(generator.layout(), max_wait);
        let lease = Lease::new(generator, Rc::clone(leases));
        #[expect(
            clippy::arc_with_non_send_sync,
            reason = "functions are bound to both kinds alike"
        )]
        let made = Arc::new(Leased { lease, on_loop, on_ring: longest_on_ring(max_wait) });
        leases.add(&made);
        Self::Leased(made)
    }

    pub(crate) fn next_ids(&self, n: usize) -> Result<Vec<Id>, Error> {
        match self {
            Self::Fixed(fixed) => match fixed.on_loop {
                Some(longest) => fixed.generator.next_ids_within(n, longest),
                None => fixed.generator.next_ids(n),
            },
            Self::Leased(leased) => {
                leased.lease.ask(|generator| generator.next_ids_within(n, leased.on_loop))
            }
        }
    }

    /// The same generator for a thread of the pool.
    pub(crate) fn off_loop(&self) -> Result<OffLoop, Error> {
        match self {
            Self::Fixed(fixed) => Ok(OffLoop::Fixed(Arc::clone(fixed))),
            Self::Leased(leased) => leased.lease.tenant().map(OffLoop::Leased),
        }
    }

    pub(crate) fn extend(&self, fence: u64) -> Result<(), Error> {
        match self {
            Self::Fixed(fixed) => fixed.generator.extend(fence),
            Self::Leased(_) => Err(Error::invalid_option("extend", "a lease is renewed by itself")),
        }
    }

    pub(crate) fn retire(&self) -> Result<Option<u64>, Error> {
        match self {
            Self::Fixed(fixed) => fixed.generator.retire(),
            Self::Leased(_) => {
                Err(Error::invalid_option("retire", "a leased node is given back by close"))
            }
        }
    }

    pub(crate) fn stats(&self) -> Stats {
        match self {
            Self::Fixed(fixed) => fixed.generator.stats(),
            Self::Leased(leased) => leased.lease.stats(),
        }
    }

    pub(crate) fn layout(&self) -> &Layout {
        match self {
            Self::Fixed(fixed) => fixed.generator.layout(),
            Self::Leased(leased) => leased.lease.layout(),
        }
    }

    pub(crate) fn nodes(&self) -> Vec<u64> {
        match self {
            Self::Fixed(fixed) => fixed.generator.nodes().to_vec(),
            Self::Leased(leased) => leased.lease.nodes(),
        }
    }

    /// The lease, if there is one.
    pub(crate) fn lease(&self) -> Option<&Lease> {
        match self {
            Self::Fixed(_) => None,
            Self::Leased(leased) => Some(&leased.lease),
        }
    }
}

impl Maker for Fixed {
    #[inline]
    fn next_id(&self) -> Result<Id, Error> {
        match self.on_loop {
            Some(longest) => self.generator.next_id_within(longest),
            None => self.generator.next_id(),
        }
    }

    #[inline]
    fn try_next_id(&self) -> Result<Id, Error> {
        self.generator.try_next_id()
    }
}

impl Filler for Fixed {
    fn fill(&self, ids: &mut [Id]) -> Result<usize, Error> {
        match self.on_loop {
            Some(longest) => self.generator.fill_within(ids, longest),
            None => self.generator.fill(ids),
        }
    }

    fn try_fill(&self, ids: &mut [Id]) -> Result<usize, Error> {
        self.generator.try_fill(ids)
    }
}

impl Maker for Leased {
    #[inline]
    fn next_id(&self) -> Result<Id, Error> {
        self.lease.ask(|generator| generator.next_id_within(self.on_loop))
    }

    #[inline]
    fn try_next_id(&self) -> Result<Id, Error> {
        self.lease.ask(|generator| generator.try_next_id())
    }
}

impl Filler for Leased {
    fn fill(&self, ids: &mut [Id]) -> Result<usize, Error> {
        self.lease.ask(|generator| generator.fill_within(ids, self.on_loop))
    }

    fn try_fill(&self, ids: &mut [Id]) -> Result<usize, Error> {
        self.lease.ask(|generator| generator.try_fill(ids))
    }
}

fn longest_on_loop(layout: &Layout, max_wait: Option<Duration>) -> Duration {
    longest_on_ring(max_wait).min(Duration::from_millis(layout.unit_ms()))
}

fn longest_on_ring(max_wait: Option<Duration>) -> Duration {
    max_wait.map_or(LONGEST_ON_LOOP, |max_wait| max_wait.min(LONGEST_ON_LOOP))
}

/// A generator in a thread of the pool, where it may wait for as long as its options say. Used up
/// there too: the last to use a lease gives it back, which takes time.
pub(crate) enum OffLoop {
    Fixed(Arc<Fixed>),
    Leased(Tenant),
}

impl OffLoop {
    pub(crate) fn next_id(self) -> Result<Id, Error> {
        match self {
            Self::Fixed(fixed) => fixed.generator.next_id(),
            Self::Leased(tenant) => tenant.generator.next_id(),
        }
    }

    pub(crate) fn next_ids(self, n: usize) -> Result<Vec<Id>, Error> {
        match self {
            Self::Fixed(fixed) => fixed.generator.next_ids(n),
            Self::Leased(tenant) => tenant.generator.next_ids(n),
        }
    }
}
