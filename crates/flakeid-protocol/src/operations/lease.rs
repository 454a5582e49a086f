//! The operations for lease holders: acquire, renew and release.

use std::collections::{BTreeMap, BTreeSet};
use std::hash::{BuildHasher, RandomState};
use std::time::Instant;

use super::{create_namespace, open_namespace, record_run, run};
use crate::store::{Candidates, Fault, Ledger, Store};
use crate::{
    Acquire, Grant, Handover, Identity, Namespace, Record, Refusal, Release, Renew, Renewed, Row,
    State, Token, rules, sub_grants,
};

/// Grants the node that the request specifies. If the request specifies no node, grants the first available node in
/// this order: the last node of the process that the request names, a node that was never used, and finally the free
/// node with the lowest fence. If `reuse` is `false`, grants only a node that was never used.
///
/// # Errors
/// [`Fault::Refused`] if the rules refuse the request; no node was granted. Another [`Fault`] if the store fails; in
/// this case, a node may have been granted.
pub fn acquire(store: &mut dyn Store, namespace: &str, request: &Acquire) -> Result<Grant, Fault> {
    acquire_with(store, namespace, || request.clone())
}

/// Grants a node, as [`acquire`] does. `read` is the time at which the client read its clock for the request. The time
/// that has elapsed since then does not count as clock skew.
///
/// # Errors
/// The same errors as [`acquire`].
pub fn acquire_read_at(
    store: &mut dyn Store,
    namespace: &str,
    request: &Acquire,
    read: Instant,
) -> Result<Grant, Fault> {
    acquire_with(store, namespace, || Acquire { waited_ms: ms_since(read), ..request.clone() })
}

/// Grants a node. Calls `request` for each attempt to run the transaction, because the waiting time in the request
/// grows with each attempt.
fn acquire_with(
    store: &mut dyn Store,
    namespace: &str,
    request: impl Fn() -> Acquire,
) -> Result<Grant, Fault> {
    let creates = store.creates_namespaces();
    run(store, namespace, |ledger| {
        let now = ledger.now()?;
        let request = &request();
        let kept = match open_namespace(ledger, now) {
            // A namespace of blocks is not created here, because only the broker knows whether the namespace existed
            // before, and with which bounds.
            Err(Fault::Refused(Refusal::MissingNamespace))
                if creates && request.block_bits == 0 =>
            {
                create_namespace(ledger, &Namespace::new(namespace, request.layout))?
            }
            kept => kept?,
        };
        rules::admit(&kept, request, now)?;
        let Some((node, row)) = choose_node(ledger, &kept, request, now)? else {
            return Err(explain_no_node(ledger, &kept, request, now)?.into());
        };
        if let Some(row) = &row {
            check_row(&kept, row)?;
        }
        let granted = match rules::grant(&kept, row.as_ref(), node, request, now) {
            Err(Refusal::NoFreeNode { .. }) => {
                return Err(explain_no_node(ledger, &kept, request, now)?.into());
            }
            granted => granted?,
        };
        ledger.put_row(row.as_ref(), &granted)?;
        if kept.keeps_history {
            ledger.record(&record_of(row.as_ref(), &granted))?;
        }
        Ok(rules::grant_of(&kept, &granted, request))
    })
}

/// Raises the fence of a grant, or confirms that the same renewal has already raised the fence. If the renewal proves
/// that the store was restored, records the restore. The holder may then still be able to continue its lease.
///
/// # Errors
/// The same errors as [`acquire`].
pub fn renew(store: &mut dyn Store, namespace: &str, request: &Renew) -> Result<Renewed, Fault> {
    renew_one(store, namespace, || *request, &Handover::default()).map(|(renewed, _)| renewed)
}

/// Renews a lease, as [`renew`] does. `read` is the time at which the client read its clock for the request; see
/// [`acquire_read_at`].
///
/// # Errors
/// The same errors as [`acquire`].
pub fn renew_read_at(
    store: &mut dyn Store,
    namespace: &str,
    request: &Renew,
    read: Instant,
) -> Result<Renewed, Fault> {
    renew_block(store, namespace, request, read, &Handover::default()).map(|(renewed, _)| renewed)
}

