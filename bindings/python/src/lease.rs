//! The functions that open leased generators.

use std::sync::{Arc, Mutex, PoisonError};

use flakeid::{Generator as Held, LeaseBuilder};
use flakeid_core::{Layout as CoreLayout, NamedClock};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};

use crate::argument::{number, string, wrong_type};
use crate::callback::Callback;
use crate::error::raise;
use crate::event::observer;
use crate::generator::Generator;
use crate::layout::{Chosen, Layout};
use crate::waiting::interruptible;
use crate::{clock, exit, settings};

/// Leases a node from a store and returns a Generator. The Generator's IDs are unique among all
/// processes that lease nodes from the same namespace, regardless of clock changes, forks and
/// restarts.
///
/// The node is released when the Generator is closed, when the with block ends, or when the
/// interpreter exits. A background thread renews the lease. Generators in one process that have the
/// same options share a lease. A forked child leases its own node when it generates its first ID.
/// Durations are seconds (int or float) or timedeltas. The call takes at most max_wait plus 2 s, or
/// open_wait while a restarted store grants nothing, without the GIL.
///
/// Args:
///     url: The store: sqlite:///path, postgresql://…, mysql://…, redis://… or etcd://….
// [options: lease arguments]
///     namespace: The namespace from which to lease a node: 1 to 64 characters from the set A-Z a-z
///         0-9 . _ - (default: "default"). Each namespace has one layout and its own nodes.
///     name: The name of this process, 1 to 128 bytes long (default: none). If possible, the
///         process gets the last node that was leased under its name.
///     node: The node to lease (default: any node). Taking over the node is safe even while another
///         process holds it.
///     datacenter: The high part of the node, in layouts that split the node; must be set together
///         with worker.
///     worker: The low part of the node, in layouts that split the node; must be set together with
///         datacenter.
///     nodes: The range of nodes to choose from, both ends inclusive, as (from, to) (default: all
///         nodes of the layout).
///     node_count: The number of nodes to lease for this generator, which must be a power of two
///         (default: 1). In every tick, the generator can issue the IDs of all these nodes. Several
///         nodes cannot be combined with name, node or sequence_mask.
///     layout: The layout of the IDs: a preset's name or a descriptor; or a Layout (default:
///         "twitter"). A lease must use the layout of its namespace.
///     epoch: The instant of tick 0, in Unix milliseconds (default: the layout's epoch).
///     ttl: The time for which the node stays reserved after the last renewal: 1 ms to 30 days
///         (default: 60 s or 12 ticks, whichever is longer). Uniqueness does not depend on this
///         time.
///     window: The time for which the generator issues IDs while the store is unavailable: from two
///         ticks to the longest window that the namespace allows (default: 10 s or two ticks,
///         whichever is longer).
///     overflow: The behaviour when a tick has no IDs left: "wait", "error" or "borrow" (default:
///         "wait").
///     rollback: The behaviour when the clock goes backwards: "continue", "error" or "wait"
///         (default: "continue").
///     sequence_mask: The largest sequence number to use, which must have the form 2^k - 1
///         (default: the layout's largest sequence number).
///     sequence_start: The number of random bits in the first sequence number of each tick
///         (default: 0).
///     max_wait: The longest time that a call waits without issuing an ID (default: 1 s or two
///         ticks, whichever is longer). Opening a lease may take up to 2 s longer because of the
///         connection to the store, or as long as open_wait if the store grants nothing after a
///         restart.
///     open_wait: The longest time that opening a lease waits while the store grants nothing, for
///         example after a restart (default: 30 s). If the store would grant a node only later,
///         opening fails at once.
///     clock: The clock: "gated", "system" or "coarse" (default: "gated"). With "gated", the time
///         is exact, and on suitable processors the system clock is read only a few times per
///         millisecond. With "system", the system clock is read for every ID. With "coarse", the
///         time lags behind the system clock by a few milliseconds, and is never ahead of the
///         system clock.
///     reuse: Whether a node that was leased before may be leased again (default: True). Without
///         reuse, each start of the program uses up a node, until no node is left.
///     on_event: A function that is called with a LeaseEvent for each event of the lease, on the
///         lease's thread. The function should return quickly, because the lease is not renewed
///         during its call. A lease with an event function is not shared with other generators.
// [/options]
///
/// Raises:
///     StoreUnavailableError: The store does not respond.
///     StoreRejectedError: The password is wrong, the namespace does not exist or has another
///         layout, or the store's settings are unsafe.
///     NoFreeNodeError: All nodes of the range are taken.
///     FenceInFutureError: No node can be granted yet; retry_after is the time to wait.
///     ClockSkewError: This host's clock and the store's clock are too far apart.
///     InvalidLayoutError, FieldOutOfRangeError, InvalidOptionError: An argument is wrong.
#[pyfunction]
#[pyo3(
    signature = (url, *, nodes = None, layout = None, epoch = None, on_event = None, **options),
    // [options: lease signature]
    text_signature = "(url, *, namespace='default', name=None, node=None, datacenter=None, \
                      worker=None, nodes=None, node_count=1, layout='twitter', epoch=None, \
                      ttl=None, window=None, overflow=None, rollback=None, sequence_mask=None, \
                      sequence_start=None, max_wait=None, open_wait=None, clock='gated', \
                      reuse=True, on_event=None)"
    // [/options]
)]
pub(crate) fn lease(
    py: Python<'_>,
    url: &Bound<'_, PyAny>,
    nodes: Option<&Bound<'_, PyAny>>,
    layout: Option<Chosen>,
    epoch: Option<&Bound<'_, PyAny>>,
    on_event: Option<&Bound<'_, PyAny>>,
    options: Option<&Bound<'_, PyDict>>,
) -> PyResult<Generator> {
    let layout = Layout::from_epoch(layout, epoch)?;
    let builder = flakeid::lease(&string("url", url)?, layout).map_err(raise)?;
    let mut builder = settings::apply(builder, "lease", options)?;
    if let Some(nodes) = nodes {
        let (from, to) = range_of(nodes, layout.max_node())?;
        builder = builder.node_range(from..=to);
    }
    let on_event = on_event.map(|function| Callback::new("on_event", function)).transpose()?;
    if let Some(on_event) = &on_event {
        builder = builder.observer(observer(Arc::clone(on_event)));
    }
    Ok(Generator::leased(open(py, builder)?, on_event))
}

