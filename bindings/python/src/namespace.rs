//! The function that creates a namespace.

use flakeid::NamespaceBuilder;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::argument::string;
use crate::error::raise;
use crate::layout::{Chosen, Layout};
use crate::settings;

/// Creates the namespace name in the store at url, with the tables or keys that the store needs for
/// it, unless the namespace exists. Returns the time until the store can grant nodes, in seconds.
///
/// A server cannot distinguish a namespace that never existed from a namespace that it has lost.
/// Therefore, the store grants nothing until all leases that it may have lost have ended: 15 s with
/// the default bounds, and the first IDs are then up to 18 s ahead of the clock. Each assumed bound
/// is the larger of the default bound and the given bound. If the lost namespace may have had larger
/// bounds, create it with the command flakeid leases init --lost. An embedded store
/// (sqlite) detects its losses, so its nodes can usually be leased at once.
///
/// If the namespace already exists with the same layout, the same blocks and the given options,
/// nothing changes, so every process can call this function when it starts. On a database server,
/// the function requires a user who may create tables.
///
/// Args:
///     url: The store: sqlite:///path, postgresql://…, mysql://…, redis://… or etcd://….
///     name: The name of the namespace: 1 to 64 characters of A-Z a-z 0-9 . _ -.
// [options: namespace arguments]
///     layout: The layout of the IDs: a preset's name or a descriptor; or a Layout (default:
///         "twitter").
///     epoch: The instant of tick 0, in Unix milliseconds (default: the layout's epoch).
///     max_ahead: The longest time by which a window may start ahead of the clock: at most a day
///         (default: 20 s or four ticks, whichever is longer).
///     max_window: The longest window of a lease, for which processes can issue IDs while the store
///         is unavailable: from two ticks to a day (default: 10 s or four ticks, whichever is
///         longer).
///     max_skew: The largest allowed difference between a host's clock and the store's clock: 1 ms
///         to a day (default: 1 s).
///     quiet: The time for which the store grants no nodes after a restart, a failover or a
///         restore: at most a week (default: the longest window, four times the allowed difference
///         between clocks and a tick, but at least 15 s).
///     block_bits: The exponent k: brokers lease blocks of 2^k nodes, and processes lease nodes
///         from the brokers (default: 0). With 0, processes lease single nodes from the store.
///     history: Whether the store records which process held which node (default: True).
///     fresh: Whether the store has never had a namespace with this name, so that it grants nodes
///         at once (default: False). If this is untrue, IDs may be issued twice. Never set this
///         option when a program starts: it is untrue after the store has lost its data.
// [/options]
///
/// Raises:
///     InvalidOptionError: An argument is wrong, or the namespace exists with another value of a
///         given option.
///     StoreRejectedError: The namespace exists with another layout or other blocks, the URL
///         belongs to a broker, or the user may not create tables.
///     StoreUnavailableError: The store does not respond.
///     InvalidLayoutError, FieldOutOfRangeError: An argument is wrong.
#[pyfunction]
#[pyo3(
    signature = (url, name, *, layout = None, epoch = None, **options),
    // [options: namespace signature]
    text_signature = "(url, name, *, layout='twitter', epoch=None, max_ahead=None, \
                      max_window=None, max_skew=None, quiet=None, block_bits=0, history=True, \
                      fresh=False)"
    // [/options]
)]
pub(crate) fn create_namespace(
    py: Python<'_>,
    url: &Bound<'_, PyAny>,
    name: &Bound<'_, PyAny>,
    layout: Option<Chosen>,
    epoch: Option<&Bound<'_, PyAny>>,
    options: Option<&Bound<'_, PyDict>>,
) -> PyResult<f64> {
    let layout = Layout::from_epoch(layout, epoch)?;
    let (url, name) = (string("url", url)?, string("name", name)?);
    let builder = NamespaceBuilder::new(&url, &name, layout).map_err(raise)?;
    let builder = settings::apply(builder, "create_namespace", options)?;
    let created = py.detach(|| builder.create()).map_err(raise)?;
    Ok(created.wait.as_secs_f64())
}
