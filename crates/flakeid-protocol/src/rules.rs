//! The rules of stores: pure functions of a store's data, a request and the store's clock.
//!
//! Every store runs them inside one transaction, so there is only one set of rules. Within one run of a store the proof needs
//! no clock: a grant starts at or above the previous fence (I4), a renewal needs the token of the last one (I7), and a fence
//! falls only in a release (I3). Only grants and renewals after a restore depend on the clocks of the store's runs (I14).

use flakeid_core::Layout;

use super::{
    Acquire, Bounds, Grant, Identity, Namespace, Refusal, Release, Renew, Renewed, Row, State,
};

/// Returns the number of ticks of a duration, rounded up.
#[must_use]
pub fn ticks(layout: &Layout, ms: u64) -> u64 {
    ms.div_ceil(layout.unit_ms())
}

/// Returns the highest fence or floor at which a grant may start when the clock reads `now`.
///
/// # Errors
/// [`Refusal::Horizon`] if the layout's ticks have run out.
pub fn hottest_start(namespace: &Namespace, now: i64) -> Result<u64, Refusal> {
    let now_tick = tick_of(&namespace.layout, now)?;
    Ok(now_tick.saturating_add(ticks(&namespace.layout, namespace.bounds.max_ahead_ms)))
}

/// Checks the layout, window, nodes and clocks of a request.
///
/// # Errors
/// The refusal of the request.
pub fn admit(namespace: &Namespace, request: &Acquire, store_now: i64) -> Result<(), Refusal> {
    let layout = &namespace.layout;
    if !layout.is_same_space(&request.layout) {
        return Err(Refusal::OtherLayout { namespace: *layout, client: request.layout });
    }
    if request.block_bits != namespace.block_bits {
        let (namespace, client) = (namespace.block_bits, request.block_bits);
        return Err(Refusal::BlockBits { namespace, client });
    }
    let bounds = &namespace.bounds;
    let min_ms = layout.unit_ms().saturating_mul(2);
    if request.window_ms < min_ms || request.window_ms > bounds.max_window_ms {
        let max_ms = bounds.max_window_ms;
        return Err(Refusal::Window { asked_ms: request.window_ms, min_ms, max_ms });
    }
    let (from, to) = range(request);
    if to > namespace.max_row() || from > to {
        return Err(Refusal::Nodes { from, to, max_node: namespace.max_row() });
    }
    let by_ms = skew(request.now, request.waited_ms, store_now);
    if by_ms.unsigned_abs() > bounds.max_skew_ms {
        return Err(Refusal::Skew { by_ms, max_ms: bounds.max_skew_ms });
    }
    if store_now < namespace.quiet_until {
        return Err(Refusal::Restored { retry_after_ms: wait_to_grant(namespace, store_now) });
    }
    Ok(())
}

/// Returns the milliseconds by which a client's clock is ahead of the store's; negative if it is behind. The client's clock
/// was read `waited_ms` ago.
fn skew(client_now: i64, waited_ms: u64, store_now: i64) -> i64 {
    match client_now.saturating_sub(store_now) {
        behind if behind < 0 => later(behind, waited_ms).min(0),
        ahead => ahead,
    }
}

/// Returns the range of nodes that a request may get, both inclusive.
#[must_use]
pub fn range(request: &Acquire) -> (u64, u64) {
    match request.identity {
        Identity::Node(node) => (node, node),
        Identity::Any | Identity::Name(_) => (request.from, request.to),
    }
}