/// The leases that `auto` has opened, which last until the process ends.
static KEPT: Mutex<Vec<(CoreLayout, NamedClock, Arc<Held>)>> = Mutex::new(Vec::new());

/// Returns a Generator that needs no configuration. Within one process, all generators that this
/// function returns for the same layout and clock share one lease. The lease lasts until the
/// interpreter exits.
///
/// The environment variables FLAKEID_STORE and FLAKEID_NAMESPACE name the store and the namespace.
/// The default store is the one that root has named in /etc/flakeid/store, or else the embedded
/// store, a file for the current user on this host. In a container, the file would be neither
/// permanent nor shared, so the call raises an error that lists three alternatives. In all other
/// respects, the function works in the same way as lease().
///
/// Args:
///     layout: A Layout, a preset's name or a descriptor.
///     clock: 'gated', 'system' or 'coarse', as in Generator.
///
/// Raises:
///     The exceptions that lease raises.
#[pyfunction]
#[pyo3(
    signature = (layout = None, *, clock = None),
    text_signature = "(layout='twitter', *, clock='gated')"
)]
pub(crate) fn auto(
    py: Python<'_>,
    layout: Option<Chosen>,
    clock: Option<&Bound<'_, PyAny>>,
) -> PyResult<Generator> {
    let Layout(layout) = Layout::from_chosen(layout);
    let clock = clock.map(clock::named).transpose()?.unwrap_or_default();
    let open = || open(py, flakeid::auto(layout).map_err(raise)?.clock(clock));
    let generator = Generator::leased(open()?, None);
    if !is_kept(&layout, clock) {
        let kept = open()?;
        KEPT.lock().unwrap_or_else(PoisonError::into_inner).push((layout, clock, kept));
    }
    Ok(generator)
}

fn is_kept(layout: &CoreLayout, clock: NamedClock) -> bool {
    let kept = KEPT.lock().unwrap_or_else(PoisonError::into_inner);
    kept.iter().any(|(of, by, _)| of == layout && *by == clock)
}

fn open(py: Python<'_>, builder: LeaseBuilder) -> PyResult<Arc<Held>> {
    let leased = Arc::new(interruptible(py, || builder.open())?.map_err(raise)?);
    exit::note(&leased);
    Ok(leased)
}

fn range_of(nodes: &Bound<'_, PyAny>, max_node: u64) -> PyResult<(u64, u64)> {
    let refused = || wrong_type("nodes", "a tuple (from, to) of two ints", nodes);
    let pair = nodes.cast::<PyTuple>().map_err(|_| refused())?;
    let (from, to): (Bound<'_, PyAny>, Bound<'_, PyAny>) = pair.extract().map_err(|_| refused())?;
    Ok((number("nodes_from", &from, 0, max_node)?, number("nodes_to", &to, 0, max_node)?))
}
