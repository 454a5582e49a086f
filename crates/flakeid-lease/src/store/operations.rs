//! The operations of leases, each one transaction, the same on every store.

use std::time::Instant;

use super::{Candidates, Continuity, Fault, Ledger, Store};
use crate::protocol::{
    Acquire, Bounds, Grant, Identity, Namespace, Record, Refusal, Release, Renew, Renewed, Row,
    State, rules,
};

/// What work inside a transaction found. A refusal that must leave a trace (the floor of a restored
/// store) is an outcome like any other: what was written with it is kept.
type Outcome<T> = Result<T, Refusal>;

/// Grants a node: the name's last one if it is free, else the coldest, else a never used one
/// (which is the coldest of all).
///
/// # Errors
/// [`Fault::Refused`], with nothing granted; the store's fault, with nobody knowing.
pub fn acquire(store: &mut dyn Store, namespace: &str, request: &Acquire) -> Result<Grant, Fault> {
    acquire_with(store, namespace, || request.clone())
}

/// As [`acquire`], for a request whose clock was read at `read`: however long others keep it
/// waiting, the clock is not taken for a wrong one.
///
/// # Errors
/// As [`acquire`].
pub fn acquire_read_at(
    store: &mut dyn Store,
    namespace: &str,
    request: &Acquire,
    read: Instant,
) -> Result<Grant, Fault> {
    let waited_ms = || u64::try_from(read.elapsed().as_millis()).unwrap_or(u64::MAX);
    acquire_with(store, namespace, || Acquire { waited_ms: waited_ms(), ..request.clone() })
}

/// `request` is asked for in every attempt of the transaction.
fn acquire_with(
    store: &mut dyn Store,
    namespace: &str,
    request: impl Fn() -> Acquire,
) -> Result<Grant, Fault> {
    let creates = store.creates_namespaces();
    within(store, namespace, |ledger| {
        let now = ledger.now()?;
        let request = &request();
        let kept = match opened(ledger, now)? {
            Err(Refusal::MissingNamespace) if creates => {
                created(ledger, &Namespace::new(namespace, request.layout))?
            }
            Err(refusal) => return Ok(Err(refusal)),
            Ok(kept) => kept,
        };
        if let Err(refusal) = rules::admit(&kept, request, now) {
            return Ok(Err(refusal));
        }
        let (node, row) = match choose(ledger, &kept, request, now)? {
            Ok(chosen) => chosen,
            Err(refusal) => return Ok(Err(refusal)),
        };
        if let Some(row) = &row {
            check(&kept, row)?;
        }
        match rules::grant(&kept, row.as_ref(), node, request, now) {
            Err(refusal) => Ok(Err(told(ledger, &kept, request, now, refusal)?)),
            Ok(granted) => {
                ledger.put_row(row.as_ref(), &granted)?;
                if kept.keeps_history {
                    ledger.record(&record_of(&granted))?;
                }
                Ok(Ok(rules::grant_of(&kept, &granted, request)))
            }
        }
    })
}

/// Moves a fence up, or confirms that this very renewal did.
///
/// # Errors
/// As [`acquire`].
pub fn renew(store: &mut dyn Store, namespace: &str, request: &Renew) -> Result<Renewed, Fault> {
    within(store, namespace, |ledger| {
        let now = ledger.now()?;
        let kept = match opened(ledger, now)? {
            Ok(kept) => kept,
            Err(refusal) => return Ok(Err(refusal)),
        };
        let row = checked(ledger, &kept, request.node)?;
        match rules::renew(&kept, row.as_ref(), request, now) {
            Err(Refusal::Restored { .. }) => {
                let retry_after_ms = rules::wait_for_floor(&kept, now);
                Ok(Err(Refusal::Restored { retry_after_ms }))
            }
            Err(refusal) => Ok(Err(refusal)),
            Ok(renewed) => {
                if row.as_ref() != Some(&renewed) {
                    ledger.put_row(row.as_ref(), &renewed)?;
                }
                Ok(Ok(rules::renewed_of(&renewed)))
            }
        }
    })
}

/// Gives a node back; does nothing if the request's holder holds nothing there any more.
///
/// # Errors
/// As [`acquire`].
pub fn release(store: &mut dyn Store, namespace: &str, request: &Release) -> Result<(), Fault> {
    within(store, namespace, |ledger| {
        let now = ledger.now()?;
        // Otherwise no token counts there any more, so there is nothing to give back.
        let Ok(kept) = opened(ledger, now)? else { return Ok(Ok(())) };
        let row = checked(ledger, &kept, request.node)?;
        // A row from before a restoration may be older than what its holder used.
        let row = row.filter(|row| row.incarnation == kept.incarnation);
        if let Some(released) = rules::release(row.as_ref(), request) {
            ledger.put_row(row.as_ref(), &released)?;
        }
        Ok(Ok(()))
    })
}

