#![expect(clippy::inline_always, reason = "a call more is a tenth of an ID's cost")]

use std::borrow::Cow;
use std::sync::Arc;

use flakeid_core::{Error, Generator, Id, Layout, Stats};

use crate::leased::Leased;

/// What is behind a handle. The usual kind comes first in every match.
pub(crate) enum Maker {
    Fixed(Arc<Generator>),
    Leased(Leased),
}

impl Maker {
    #[inline(always)]
    pub(crate) fn next_id(&self) -> Result<Id, Error> {
        match self {
            Self::Fixed(fixed) => fixed.next_id(),
            Self::Leased(leased) => leased.generator().next_id(),
        }
    }

    #[inline(always)]
    pub(crate) fn try_next_id(&self) -> Result<Id, Error> {
        match self {
            Self::Fixed(fixed) => fixed.try_next_id(),
            Self::Leased(leased) => leased.generator().try_next_id(),
        }
    }

    #[inline]
    pub(crate) fn fill(&self, ids: &mut [Id]) -> Result<usize, Error> {
        match self {
            Self::Fixed(fixed) => fixed.fill(ids),
            Self::Leased(leased) => leased.generator().fill(ids),
        }
    }

    #[inline]
    pub(crate) fn try_fill(&self, ids: &mut [Id]) -> Result<usize, Error> {
        match self {
            Self::Fixed(fixed) => fixed.try_fill(ids),
            Self::Leased(leased) => leased.generator().try_fill(ids),
        }
    }

    pub(crate) fn extend(&self, fence: u64) -> Result<(), Error> {
        match self {
            Self::Fixed(fixed) => fixed.extend(fence),
            Self::Leased(_) => Err(Error::invalid_option(
                "extend",
                "the window of a leased generator renews itself",
            )),
        }
    }

    pub(crate) fn retire(&self) -> Result<Option<u64>, Error> {
        match self {
            Self::Fixed(fixed) => fixed.retire(),
            Self::Leased(_) => {
                let reason = "a leased generator ends with flakeid_generator_free()";
                Err(Error::invalid_option("retire", reason))
            }
        }
    }

    pub(crate) fn stats(&self) -> Stats {
        match self {
            Self::Fixed(fixed) => fixed.stats(),
            Self::Leased(leased) => leased.generator().stats(),
        }
    }

    pub(crate) fn layout(&self) -> &Layout {
        match self {
            Self::Fixed(fixed) => fixed.layout(),
            Self::Leased(leased) => leased.generator().layout(),
        }
    }

    pub(crate) fn node(&self) -> u64 {
        match self {
            Self::Fixed(fixed) => fixed.node(),
            Self::Leased(leased) => leased.generator().node(),
        }
    }

    pub(crate) fn nodes(&self) -> Cow<'_, [u64]> {
        match self {
            Self::Fixed(fixed) => fixed.nodes().into(),
            Self::Leased(leased) => leased.generator().nodes().into(),
        }
    }
}
