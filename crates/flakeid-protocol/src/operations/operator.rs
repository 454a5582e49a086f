//! The operations for operators.

use super::{create_namespace, read_namespace, record_run, run};
use crate::store::{Continuity, Fault, Store};
use crate::{Bounds, Namespace, Owner, Refusal, Row, State, rules};

/// Creates a namespace that has never existed before. The store grants nodes immediately, unless the store has recorded
/// a loss of namespaces.
///
/// # Errors
/// [`Refusal::OtherLayout`] or [`Refusal::BlockBits`] if the namespace exists with another layout or block size; the
/// namespace is left unchanged. Another [`Fault`] if the store fails.
pub fn init(store: &mut dyn Store, wanted: &Namespace) -> Result<Namespace, Fault> {
    create(store, wanted, None).map(|(namespace, _)| namespace)
}

/// Creates a namespace, unless the namespace exists. Returns the namespace in the store, and whether this call has
/// created it. If several processes create a namespace at the same time, only one of them gets `true`, and all of them
/// get the same namespace.
///
/// If the store has lost a namespace with the same name, `lost` contains the bounds of the lost namespace. As after a
/// restore, all grants start above the ticks that any process may still hold. If the namespace was lost more than once,
/// `lost` must contain the largest value of each bound ([`Bounds::fieldwise_max`]).
///
/// # Errors
/// The same errors as [`init`].
pub fn create(
    store: &mut dyn Store,
    wanted: &Namespace,
    lost: Option<&Bounds>,
) -> Result<(Namespace, bool), Fault> {
    wanted.check_block_bits().map_err(|error| Fault::Rejected(error.to_string()))?;
    store.prepare()?;
    run(store, &wanted.name, |ledger| {
        if let Some(kept) = ledger.namespace()? {
            if !kept.layout.is_same_space(&wanted.layout) {
                let (namespace, client) = (kept.layout, wanted.layout);
                return Err(Refusal::OtherLayout { namespace, client }.into());
            }
            if kept.block_bits != wanted.block_bits {
                let (namespace, client) = (kept.block_bits, wanted.block_bits);
                return Err(Refusal::BlockBits { namespace, client }.into());
            }
            return Ok((kept, false));
        }
        let created = match lost {
            Some(lost) => &rules::recreated(wanted, lost, ledger.now()?),
            None => wanted,
        };
        Ok((create_namespace(ledger, created)?, true))
    })
}

/// Returns a namespace without its rows, and changes nothing.
///
/// # Errors
/// [`Refusal::MissingNamespace`] if the namespace does not exist; another [`Fault`] if the store fails.
pub fn describe(store: &mut dyn Store, namespace: &str) -> Result<Namespace, Fault> {
    run(store, namespace, read_namespace)
}

/// The current state of a namespace.
///
/// ```
/// use flakeid_core::Layout;
/// use flakeid_protocol::operations::{self, Listing};
/// use flakeid_protocol::{MemoryStore, Namespace};
///
/// let mut store = MemoryStore::new();
/// operations::init(&mut store, &Namespace::new("orders", Layout::TWITTER))?;
/// let Listing { namespace, rows, .. } = operations::list(&mut store, "orders")?;
/// assert_eq!((namespace.name.as_str(), rows.len()), ("orders", 0));
/// # Ok::<(), flakeid_protocol::store::Fault>(())
/// ```
#[derive(Clone, Debug)]
pub struct Listing {
    /// The namespace.
    pub namespace: Namespace,
    /// The rows of the namespace, ordered by node.
    pub rows: Vec<Row>,
    /// The time on the store's clock when the rows were read, in Unix milliseconds.
    pub now: i64,
    /// The result of comparing the store's current run with the recorded run. The result shows whether the store may
    /// have lost data.
    pub continuity: Continuity,
}

/// Returns a namespace with its rows, and changes nothing.
///
/// # Errors
/// [`Refusal::MissingNamespace`] if the namespace does not exist; another [`Fault`] if the store fails.
pub fn list(store: &mut dyn Store, namespace: &str) -> Result<Listing, Fault> {
    run(store, namespace, |ledger| {
        let kept = read_namespace(ledger)?;
        let (rows, now) = (ledger.rows()?, ledger.now()?);
        let continuity = ledger.continuity(kept.run())?;
        Ok(Listing { namespace: kept, rows, now, continuity })
    })
}

/// Records the store's run in a namespace, as the first request for a node would. After a restart of the store, the time
/// for which it grants nothing therefore begins now. Returns the milliseconds until the store grants nodes.
///
/// # Errors
/// [`Refusal::MissingNamespace`] if the namespace does not exist; [`Refusal::Foreign`] if the store's files come from
/// another machine; another [`Fault`] if the store fails.
pub fn touch(store: &mut dyn Store, namespace: &str) -> Result<u64, Fault> {
    run(store, namespace, |ledger| {
        let now = ledger.now()?;
        let (kept, _) = record_run(ledger, now)?;
        Ok(rules::wait_to_grant(&kept, now))
    })
}