/// Creates a namespace of which it is known that it never existed before: nothing is waited for,
/// unless the store itself knows that it has lost something.
///
/// # Errors
/// [`Refusal::OtherLayout`] if there is one for another layout; one for the same layout is left as
/// it is. The store's fault.
pub fn init(store: &mut dyn Store, wanted: &Namespace) -> Result<Namespace, Fault> {
    make(store, wanted, None)
}

/// Creates a namespace in a store that has lost one of that name, which had the bounds `lost`:
/// nothing is granted below what anybody may still hold, as after a restoration. If it was lost more
/// than once, `lost` is the largest of each bound ([`Bounds::fieldwise_max`]).
///
/// # Errors
/// As [`init`].
pub fn init_lost(
    store: &mut dyn Store,
    wanted: &Namespace,
    lost: &Bounds,
) -> Result<Namespace, Fault> {
    make(store, wanted, Some(lost))
}

fn make(
    store: &mut dyn Store,
    wanted: &Namespace,
    lost: Option<&Bounds>,
) -> Result<Namespace, Fault> {
    store.prepare()?;
    within(store, &wanted.name, |ledger| {
        if let Some(kept) = ledger.namespace()? {
            if kept.layout.is_same_space(&wanted.layout) {
                return Ok(Ok(kept));
            }
            let (namespace, client) = (kept.layout, wanted.layout);
            return Ok(Err(Refusal::OtherLayout { namespace, client }));
        }
        if let Some(lost) = lost {
            let now = ledger.now()?;
            return Ok(Ok(created(ledger, &rules::recreated(wanted, lost, now))?));
        }
        Ok(Ok(created(ledger, wanted)?))
    })
}

/// Writes a new namespace. If the store may have lost one of that name, nothing is granted below
/// what that one can have granted.
fn created(ledger: &mut dyn Ledger, wanted: &Namespace) -> Result<Namespace, Fault> {
    let incarnation = ledger.incarnation()?;
    let new = match ledger.forgotten()? {
        // Its windows may have been longer than those of the one that takes its place.
        Some(lost) => Namespace { incarnation, ..rules::recreated(wanted, &lost.bounds, lost.at) },
        None => Namespace { incarnation, ..wanted.clone() },
    };
    ledger.put_namespace(&new)?;
    Ok(new)
}

/// A namespace as it is now.
#[derive(Clone, Debug)]
pub struct Listing {
    /// The namespace.
    pub namespace: Namespace,
    /// Its rows, by node.
    pub rows: Vec<Row>,
    /// The store's clock when they were read, in Unix milliseconds.
    pub now: i64,
    /// Whether the store remembers everything.
    pub continuity: Continuity,
}

/// Reads a namespace and changes nothing.
///
/// # Errors
/// [`Refusal::MissingNamespace`]; the store's fault.
pub fn list(store: &mut dyn Store, namespace: &str) -> Result<Listing, Fault> {
    within(store, namespace, |ledger| {
        let Some(kept) = ledger.namespace()? else { return Ok(Err(Refusal::MissingNamespace)) };
        let (rows, now) = (ledger.rows()?, ledger.now()?);
        let continuity = ledger.continuity(&kept.incarnation)?;
        Ok(Ok(Listing { namespace: kept, rows, now, continuity }))
    })
}

/// What an operator does to one node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Repair {
    /// Lets others have it at once. Its holder is fenced off; nothing it used is used again.
    Release,
    /// Takes it out of use: its holder is fenced off and nobody gets it.
    Quarantine,
    /// Puts it back into use.
    Lift,
}

/// Does what an operator wants to a node, and returns the row as it is then.
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
    within(store, namespace, |ledger| {
        let Some(kept) = ledger.namespace()? else { return Ok(Err(Refusal::MissingNamespace)) };
        let max_node = kept.layout.max_node();
        if node > max_node {
            return Ok(Err(Refusal::Nodes { from: node, to: node, max_node }));
        }
        let now = ledger.now()?;
        let row = ledger.row(node)?;
        let Some(changed) = repaired(&kept, row.as_ref(), node, repair, now) else {
            return Ok(Ok(None));
        };
        if row.as_ref() != Some(&changed) {
            ledger.put_row(row.as_ref(), &changed)?;
        }
        Ok(Ok(Some(changed)))
    })
}