/// Grants a node: returns the row to write. `row` is the present row of the node.
///
/// # Errors
/// The refusal; nothing is to be written then.
pub fn grant(
    namespace: &Namespace,
    row: Option<&Row>,
    node: u64,
    request: &Acquire,
    store_now: i64,
) -> Result<Row, Refusal> {
    admit(namespace, request, store_now)?;
    let layout = &namespace.layout;
    let fixed = matches!(request.identity, Identity::Node(_));
    let mut fence = 0;
    if let Some(row) = row {
        if row.state == State::Quarantined {
            return Err(Refusal::Quarantined { node });
        }
        if !request.reuse {
            return Err(Refusal::no_free_node());
        }
        if is_live(namespace, row, store_now) && !(fixed && row.fixed) {
            return Err(if fixed {
                Refusal::Held { node, retry_after_ms: row.expires.abs_diff(store_now) }
            } else {
                Refusal::no_free_node()
            });
        }
        fence = row.fence;
    }
    let lowest = fence.max(namespace.floor).max(request.after);
    let hottest = hottest_start(namespace, request.now)?;
    if lowest > hottest {
        return Err(Refusal::FenceInFuture { retry_after_ms: wait_ms(layout, lowest - hottest) });
    }
    let start = lowest.max(tick_of(layout, request.now)?);
    let end = layout.max_tick() + 1;
    let new_fence = start.saturating_add(ticks(layout, request.window_ms)).min(end);
    if new_fence.saturating_sub(start) < 2 {
        return Err(Refusal::Horizon);
    }
    Ok(Row {
        node,
        fence: new_fence,
        start,
        token: Some(request.token),
        grant: row.map_or(0, |row| row.grant).saturating_add(1),
        state: State::Held,
        owner: request.owner.clone(),
        acquired: store_now,
        renewed: store_now,
        expires: later(store_now, request.ttl_ms),
        incarnation: namespace.incarnation.clone(),
        fixed,
        history_until: 0,
    })
}

/// Whether no other holder may get the node yet, except by taking over a fixed node. A row from before the latest restore is
/// not live, because nothing is granted until its holder can no longer continue.
#[must_use]
pub fn is_live(namespace: &Namespace, row: &Row, store_now: i64) -> bool {
    row.expires > store_now && row.incarnation == namespace.incarnation
}

/// Returns the grant for the holder of a just granted row.
#[must_use]
pub fn grant_of(namespace: &Namespace, row: &Row, request: &Acquire) -> Grant {
    Grant {
        node: row.node,
        start: row.start,
        fence: row.fence,
        token: request.token,
        max_ahead_ms: namespace.bounds.max_ahead_ms,
        max_window_ms: namespace.bounds.max_window_ms,
        expires: row.expires,
    }
}

/// Renews: returns the row to write, or the present row if this renewal was applied before.
///
/// # Errors
/// The refusal; nothing is to be written then.
pub fn renew(
    namespace: &Namespace,
    row: Option<&Row>,
    request: &Renew,
    store_now: i64,
) -> Result<Row, Refusal> {
    let restored = || Refusal::Restored { retry_after_ms: wait_to_grant(namespace, store_now) };
    // If the row is missing or of an earlier grant, the node was not taken, but the store lost the grant.
    let row = row.filter(|row| row.start >= request.start).ok_or_else(restored)?;
    if row.incarnation != namespace.incarnation {
        return renew_older(namespace, row, request, store_now).ok_or_else(restored);
    }
    if row.state != State::Held || row.start != request.start {
        return Err(Refusal::FencedOff);
    }
    if row.token == Some(request.next) {
        return Ok(row.clone());
    }
    if row.token != Some(request.token) {
        return Err(Refusal::FencedOff);
    }
    let layout = &namespace.layout;
    let wanted = request.wanted.min(layout.max_tick() + 1);
    let highest = highest_fence(namespace, later(store_now, namespace.bounds.max_skew_ms));
    if wanted > highest {
        return Err(Refusal::TooFarAhead { by_ms: wait_ms(layout, wanted - highest) });
    }
    Ok(renewed_row(row, row.fence.max(wanted), request, store_now))
}

/// Returns the row with another fence, renewed now.
fn renewed_row(row: &Row, fence: u64, request: &Renew, store_now: i64) -> Row {
    Row {
        fence,
        token: Some(request.next),
        renewed: store_now,
        expires: row.expires.max(later(store_now, request.ttl_ms)),
        ..row.clone()
    }
}