/// Renews a single block of nodes, as [`renew_blocks`] does.
///
/// # Errors
/// [`Fault::Refused`] if the rules refuse the renewal, and the same errors as [`renew_blocks`].
pub fn renew_block(
    store: &mut dyn Store,
    namespace: &str,
    request: &Renew,
    read: Instant,
    handover: &Handover,
) -> Result<(Renewed, u64), Fault> {
    let request = || Renew { waited_ms: ms_since(read), ..*request };
    renew_one(store, namespace, request, handover)
}

fn renew_one(
    store: &mut dyn Store,
    namespace: &str,
    request: impl Fn() -> Renew,
    handover: &Handover,
) -> Result<(Renewed, u64), Fault> {
    let mut responses = renew_with(store, namespace, || vec![(request(), handover)])?;
    Ok(responses.pop().ok_or_else(Fault::not_run)??)
}

/// The largest number of blocks that [`renew_blocks`] renews in one transaction. In etcd, such a transaction reads two
/// keys and compares one row for each block. The limits are 128 reads, and 49 rows that are compared one by one.
pub const MOST_RENEWED: usize = 48;

/// The renewal of a block, with the broker's grants for the history.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BlockRenewal {
    /// The renewal.
    pub request: Renew,
    /// The time at which the broker read its clock for the request; see [`acquire_read_at`].
    pub read: Instant,
    /// The grants that the store writes to the history together with the renewal.
    pub handover: Handover,
}

/// The store's response to the renewal of a block. The second value is the tick up to which the history of the block is
/// complete, or 0 if the store was restored and may lack some grants.
pub type BlockRenewed = Result<(Renewed, u64), Refusal>;

/// Renews up to [`MOST_RENEWED`] blocks of nodes in one transaction, and writes the broker's grants to the history in
/// the same transaction. Returns one response for each renewal, in the same order. A refusal concerns only its own
/// block. A renewal that was already applied writes nothing.
///
/// # Errors
/// The same errors as [`acquire`], and [`Fault::Rejected`] for an invalid row or a grant outside its block. An error
/// concerns all renewals. Unless the error is [`Fault::Unavailable`], the transaction renewed none of the blocks.
pub fn renew_blocks(
    store: &mut dyn Store,
    namespace: &str,
    renewals: &[BlockRenewal],
) -> Result<Vec<BlockRenewed>, Fault> {
    let timed = |of: &BlockRenewal| Renew { waited_ms: ms_since(of.read), ..of.request };
    renew_with(store, namespace, || renewals.iter().map(|of| (timed(of), &of.handover)).collect())
}

/// Renews leases in one transaction. Calls `requests` for each attempt to run the transaction, because the waiting
/// times in the requests grow with each attempt.
fn renew_with<'a>(
    store: &mut dyn Store,
    namespace: &str,
    requests: impl Fn() -> Vec<(Renew, &'a Handover)>,
) -> Result<Vec<BlockRenewed>, Fault> {
    run(store, namespace, |ledger| {
        let now = ledger.now()?;
        let requests = requests();
        let (mut kept, _) = record_run(ledger, now)?;
        let mut rows = read_rows(ledger, &kept, requests.iter().map(|(request, _)| request.node))?;
        // A loss that one renewal proves changes the incarnation, which the decisions about all renewals depend on.
        // Therefore, the proof is recorded before any renewal is decided.
        let proof = requests
            .iter()
            .map(|(request, _)| request)
            .find(|request| rules::is_forgotten(&kept, rows.get(&request.node), request));
        if let Some(request) = proof {
            // The store's run has not changed, so only a new suffix after `~` distinguishes the new incarnation from
            // the previous incarnation.
            let incarnation = mark_anew(&ledger.incarnation()?, request.next);
            kept = rules::restored(&kept, incarnation, now);
            ledger.put_namespace(&kept)?;
        }
        let mut responses = Vec::with_capacity(requests.len());
        for (request, handover) in &requests {
            let row = rows.get(&request.node);
            let renewed = match (row, rules::renew(&kept, row, request, now)) {
                (_, Err(refusal)) => {
                    responses.push(Err(refusal));
                    continue;
                }
                (Some(before), Ok(renewed)) if *before != renewed => {
                    put_with(ledger, &kept, before, renewed, request.token, handover)?
                }
                (_, Ok(renewed)) => renewed,
            };
            responses.push(Ok((rules::renewed_of(&renewed), renewed.history_until)));
            // A later renewal of the same block is decided with the row that this renewal has written.
            rows.insert(request.node, renewed);
        }
        Ok(responses)
    })
}