/// An operator's change to one node.
///
/// ```
/// use flakeid_core::Layout;
/// use flakeid_protocol::operations::{self, Repair};
/// use flakeid_protocol::{MemoryStore, Namespace, State};
///
/// let mut store = MemoryStore::new();
/// operations::init(&mut store, &Namespace::new("orders", Layout::TWITTER))?;
/// let row = operations::repair(&mut store, "orders", 7, Repair::Quarantine)?;
/// assert_eq!(row.map(|row| row.state), Some(State::Quarantined));
/// # Ok::<(), flakeid_protocol::store::Fault>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Repair {
    /// Fences off the node's holder, and makes the node available when its row expires. A fixed node becomes available
    /// immediately. Ticks that the holder used are never used again.
    Release,
    /// Makes the node available immediately. If the store is later restored from a backup made before this change, the
    /// current holder and the next holder may issue IDs in the same ticks.
    ReleaseNow,
    /// Fences off the node's holder. The node is not granted again until [`Repair::Lift`] ends the quarantine.
    Quarantine,
    /// Ends the node's quarantine, so that the node can be granted again.
    Lift,
}

/// Applies an operator's change to a node. Returns the new row, or `None` if the change does not apply to the node's
/// state. For example, [`Repair::Lift`] applies only to a quarantined node.
///
/// # Errors
/// [`Refusal::MissingNamespace`] if the namespace does not exist; [`Refusal::Nodes`] if the node is outside the
/// namespace; another [`Fault`] if the store fails.
pub fn repair(
    store: &mut dyn Store,
    namespace: &str,
    node: u64,
    repair: Repair,
) -> Result<Option<Row>, Fault> {
    run(store, namespace, |ledger| {
        let kept = read_namespace(ledger)?;
        let max_node = kept.max_row();
        if node > max_node {
            return Err(Refusal::Nodes { from: node, to: node, max_node }.into());
        }
        let now = ledger.now()?;
        let row = ledger.row(node)?;
        let Some(changed) = apply_repair(&kept, row.as_ref(), node, repair, now) else {
            return Ok(None);
        };
        if row.as_ref() != Some(&changed) {
            ledger.put_row(row.as_ref(), &changed)?;
        }
        Ok(Some(changed))
    })
}

fn apply_repair(
    kept: &Namespace,
    row: Option<&Row>,
    node: u64,
    repair: Repair,
    now: i64,
) -> Option<Row> {
    let state = match repair {
        Repair::Quarantine => State::Quarantined,
        Repair::Release | Repair::ReleaseNow | Repair::Lift => State::Free,
    };
    let Some(row) = row else {
        return (repair == Repair::Quarantine).then(|| Row {
            node,
            fence: 0,
            start: 0,
            token: None,
            grant: 0,
            state,
            owner: Owner::default(),
            acquired: now,
            renewed: now,
            expires: 0,
            incarnation: kept.incarnation.clone(),
            fixed: false,
            history_until: 0,
        });
    };
    let applies = match repair {
        Repair::Quarantine => true,
        Repair::Release => row.state == State::Held,
        // A released node stays reserved until its row expires, so this repair also applies to such a node.
        Repair::ReleaseNow => {
            row.state == State::Held || row.state == State::Free && row.expires > now
        }
        Repair::Lift => row.state == State::Quarantined,
    };
    applies.then(|| match repair {
        Repair::ReleaseNow => Row { expires: 0, ..cut_off(row, state) },
        _ => cut_off(row, state),
    })
}

/// Returns a row without its holder. If a restore reverts this change, the holder can continue its lease until the
/// row's expiry time. Therefore, the row keeps its expiry time unless the node is fixed.
fn cut_off(row: &Row, state: State) -> Row {
    let expires = if row.fixed { 0 } else { row.expires };
    Row { token: None, state, expires, ..row.clone() }
}

/// Raises the floor to `tick`: new grants start at `tick` or later, and every holder of an earlier grant is fenced off
/// at its next renewal. Operators use this operation when ticks below `tick` may have been used.
///
/// # Errors
/// [`Refusal::MissingNamespace`] if the namespace does not exist; [`Refusal::Horizon`] if the tick is beyond the
/// layout's last tick; another [`Fault`] if the store fails.
pub fn fast_forward(store: &mut dyn Store, namespace: &str, tick: u64) -> Result<Namespace, Fault> {
    run(store, namespace, |ledger| {
        let mut kept = read_namespace(ledger)?;
        if tick > kept.layout.max_tick() {
            return Err(Refusal::Horizon.into());
        }
        kept.floor = kept.floor.max(tick);
        ledger.put_namespace(&kept)?;
        for row in ledger.rows()? {
            if row.state == State::Held && row.token.is_some() {
                ledger.put_row(Some(&row), &cut_off(&row, State::Free))?;
            }
        }
        Ok(kept)
    })
}

/// Adopts a store that was copied from another machine, and raises the floor above every possible fence. If the store's
/// run has changed, fences off the holders recorded in the copy, because these holders may still be using the original
/// store. Otherwise, tokens stay valid, and each holder can continue to use the ticks below its fence.
///
/// # Errors
/// [`Refusal::MissingNamespace`] if the namespace does not exist; another [`Fault`] if the store fails.
pub fn adopt(store: &mut dyn Store, namespace: &str) -> Result<Namespace, Fault> {
    run(store, namespace, |ledger| {
        let kept = read_namespace(ledger)?;
        let now = ledger.now()?;
        if ledger.continuity(kept.run())? == Continuity::Same {
            let adopted = rules::restored(&kept, kept.incarnation.clone(), now);
            ledger.put_namespace(&adopted)?;
            return Ok(adopted);
        }
        let adopted = rules::restored(&kept, ledger.incarnation()?, now);
        ledger.put_namespace(&adopted)?;
        for row in ledger.rows()? {
            if row.token.is_some() {
                let state = if row.state == State::Held { State::Free } else { row.state };
                ledger.put_row(Some(&row), &cut_off(&row, state))?;
            }
        }
        Ok(adopted)
    })
}
