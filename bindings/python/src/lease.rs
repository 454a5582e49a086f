//! Opening leased generators.

use std::sync::{Arc, Mutex, PoisonError};

use flakeid_core::{Layout as CoreLayout, NamedClock};
use flakeid_lease::protocol::Identity;
use flakeid_lease::{AnyGenerator, LeaseBuilder, LeasedGenerator};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyTuple};

use crate::callback::Callback;
use crate::clock;
use crate::duration::duration;
use crate::error::raise;
use crate::event::observer;
use crate::exit;
use crate::generator::Generator;
use crate::integer::{field, small, wrong_type};
use crate::layout::{Chosen, Layout};
use crate::policy;
use crate::string::string;

/// Lease a node from a store and make its IDs: unique among all processes that lease from this
/// namespace, whatever their clocks, forks and restarts do.
///
/// Returns a Generator. Its close(), the end of its with block or the end of the interpreter gives
/// the node back. A thread renews the lease. Generators of one process with the same options share
/// one. A forked child leases a node of its own at its first ID. Durations are seconds (int or
/// float) or timedeltas. Takes at most max_wait plus 2 s, without the GIL.
///
/// url: the store: sqlite:///path, postgresql://…, mysql://…, redis://… or etcd://…. namespace: 1
/// to 64 of A-Z a-z 0-9 . _ -; each has a layout and nodes of its own. name: prefer the node that
/// this name had last; 1 to 128 bytes. node, or datacenter and worker: lease exactly this node, and
/// take it over even from a live holder, which is safe. nodes: (from, to), the range of nodes to
/// choose from, both inclusive. layout: a Layout, a preset's name or a descriptor. epoch: Unix
/// milliseconds, instead of the layout's. ttl: how long other processes cannot have the node after
/// its last renewal (default: 60 s). window: how long IDs go on while the store is away, at least
/// two ticks (default: 10 s). max_wait: how long a call waits without issuing an ID (default: 1 s
/// or two ticks, whichever is longer). overflow, rollback, sequence_mask, sequence_start: as in
/// Generator. reuse: False leases only nodes that were never leased before. node_count: how many
/// nodes to lease, a power of two, for as many times the IDs per second (default: 1). clock:
/// 'system' or a faster one, as in Generator. on_event: called with a LeaseEvent for everything
/// that happens to the lease, on the lease's thread; a lease with on_event is not shared.
///
/// StoreUnavailableError, StoreRejectedError (a wrong password, no such namespace, another layout),
/// NoFreeNodeError, ClockSkewError, FenceInFutureError, InvalidLayoutError, FieldOutOfRangeError,
/// InvalidOptionError.
#[pyfunction]
#[pyo3(
    signature = (
        url, *, namespace = None, name = None, node = None, datacenter = None, worker = None,
        nodes = None, layout = None, epoch = None, ttl = None, window = None, max_wait = None,
        overflow = None, rollback = None, sequence_mask = None, sequence_start = None,
        reuse = None, node_count = None, clock = None, on_event = None,
    ),
    text_signature = "(url, *, namespace='default', name=None, node=None, datacenter=None, \
                      worker=None, nodes=None, layout='twitter', epoch=None, ttl=None, \
                      window=None, max_wait=None, overflow=None, rollback=None, \
                      sequence_mask=None, sequence_start=None, reuse=True, node_count=1, \
                      clock='system', on_event=None)"
)]
#[expect(clippy::too_many_arguments, reason = "they are Python's keywords")]
pub(crate) fn lease(
    py: Python<'_>,
    url: &Bound<'_, PyAny>,
    namespace: Option<&Bound<'_, PyAny>>,
    name: Option<&Bound<'_, PyAny>>,
    node: Option<&Bound<'_, PyAny>>,
    datacenter: Option<&Bound<'_, PyAny>>,
    worker: Option<&Bound<'_, PyAny>>,
    nodes: Option<&Bound<'_, PyAny>>,
    layout: Option<Chosen>,
    epoch: Option<&Bound<'_, PyAny>>,
    ttl: Option<&Bound<'_, PyAny>>,
    window: Option<&Bound<'_, PyAny>>,
    max_wait: Option<&Bound<'_, PyAny>>,
    overflow: Option<&Bound<'_, PyAny>>,
    rollback: Option<&Bound<'_, PyAny>>,
    sequence_mask: Option<&Bound<'_, PyAny>>,
    sequence_start: Option<&Bound<'_, PyAny>>,
    reuse: Option<&Bound<'_, PyAny>>,
    node_count: Option<&Bound<'_, PyAny>>,
    clock: Option<&Bound<'_, PyAny>>,
    on_event: Option<&Bound<'_, PyAny>>,
) -> PyResult<Generator> {
    let layout = Layout::from_epoch(layout, epoch)?;
    let builder = LeasedGenerator::builder(&string("url", url)?, layout).map_err(raise)?;
    let mut builder = builder.identity(identity(&layout, name, node, datacenter, worker)?);
    if let Some(namespace) = namespace {
        builder = builder.namespace(&string("namespace", namespace)?);
    }
    if let Some(nodes) = nodes {
        let (from, to) = range_of(nodes, layout.max_node())?;
        builder = builder.nodes(from, to);
    }
    if let Some(ttl) = ttl {
        builder = builder.ttl(duration("ttl", ttl)?);
    }
    if let Some(window) = window {
        builder = builder.window(duration("window", window)?);
    }
    if let Some(max_wait) = max_wait {
        builder = builder.max_wait(duration("max_wait", max_wait)?);
    }
    if let Some(overflow) = overflow {
        builder = builder.overflow(policy::overflow(overflow)?);
    }
    if let Some(rollback) = rollback {
        builder = builder.rollback(policy::rollback(rollback)?);
    }
    if let Some(mask) = sequence_mask {
        builder = builder.sequence_mask(policy::sequence_mask(&layout, mask)?);
    }
    if let Some(bits) = sequence_start {
        builder = builder.sequence_start(policy::sequence_start(&layout, bits)?);
    }
    if let Some(reuse) = reuse {
        let flag = reuse.cast::<PyBool>().map_err(|_| wrong_type("reuse", "a bool", reuse))?;
        builder = builder.reuse(flag.is_true());
    }
    if let Some(count) = node_count {
        let most = layout.max_node().saturating_add(1);
        builder = builder.node_count(small("node_count", count, 1, most)?);
    }
    if let Some(clock) = clock {
        builder = builder.clock(clock::named(clock)?);
    }
    if let Some(on_event) = on_event {
        builder = builder.observer(observer(Callback::new("on_event", on_event)?));
    }
    open(py, builder).map(generator_of)
}