fn repaired(
    kept: &Namespace,
    row: Option<&Row>,
    node: u64,
    repair: Repair,
    now: i64,
) -> Option<Row> {
    let state = match repair {
        Repair::Quarantine => State::Quarantined,
        Repair::Release | Repair::Lift => State::Free,
    };
    let Some(row) = row else {
        return (repair == Repair::Quarantine).then(|| Row {
            node,
            fence: 0,
            start: 0,
            token: None,
            grant: 0,
            state,
            owner: crate::protocol::Owner::default(),
            acquired: now,
            renewed: now,
            expires: 0,
            incarnation: kept.incarnation.clone(),
        });
    };
    let applies = match repair {
        Repair::Quarantine => true,
        Repair::Release => row.state == State::Held,
        Repair::Lift => row.state == State::Quarantined,
    };
    applies.then(|| Row { token: None, state, expires: 0, ..row.clone() })
}

/// Raises the floor: no grant starts before `tick`, and every grant of before is fenced off at its
/// next renewal. For operators who know that ticks up to there may have been used.
///
/// # Errors
/// [`Refusal::MissingNamespace`]; [`Refusal::Horizon`] for a tick beyond the layout's; the store's
/// fault.
pub fn fast_forward(store: &mut dyn Store, namespace: &str, tick: u64) -> Result<Namespace, Fault> {
    within(store, namespace, |ledger| {
        let Some(mut kept) = ledger.namespace()? else { return Ok(Err(Refusal::MissingNamespace)) };
        if tick > kept.layout.max_tick() {
            return Ok(Err(Refusal::Horizon));
        }
        kept.floor = kept.floor.max(tick);
        ledger.put_namespace(&kept)?;
        for row in ledger.rows()? {
            if row.state == State::Held && row.token.is_some() {
                let cut = Row { token: None, state: State::Free, expires: 0, ..row.clone() };
                ledger.put_row(Some(&row), &cut)?;
            }
        }
        Ok(Ok(kept))
    })
}

/// Takes over a store that was copied from another machine: raises the floor beyond every fence
/// that can exist. Tokens of before are void if the store is not what it was; where it is, they
/// stay good, because their holders go on below their own fences.
///
/// # Errors
/// [`Refusal::MissingNamespace`]; the store's fault.
pub fn adopt(store: &mut dyn Store, namespace: &str) -> Result<Namespace, Fault> {
    within(store, namespace, |ledger| {
        let Some(kept) = ledger.namespace()? else { return Ok(Err(Refusal::MissingNamespace)) };
        let now = ledger.now()?;
        let adopted = rules::restored(&kept, ledger.incarnation()?, now);
        ledger.put_namespace(&adopted)?;
        Ok(Ok(adopted))
    })
}

/// Which process held a node at a tick.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Holding {
    /// The grant.
    pub record: Record,
    /// The first tick that it does not cover.
    pub fence: u64,
}

/// Who held a node at a tick; `None` if nobody did, or it is not in the history. Windows of one
/// node are disjoint, so the answer is exact.
///
/// # Errors
/// [`Refusal::MissingNamespace`]; the store's fault.
pub fn whois(
    store: &mut dyn Store,
    namespace: &str,
    node: u64,
    tick: u64,
) -> Result<Option<Holding>, Fault> {
    within(store, namespace, |ledger| {
        if ledger.namespace()?.is_none() {
            return Ok(Err(Refusal::MissingNamespace));
        }
        let Some((record, next)) = ledger.record_at(node, tick)? else { return Ok(Ok(None)) };
        let fence = match next {
            Some(start) => start,
            None => ledger.row(node)?.map_or(record.start, |row| row.fence),
        };
        Ok(Ok((tick < fence).then_some(Holding { record, fence })))
    })
}

/// Runs work that has an outcome.
fn within<T>(
    store: &mut dyn Store,
    namespace: &str,
    mut work: impl FnMut(&mut dyn Ledger) -> Result<Outcome<T>, Fault>,
) -> Result<T, Fault> {
    Namespace::check_name(namespace).map_err(|error| Fault::Rejected(error.to_string()))?;
    let mut outcome = None;
    store.transact(namespace, &mut |ledger| {
        outcome = None;
        outcome = Some(work(ledger)?);
        Ok(())
    })?;
    match outcome {
        Some(Ok(result)) => Ok(result),
        Some(Err(refusal)) => Err(refusal.into()),
        None => Err(Fault::Rejected("the store did not run the transaction".into())),
    }
}