/// Returns a new incarnation of a run: the run, `~` and a suffix that was never used before. The suffix is a hash of
/// the renewal's random token. The hash is computed with a random key, so that the suffix does not reveal the token.
fn mark_anew(run: &str, fresh: Token) -> String {
    format!("{run}~{:016x}", RandomState::new().hash_one(fresh.to_bits()))
}

/// Writes a renewed or released row, and adds its holder's grants to the history.
fn put_with(
    ledger: &mut dyn Ledger,
    kept: &Namespace,
    before: &Row,
    after: Row,
    held: Token,
    handover: &Handover,
) -> Result<Row, Fault> {
    let (after, recorded) = sub_grants::hand_over(kept, before, after, held, handover)
        .map_err(|sub| {
            let text = format!(
                "a broker of namespace {:?} reports a grant of node {} from tick {} on, which is not \
                 within its block {}: this is a fault of the broker",
                kept.name, sub.node, sub.start, before.node
            );
            Fault::Rejected(text)
        })?;
    ledger.put_row(Some(before), &after)?;
    if !recorded.is_empty() {
        ledger.record_sub_grants(&recorded)?;
    }
    Ok(after)
}

fn ms_since(read: Instant) -> u64 {
    u64::try_from(read.elapsed().as_millis()).unwrap_or(u64::MAX)
}

/// Releases a node. Has no effect if the request's holder no longer holds the node.
///
/// # Errors
/// The same errors as [`acquire`].
pub fn release(store: &mut dyn Store, namespace: &str, request: &Release) -> Result<(), Fault> {
    release_block(store, namespace, request, &Handover::default())
}

/// Releases a block of nodes like [`release`], and writes the broker's grants to the history in the same transaction.
///
/// # Errors
/// The same errors as [`acquire`], and [`Fault::Rejected`] for a grant outside the block.
pub fn release_block(
    store: &mut dyn Store,
    namespace: &str,
    request: &Release,
    handover: &Handover,
) -> Result<(), Fault> {
    run(store, namespace, |ledger| {
        let now = ledger.now()?;
        let kept = match open_namespace(ledger, now) {
            // If the namespace is missing, or if the store was restored or was copied from another machine, the store
            // does not accept the request's token, so the release has no effect.
            Err(Fault::Refused(_)) => return Ok(()),
            kept => kept?,
        };
        let row = read_row(ledger, &kept, request.node)?;
        // A row from before a restore is ignored, because its holder may have used ticks above the fence in the row.
        let row = row.filter(|row| row.incarnation == kept.incarnation);
        if let (Some(before), Some(released)) = (&row, rules::release(row.as_ref(), request)) {
            put_with(ledger, &kept, before, released, request.token, handover)?;
        }
        Ok(())
    })
}

