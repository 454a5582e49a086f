//! The generators of the library as WebAssembly, for the Go module without cgo: on fixed nodes, or
//! on nodes leased by requests of the host.

use std::borrow::Cow;
use std::cell::RefCell;
use std::time::Duration;

use flakeid::fetch::FetchLease;
use flakeid_core::internal::Exposed;
use flakeid_core::{Error, Generator as FixedGenerator, Id, Layout, Stats};

/// A generator on a fixed node, or on a node that is leased from a broker by requests of the host.
pub struct Generator(Kind);

enum Kind {
    Fixed(Box<FixedGenerator>),
    Leased(Box<RefCell<FetchLease>>),
}

impl From<FixedGenerator> for Generator {
    fn from(fixed: FixedGenerator) -> Self {
        Self(Kind::Fixed(Box::new(fixed)))
    }
}

impl From<FetchLease> for Generator {
    fn from(lease: FetchLease) -> Self {
        Self(Kind::Leased(Box::new(RefCell::new(lease))))
    }
}

impl Generator {
    fn run<T>(&self, call: impl FnOnce(&FixedGenerator) -> Result<T, Error>) -> Result<T, Error> {
        match &self.0 {
            Kind::Fixed(fixed) => call(fixed),
            Kind::Leased(lease) => lease.borrow().run(call),
        }
    }

    pub(crate) fn lease(&self) -> Result<&RefCell<FetchLease>, Error> {
        match &self.0 {
            Kind::Fixed(_) => {
                let reason = "this generator has a fixed node; lease a node with \
                              flakeid_generator_open()";
                Err(Error::invalid_option("lease", reason))
            }
            Kind::Leased(lease) => Ok(lease),
        }
    }

    pub(crate) fn next_id(&self) -> Result<Id, Error> {
        self.run(FixedGenerator::next_id)
    }

    pub(crate) fn next_id_within(&self, max_wait: Duration) -> Result<Id, Error> {
        self.run(|generator| generator.next_id_within(max_wait))
    }

    pub(crate) fn try_next_id(&self) -> Result<Id, Error> {
        self.run(FixedGenerator::try_next_id)
    }

    pub(crate) fn fill(&self, ids: &mut [Id]) -> Result<usize, Error> {
        self.run(|generator| generator.fill(ids))
    }

    pub(crate) fn try_fill(&self, ids: &mut [Id]) -> Result<usize, Error> {
        self.run(|generator| generator.try_fill(ids))
    }

    pub(crate) fn extend(&self, fence: u64) -> Result<(), Error> {
        match &self.0 {
            Kind::Fixed(fixed) => fixed.extend(fence),
            Kind::Leased(_) => Err(Error::invalid_option(
                "extend",
                "a leased generator renews its window automatically; to issue IDs for longer while \
                 the store is unavailable, open it with a longer window",
            )),
        }
    }

    pub(crate) fn retire(&self) -> Result<Option<u64>, Error> {
        match &self.0 {
            Kind::Fixed(fixed) => fixed.retire(),
            Kind::Leased(_) => Err(Error::invalid_option(
                "retire",
                "a leased generator cannot be retired; close it instead, which also releases its \
                 node",
            )),
        }
    }

    pub(crate) const fn is_leased(&self) -> bool {
        matches!(self.0, Kind::Leased(_))
    }

    /// Closes a lease, so that its next request releases the node. Does nothing on a fixed node.
    pub(crate) fn close(&self) {
        if let Kind::Leased(lease) = &self.0 {
            lease.borrow_mut().close();
        }
    }

    pub(crate) fn max_wait(&self) -> Duration {
        match &self.0 {
            Kind::Fixed(fixed) => fixed.max_wait(),
            Kind::Leased(lease) => lease.borrow().max_wait(),
        }
    }

    pub(crate) fn stats(&self) -> Stats {
        match &self.0 {
            Kind::Fixed(fixed) => fixed.stats(),
            Kind::Leased(lease) => lease.borrow().stats(),
        }
    }

    pub(crate) fn layout(&self) -> Layout {
        match &self.0 {
            Kind::Fixed(fixed) => *fixed.layout(),
            Kind::Leased(lease) => *lease.borrow().layout(),
        }
    }

    pub(crate) fn node(&self) -> Option<u64> {
        match &self.0 {
            Kind::Fixed(fixed) => fixed.node(),
            Kind::Leased(lease) => Some(lease.borrow().node()),
        }
    }

    pub(crate) fn nodes(&self) -> Cow<'_, [u64]> {
        match &self.0 {
            Kind::Fixed(fixed) => fixed.nodes().into(),
            Kind::Leased(lease) => vec![lease.borrow().node()].into(),
        }
    }

    pub(crate) fn exposed(&self) -> Result<Exposed, Error> {
        self.run(FixedGenerator::exposed)
    }
}
