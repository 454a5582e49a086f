//! The operations of operators.

use super::{create_namespace, read_namespace, run};
use crate::store::{Continuity, Fault, Store};
use crate::{Bounds, Namespace, Owner, Refusal, Row, State, rules};

/// Creates a namespace that never existed before: grants begin at once, unless the store itself has recorded a loss.
///
/// # Errors
/// [`Refusal::OtherLayout`] or [`Refusal::BlockBits`] if the namespace exists with another layout or with blocks of another
/// size; an existing namespace is left unchanged. The store's fault.
pub fn init(store: &mut dyn Store, wanted: &Namespace) -> Result<Namespace, Fault> {
    create(store, wanted, None)
}

/// Creates a namespace in a store that has lost a namespace of that name with the bounds `lost`: as after a restore,
/// nothing is granted below the ticks that any process may still hold. If it was lost more than once, `lost` contains the
/// largest value of each bound ([`Bounds::fieldwise_max`]).
///
/// # Errors
/// As [`init`].
pub fn init_lost(
    store: &mut dyn Store,
    wanted: &Namespace,
    lost: &Bounds,
) -> Result<Namespace, Fault> {
    create(store, wanted, Some(lost))
}

fn create(
    store: &mut dyn Store,
    wanted: &Namespace,
    lost: Option<&Bounds>,
) -> Result<Namespace, Fault> {
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
            return Ok(kept);
        }
        if let Some(lost) = lost {
            let now = ledger.now()?;
            return create_namespace(ledger, &rules::recreated(wanted, lost, now));
        }
        create_namespace(ledger, wanted)
    })
}

/// Reads a namespace without its rows, and changes nothing.
///
/// # Errors
/// [`Refusal::MissingNamespace`]; the store's fault.
pub fn describe(store: &mut dyn Store, namespace: &str) -> Result<Namespace, Fault> {
    run(store, namespace, read_namespace)
}

/// The current state of a namespace.
#[derive(Clone, Debug)]
pub struct Listing {
    /// The namespace.
    pub namespace: Namespace,
    /// The rows of the namespace, by node.
    pub rows: Vec<Row>,
    /// The time of the store's clock when the rows were read, in Unix milliseconds.
    pub now: i64,
    /// Whether the store may have lost data.
    pub continuity: Continuity,
}

/// Reads a namespace with its rows, and changes nothing.
///
/// # Errors
/// [`Refusal::MissingNamespace`]; the store's fault.
pub fn list(store: &mut dyn Store, namespace: &str) -> Result<Listing, Fault> {
    run(store, namespace, |ledger| {
        let kept = read_namespace(ledger)?;
        let (rows, now) = (ledger.rows()?, ledger.now()?);
        let continuity = ledger.continuity(kept.run())?;
        Ok(Listing { namespace: kept, rows, now, continuity })
    })
}

/// An operator's change to one node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Repair {
    /// Makes the node available once it has expired, or at once if it was granted as a fixed node. Its holder is fenced off;
    /// no tick that it used is used again.
    Release,
    /// Makes the node available at once. If the store is then restored to a copy from before this change, the present holder
    /// and the next one may issue IDs in the same ticks.
    ReleaseNow,
    /// Takes the node out of use: its holder is fenced off and the node is not granted.
    Quarantine,
    /// Puts the node back into use.
    Lift,
}

/// Applies an operator's change to a node, and returns the new row.
///
/// # Errors
/// [`Refusal::MissingNamespace`]; [`Refusal::Nodes`]; `None` if the node was never granted and
/// there is nothing to release or lift; the store's fault.
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
        // This also works after a release that was not immediate.
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

/// Returns a row without its holder. The node is not granted before the row expires, because if a restore lost this change,
/// the holder could continue until then.
fn cut_off(row: &Row, state: State) -> Row {
    let expires = if row.fixed { 0 } else { row.expires };
    Row { token: None, state, expires, ..row.clone() }
}

/// Raises the floor: no grant starts before `tick`, and every earlier grant is fenced off at its next renewal. It is for
/// operators who know that ticks up to there may have been used.
///
/// # Errors
/// [`Refusal::MissingNamespace`]; [`Refusal::Horizon`] for a tick beyond the layout's; the store's
/// fault.
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

/// Takes over a store that was copied from another machine: raises the floor above every fence that can exist. If the store's
/// run has changed, its holders are fenced off, because the holders of the original may still be running. Otherwise tokens
/// stay valid, because their holders continue below their own fences.
///
/// # Errors
/// [`Refusal::MissingNamespace`]; the store's fault.
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