/// Returns the node to grant and the node's row, if the row exists. Returns `None` if every node is unavailable.
fn choose_node(
    ledger: &mut dyn Ledger,
    kept: &Namespace,
    request: &Acquire,
    now: i64,
) -> Result<Option<(u64, Option<Row>)>, Fault> {
    if let Identity::Node(node) = request.identity {
        return Ok(Some((node, ledger.row(node)?)));
    }
    let hottest = rules::hottest_start(kept, request.now)?;
    let (from, to) = rules::range(request);
    let incarnation = &kept.incarnation;
    let mut candidates = Candidates { from, to, store_now: now, incarnation, hottest, name: None };
    if let (Identity::Name(name), true) = (&request.identity, request.reuse) {
        candidates.name = Some(name);
        if let Some(row) = ledger.coldest(&candidates)? {
            return Ok(Some((row.node, Some(row))));
        }
        candidates.name = None;
    }
    let first = from + request.rotation % (to - from + 1);
    if let Some(node) = ledger.unused(from, to, first)? {
        return Ok(Some((node, None)));
    }
    let coldest = if request.reuse { ledger.coldest(&candidates)? } else { None };
    Ok(coldest.map(|row| (row.node, Some(row))))
}

/// Returns [`Refusal::NoFreeNode`], with the number of nodes in each state that prevents a grant.
fn explain_no_node(
    ledger: &mut dyn Ledger,
    kept: &Namespace,
    request: &Acquire,
    now: i64,
) -> Result<Refusal, Fault> {
    let (from, to) = rules::range(request);
    let hottest = rules::hottest_start(kept, request.now).unwrap_or(u64::MAX);
    let (mut held, mut hot, mut quarantined, mut used) = (0, 0, 0, 0);
    let mut next_free_in_ms: Option<u64> = None;
    for row in ledger.rows()?.iter().filter(|row| (from..=to).contains(&row.node)) {
        let is_live = rules::is_live(kept, row, now);
        let expires_in = if is_live { row.expires.abs_diff(now) } else { 0 };
        let cools_in = row.fence.saturating_sub(hottest).saturating_mul(kept.layout.unit_ms());
        if row.state == State::Quarantined {
            quarantined += 1;
            continue;
        }
        if !request.reuse {
            used += 1;
            continue;
        }
        if is_live {
            held += 1;
        } else if cools_in > 0 {
            hot += 1;
        }
        let free_in = expires_in.max(cools_in);
        next_free_in_ms = Some(next_free_in_ms.map_or(free_in, |least| least.min(free_in)));
    }
    Ok(Refusal::NoFreeNode { held, hot, quarantined, used, next_free_in_ms })
}

fn read_row(ledger: &mut dyn Ledger, kept: &Namespace, node: u64) -> Result<Option<Row>, Fault> {
    Ok(read_rows(ledger, kept, std::iter::once(node))?.remove(&node))
}

/// Reads the rows of nodes, in the order of the nodes. A node without a row is missing from the result.
fn read_rows(
    ledger: &mut dyn Ledger,
    kept: &Namespace,
    nodes: impl Iterator<Item = u64>,
) -> Result<BTreeMap<u64, Row>, Fault> {
    let nodes: Vec<u64> = nodes.collect::<BTreeSet<_>>().into_iter().collect();
    let mut rows = BTreeMap::new();
    for (node, row) in nodes.iter().zip(ledger.rows_of(&nodes)?) {
        if let Some(row) = row {
            check_row(kept, &row)?;
            rows.insert(*node, row);
        }
    }
    Ok(rows)
}

/// Checks that a row is valid, because an operator may have edited the row.
fn check_row(kept: &Namespace, row: &Row) -> Result<(), Fault> {
    let end = kept.layout.max_tick() + 1;
    if row.node <= kept.max_row() && row.start <= row.fence && row.fence <= end {
        return Ok(());
    }
    Err(Fault::Rejected(format!(
        "the row of node {} in namespace {:?} is invalid (start {}, fence {}, last tick {}): \
         it was edited or damaged; quarantine the node",
        row.node,
        kept.name,
        row.start,
        row.fence,
        end - 1,
    )))
}

/// Returns the history record of the grant in `row`. `before` is the node's previous row.
fn record_of(before: Option<&Row>, row: &Row) -> Record {
    Record {
        previous_until: before.map_or(0, |before| before.history_until),
        node: row.node,
        grant: row.grant,
        start: row.start,
        owner: row.owner.clone(),
        acquired: row.acquired,
    }
}