/// The leases of `auto`, which last as long as the process.
static KEPT: Mutex<Vec<(CoreLayout, NamedClock, Arc<LeasedGenerator>)>> = Mutex::new(Vec::new());

/// A Generator that needs no configuration. All generators that this returns in one process for one
/// layout and clock share one lease, which lasts until the interpreter ends.
///
/// The environment variables FLAKEID_STORE and FLAKEID_NAMESPACE name the store and the namespace.
/// Without FLAKEID_STORE it is the embedded store, a file for this user on this host (for the whole
/// host if /var/lib/flakeid can be written). In a container such a file neither lasts nor is
/// shared, so there this is an error, which names three ways to proceed. In everything else this is
/// like lease.
#[pyfunction]
#[pyo3(
    signature = (layout = None, *, clock = None),
    text_signature = "(layout='twitter', *, clock='system')"
)]
pub(crate) fn auto(
    py: Python<'_>,
    layout: Option<Chosen>,
    clock: Option<&Bound<'_, PyAny>>,
) -> PyResult<Generator> {
    let Layout(layout) = Layout::from_chosen(layout);
    let clock = clock.map(clock::named).transpose()?.unwrap_or_default();
    let open = || open(py, LeaseBuilder::auto(layout).map_err(raise)?.clock(clock));
    let generator = open().map(generator_of)?;
    if !is_kept(&layout, clock) {
        let kept = open()?;
        KEPT.lock().unwrap_or_else(PoisonError::into_inner).push((layout, clock, kept));
    }
    Ok(generator)
}

fn generator_of(leased: Arc<LeasedGenerator>) -> Generator {
    Generator(AnyGenerator::Leased(leased))
}

fn is_kept(layout: &CoreLayout, clock: NamedClock) -> bool {
    let kept = KEPT.lock().unwrap_or_else(PoisonError::into_inner);
    kept.iter().any(|(of, by, _)| of == layout && *by == clock)
}

fn open(py: Python<'_>, builder: LeaseBuilder) -> PyResult<Arc<LeasedGenerator>> {
    let leased = Arc::new(py.detach(|| builder.open()).map_err(raise)?);
    exit::note(&leased);
    Ok(leased)
}

fn identity(
    layout: &CoreLayout,
    name: Option<&Bound<'_, PyAny>>,
    node: Option<&Bound<'_, PyAny>>,
    datacenter: Option<&Bound<'_, PyAny>>,
    worker: Option<&Bound<'_, PyAny>>,
) -> PyResult<Identity> {
    let (most_datacenter, most_worker) = Layout::split_limits(layout);
    let node = node.map(|node| field("node", node, layout.max_node())).transpose()?;
    let datacenter =
        datacenter.map(|high| field("datacenter", high, most_datacenter)).transpose()?;
    let worker = worker.map(|low| field("worker", low, most_worker)).transpose()?;
    let name = name.map(|name| string("name", name)).transpose()?;
    Identity::resolve(node, datacenter, worker, name.as_deref(), layout).map_err(raise)
}

fn range_of(nodes: &Bound<'_, PyAny>, max_node: u64) -> PyResult<(u64, u64)> {
    let refused = || wrong_type("nodes", "a tuple (from, to) of two ints", nodes);
    let pair = nodes.cast::<PyTuple>().map_err(|_| refused())?;
    let (from, to): (Bound<'_, PyAny>, Bound<'_, PyAny>) = pair.extract().map_err(|_| refused())?;
    Ok((field("nodes from", &from, max_node)?, field("nodes to", &to, max_node)?))
}