/// Renews a row of another incarnation: the holder continues, or gets the last window of its grant. Returns `None` if it does
/// neither.
fn renew_older(namespace: &Namespace, row: &Row, request: &Renew, store_now: i64) -> Option<Row> {
    let bounds = &namespace.bounds;
    if !is_still_its_own(bounds, row, request, store_now) {
        return None;
    }
    // The fence that a run with a faster clock confirmed may be above this by the skew of both clocks.
    let highest = highest_fence(namespace, later(store_now, bounds.max_skew_ms));
    let wanted = request.wanted.max(request.confirmed).min(highest);
    if precedes_every_grant(bounds, row, store_now) {
        let incarnation = namespace.incarnation.clone();
        let fence = row.fence.max(wanted);
        return Some(Row { incarnation, ..renewed_row(row, fence, request, store_now) });
    }
    // The row keeps its incarnation and its times: only the fence rises, and never above the floor of every run that
    // began since.
    // Before the epoch there is no tick, and the highest fence would be the layout's end.
    let renewed_at = row.renewed.max(namespace.layout.epoch());
    let last = highest_fence(namespace, renewed_at).min(highest);
    let fence = row.fence.max(wanted.min(last));
    (last > request.confirmed).then(|| Row { fence, token: Some(request.next), ..row.clone() })
}

/// Whether the holder of a row of another incarnation is still the only one that was granted the node in any run in which the
/// row was live: until the row expires, no rule, no claim of exactly this node and no operator lets another holder have it.
///
/// Every reading of a store's clock is within `max_skew_ms` of the truth, so two readings, taken one after the other, can be
/// out of order by twice that.
fn is_still_its_own(bounds: &Bounds, row: &Row, request: &Renew, store_now: i64) -> bool {
    let skews = bounds.max_skew_ms.saturating_mul(2);
    let is_same_grant = row.token.is_some_and(|token| token.is_same_grant(request.token));
    let is_unexpired = later(store_now, skews) < row.expires;
    let by_ms = skew(request.now, request.waited_ms, store_now);
    let clocks_agree =
        by_ms.unsigned_abs() <= bounds.max_skew_ms && later(store_now, skews) >= row.renewed;
    row.state == State::Held
        && row.start == request.start
        && is_same_grant
        && is_unexpired
        && clocks_agree
        && !row.fixed
}

/// Whether no run that began from an older copy after the row's last renewal can have granted anything yet: such a run grants
/// nothing before `quiet_ms` of its own clock have passed. The holder may then continue (I14). Later it gets the last window
/// of its grant: the grants of such a run start at its floor, which is never below the highest fence at the row's last
/// renewal.
fn precedes_every_grant(bounds: &Bounds, row: &Row, store_now: i64) -> bool {
    let skews = bounds.max_skew_ms.saturating_mul(4);
    later(store_now, skews) < later(row.renewed, bounds.quiet_ms)
}

/// Whether a renewal proves that the store has lost data that the namespace's floor does not cover: the grant itself, or a
/// fence that the holder saw confirmed.
#[must_use]
pub fn is_forgotten(namespace: &Namespace, row: Option<&Row>, request: &Renew) -> bool {
    let forgot = row.is_none_or(|row| {
        let is_same_grant = row.token.is_some_and(|token| token.is_same_grant(request.token));
        row.start < request.start
            || row.start == request.start
                && row.state == State::Held
                && is_same_grant
                && row.fence < request.confirmed
    });
    forgot && request.confirmed > namespace.floor
}

/// Returns the result for the holder of a renewed row.
#[must_use]
pub fn renewed_of(row: &Row) -> Renewed {
    Renewed { fence: row.fence, expires: row.expires, renewed: row.renewed }
}