/// The namespace, if the store still is what it was. If not, notes that first.
fn opened(ledger: &mut dyn Ledger, now: i64) -> Result<Outcome<Namespace>, Fault> {
    let Some(kept) = ledger.namespace()? else { return Ok(Err(Refusal::MissingNamespace)) };
    match ledger.continuity(&kept.incarnation)? {
        Continuity::Same => Ok(Ok(kept)),
        Continuity::Foreign => Ok(Err(Refusal::Foreign)),
        Continuity::Restored => {
            let restored = rules::restored(&kept, ledger.incarnation()?, now);
            ledger.put_namespace(&restored)?;
            let retry_after_ms = rules::wait_for_floor(&restored, now);
            Ok(Err(Refusal::Restored { retry_after_ms }))
        }
    }
}

/// The node to grant, and its row if it has one.
fn choose(
    ledger: &mut dyn Ledger,
    kept: &Namespace,
    request: &Acquire,
    now: i64,
) -> Result<Outcome<(u64, Option<Row>)>, Fault> {
    if let Identity::Node(node) = request.identity {
        return Ok(Ok((node, ledger.row(node)?)));
    }
    let hottest = match rules::hottest_start(kept, request.now) {
        Ok(hottest) => hottest,
        Err(refusal) => return Ok(Err(refusal)),
    };
    let (from, to) = rules::range(request);
    let mut candidates = Candidates { from, to, store_now: now, hottest, name: None };
    if let (Identity::Name(name), true) = (&request.identity, request.reuse) {
        candidates.name = Some(name);
        if let Some(row) = ledger.coldest(&candidates)? {
            return Ok(Ok((row.node, Some(row))));
        }
        candidates.name = None;
    }
    let first = from + request.rotation % (to - from + 1);
    if let Some(node) = ledger.unused(from, to, first)? {
        return Ok(Ok((node, None)));
    }
    if request.reuse
        && let Some(row) = ledger.coldest(&candidates)?
    {
        return Ok(Ok((row.node, Some(row))));
    }
    Ok(Err(told(ledger, kept, request, now, Refusal::no_free_node())?))
}

/// A refusal for want of a node, with the counts that explain it.
fn told(
    ledger: &mut dyn Ledger,
    kept: &Namespace,
    request: &Acquire,
    now: i64,
    refusal: Refusal,
) -> Result<Refusal, Fault> {
    if !matches!(refusal, Refusal::NoFreeNode { .. }) {
        return Ok(refusal);
    }
    let (from, to) = rules::range(request);
    let hottest = rules::hottest_start(kept, request.now).unwrap_or(u64::MAX);
    let (mut held, mut hot, mut quarantined, mut used) = (0, 0, 0, 0);
    let mut next_free_in_ms: Option<u64> = None;
    for row in ledger.rows()?.iter().filter(|row| (from..=to).contains(&row.node)) {
        let expires_in = row.expires.saturating_sub(now).max(0).cast_unsigned();
        let cools_in = row.fence.saturating_sub(hottest).saturating_mul(kept.layout.unit_ms());
        if row.state == State::Quarantined {
            quarantined += 1;
            continue;
        }
        if !request.reuse {
            used += 1;
            continue;
        }
        if expires_in > 0 {
            held += 1;
        } else if cools_in > 0 {
            hot += 1;
        }
        let free_in = expires_in.max(cools_in);
        next_free_in_ms = Some(next_free_in_ms.map_or(free_in, |least| least.min(free_in)));
    }
    Ok(Refusal::NoFreeNode { held, hot, quarantined, used, next_free_in_ms })
}

fn checked(ledger: &mut dyn Ledger, kept: &Namespace, node: u64) -> Result<Option<Row>, Fault> {
    let row = ledger.row(node)?;
    if let Some(row) = &row {
        check(kept, row)?;
    }
    Ok(row)
}

/// Rows come from outside: somebody may have edited them.
fn check(kept: &Namespace, row: &Row) -> Result<(), Fault> {
    let end = kept.layout.max_tick() + 1;
    if row.node <= kept.layout.max_node() && row.start <= row.fence && row.fence <= end {
        return Ok(());
    }
    Err(Fault::Rejected(format!(
        "the row of node {} in namespace {:?} makes no sense (start {}, fence {}, last tick {}): \
         it was edited or damaged; quarantine the node",
        row.node,
        kept.name,
        row.start,
        row.fence,
        end - 1,
    )))
}

fn record_of(row: &Row) -> Record {
    Record {
        node: row.node,
        grant: row.grant,
        start: row.start,
        owner: row.owner.clone(),
        acquired: row.acquired,
    }
}
