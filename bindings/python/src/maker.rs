#![expect(clippy::inline_always, reason = "a call more is a tenth of an ID's cost")]

use std::sync::Arc;

use flakeid_core::{Error, ErrorKind, Generator as Fixed, Id, Layout, Stats};
use pyo3::prelude::*;

use crate::leased::Leased;

/// What makes the IDs of a `Generator`. The usual kind comes first in every match.
pub(crate) enum Maker {
    Fixed(Arc<Fixed>),
    Leased(Leased),
}

impl Maker {
    #[inline(always)]
    pub(crate) fn try_next_id(&self) -> Result<Id, Error> {
        match self {
            Self::Fixed(fixed) => fixed.try_next_id(),
            Self::Leased(leased) => leased.try_next_id(),
        }
    }

    pub(crate) fn next_id(&self, py: Python<'_>) -> Result<Id, Error> {
        match self {
            Self::Fixed(fixed) => py.detach(|| fixed.next_id()),
            Self::Leased(leased) => py.detach(|| leased.next_id()),
        }
    }

    #[inline]
    pub(crate) fn try_fill(&self, ids: &mut [Id]) -> Result<usize, Error> {
        match self {
            Self::Fixed(fixed) => fixed.try_fill(ids),
            Self::Leased(leased) => leased.try_fill(ids),
        }
    }

    /// As `try_fill`, without the GIL.
    pub(crate) fn try_fill_detached(&self, py: Python<'_>, ids: &mut [Id]) -> Result<usize, Error> {
        match self {
            Self::Fixed(fixed) => py.detach(|| fixed.try_fill(ids)),
            Self::Leased(leased) => py.detach(|| leased.try_fill(ids)),
        }
    }

    pub(crate) fn fill(&self, py: Python<'_>, ids: &mut [Id]) -> Result<usize, Error> {
        match self {
            Self::Fixed(fixed) => py.detach(|| fixed.fill(ids)),
            Self::Leased(leased) => py.detach(|| leased.fill(ids)),
        }
    }

    /// Whether a waiting call may get past what stopped one that does not wait.
    pub(crate) fn passes(&self, error: &Error) -> bool {
        match self {
            Self::Fixed(_) => {
                matches!(error.kind(), ErrorKind::SequenceExhausted | ErrorKind::ClockRollback)
            }
            // The store may answer meanwhile.
            Self::Leased(_) => error.kind().is_retryable(),
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
                Err(Error::invalid_option("retire", "a leased generator ends with close()"))
            }
        }
    }

    pub(crate) fn close(&self, py: Python<'_>) -> Result<(), Error> {
        match self {
            Self::Fixed(fixed) => match fixed.retire() {
                Err(error) if !matches!(error.kind(), ErrorKind::Closed | ErrorKind::Forked) => {
                    Err(error)
                }
                _ => Ok(()),
            },
            Self::Leased(leased) => {
                leased.close(py);
                Ok(())
            }
        }
    }

    pub(crate) fn stats(&self) -> Stats {
        match self {
            Self::Fixed(fixed) => fixed.stats(),
            Self::Leased(leased) => leased.stats(),
        }
    }

    pub(crate) fn layout(&self) -> &Layout {
        match self {
            Self::Fixed(fixed) => fixed.layout(),
            Self::Leased(leased) => leased.layout(),
        }
    }

    pub(crate) fn node(&self) -> u64 {
        match self {
            Self::Fixed(fixed) => fixed.node(),
            Self::Leased(leased) => leased.node(),
        }
    }

    pub(crate) fn nodes(&self) -> Vec<u64> {
        match self {
            Self::Fixed(fixed) => fixed.nodes().to_vec(),
            Self::Leased(leased) => leased.nodes(),
        }
    }
}