/// Releases: returns the row to write, or `None` if the request's holder no longer holds the node. The word of the holder's
/// generator must be CLOSED.
#[must_use]
pub fn release(row: Option<&Row>, request: &Release) -> Option<Row> {
    let row = row.filter(|row| row.token == Some(request.token))?;
    Some(Row {
        // Never above the fence, because ticks that were not granted cannot have been used.
        fence: request.used_until.max(row.start).min(row.fence),
        token: None,
        state: if row.state == State::Held { State::Free } else { row.state },
        expires: 0,
        ..row.clone()
    })
}

/// Returns a namespace for another run of its store: tokens are valid only as far as [`renew`] allows, nothing is granted for
/// `quiet_ms`, and then nothing below a tick that no fence can have reached.
#[must_use]
pub fn restored(namespace: &Namespace, incarnation: String, store_now: i64) -> Namespace {
    // Two skews, because the clock that bounded the old fences may have been one skew ahead of the clients, and this clock
    // may be one skew behind.
    let skews = namespace.bounds.max_skew_ms.saturating_mul(2);
    let floor = namespace.floor.max(highest_fence(namespace, later(store_now, skews)));
    let quiet_until = namespace.quiet_until.max(later(store_now, namespace.bounds.quiet_ms));
    Namespace { floor, quiet_until, incarnation, ..namespace.clone() }
}

/// Returns a new namespace for a store that has lost a namespace of its name with the bounds `lost`: like [`restored`], with
/// the larger value of each bound, because the new bounds do not limit the lost fences.
#[must_use]
pub fn recreated(wanted: &Namespace, lost: &Bounds, store_now: i64) -> Namespace {
    let bounds = wanted.bounds.fieldwise_max(lost);
    let widest = Namespace { bounds, ..wanted.clone() };
    Namespace { bounds: wanted.bounds, ..restored(&widest, String::new(), store_now) }
}

/// Returns the highest possible fence while no client's clock is beyond `latest_now` (the upper bound of a fence, I9).
fn highest_fence(namespace: &Namespace, latest_now: i64) -> u64 {
    let (layout, bounds) = (&namespace.layout, &namespace.bounds);
    let end = layout.max_tick() + 1;
    match tick_of(layout, latest_now) {
        Ok(tick) => tick
            .saturating_add(ticks(layout, bounds.max_ahead_ms))
            .saturating_add(ticks(layout, bounds.max_window_ms))
            .saturating_add(1)
            .min(end),
        Err(_) => end,
    }
}

/// Returns the milliseconds until a node may be granted: until a grant may start at the namespace's floor, and a restored
/// store has been quiet for long enough.
#[must_use]
pub fn wait_to_grant(namespace: &Namespace, store_now: i64) -> u64 {
    let quiet = namespace.quiet_until.saturating_sub(store_now).max(0).cast_unsigned();
    let floor = match hottest_start(namespace, store_now) {
        Ok(hottest) => wait_ms(&namespace.layout, namespace.floor.saturating_sub(hottest)),
        Err(_) => 0,
    };
    quiet.max(floor)
}

fn wait_ms(layout: &Layout, ticks: u64) -> u64 {
    ticks.saturating_mul(layout.unit_ms())
}

fn later(now: i64, ms: u64) -> i64 {
    now.saturating_add(i64::try_from(ms).unwrap_or(i64::MAX))
}

/// Returns the tick of an instant, or tick 0 before the epoch, because clients report that case themselves.
fn tick_of(layout: &Layout, unix_ms: i64) -> Result<u64, Refusal> {
    if unix_ms < layout.epoch() {
        return Ok(0);
    }
    layout.tick_at(unix_ms).map_err(|_| Refusal::Horizon)
}

impl Refusal {
    /// Creates the refusal without counts, which are computed when it is reported.
    pub(crate) const fn no_free_node() -> Self {
        Self::NoFreeNode { held: 0, hot: 0, quarantined: 0, used: 0, next_free_in_ms: None }
    }
}
