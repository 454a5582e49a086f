//! The rules by which stores grant, renew and release nodes. Each rule is a pure function of the store's data, a
//! request and the store's clock.
//!
//! Every store applies the rules inside one transaction. Within one run of a store, uniqueness does not depend on
//! clocks: a grant starts at or above the previous fence (I4), a renewal requires the token from the previous grant or
//! renewal (I7), and only a release lowers a fence (I3). After a restore, grants and renewals also depend on the clocks
//! of the store's runs (I14).

use flakeid_core::Layout;

use super::{
    Acquire, Bounds, Grant, Identity, Namespace, Refusal, Release, Renew, Renewed, Row, State,
    Token,
};

/// Converts a duration in milliseconds to ticks, rounded up.
#[must_use]
pub fn ticks(layout: &Layout, ms: u64) -> u64 {
    ms.div_ceil(layout.unit_ms())
}

/// Returns the latest tick at which a grant may start when the clock reads `now`.
///
/// # Errors
/// [`Refusal::Horizon`] if the layout's ticks have run out.
pub fn hottest_start(namespace: &Namespace, now: i64) -> Result<u64, Refusal> {
    let now_tick = tick_of(&namespace.layout, now)?;
    Ok(now_tick.saturating_add(ticks(&namespace.layout, namespace.bounds.max_ahead_ms)))
}

/// Checks the layout, window, nodes and clock of a request. Also checks that the store's quiet period after a restore
/// has ended.
///
/// # Errors
/// A [`Refusal`] if the rules do not allow the request.
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

/// Returns the milliseconds by which a client's clock is ahead of the store's clock. The result is negative if the
/// client's clock is behind by more than `waited_ms`, which is the time since that clock was read.
fn skew(client_now: i64, waited_ms: u64, store_now: i64) -> i64 {
    match client_now.saturating_sub(store_now) {
        behind if behind < 0 => later(behind, waited_ms).min(0),
        ahead => ahead,
    }
}

/// Returns the lowest node and the highest node that the request accepts.
#[must_use]
pub fn range(request: &Acquire) -> (u64, u64) {
    match request.identity {
        Identity::Node(node) => (node, node),
        Identity::Any | Identity::Name(_) => (request.from, request.to),
    }
}

/// Grants a node and returns the row to write. The parameter `row` is the node's current row.
///
/// # Errors
/// A [`Refusal`] if the rules do not allow the request. The caller must then write nothing.
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

/// Whether the row prevents other holders from getting the node now, except by taking over a fixed node. A row from
/// before the latest restore is not live, because the store grants nothing until the row's holder can no longer
/// continue its lease.
#[must_use]
pub fn is_live(namespace: &Namespace, row: &Row, store_now: i64) -> bool {
    row.expires > store_now && row.incarnation == namespace.incarnation
}

/// Returns the response to a successful acquire request, given the row that was written.
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

/// Renews the grant that a row records. Returns the row to write, or the current row if the store already applied this
/// renewal.
///
/// # Errors
/// A [`Refusal`] if the rules do not allow the request. The caller must then write nothing.
pub fn renew(
    namespace: &Namespace,
    row: Option<&Row>,
    request: &Renew,
    store_now: i64,
) -> Result<Row, Refusal> {
    // A row is never deleted, so the store has lost a missing row.
    let Some(row) = row else { return Err(lost(namespace, store_now)) };
    let renewal = renewal(namespace, row, request, store_now)?;
    let mut renewed = row.clone();
    renewal.apply(&mut renewed);
    Ok(renewed)
}

/// The change that a renewal makes to a row. Times are Unix milliseconds according to the store's clock.
///
/// ```
/// use flakeid_protocol::rules::Renewal;
/// # use flakeid_protocol::{Row, Token};
/// # fn renew(row: &mut Row, token: Token, now: i64) {
/// let (fence, expires) = (row.fence + 4_000, now + 12_000);
/// let renewal = Renewal { fence, token, renewed: now, expires, incarnation: None };
/// renewal.apply(row);
/// # }
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Renewal {
    /// The new fence, which is at or above the previous fence.
    pub fence: u64,
    /// The token for the next renewal.
    pub token: Token,
    /// The time of the renewal.
    pub renewed: i64,
    /// The time until which the node is reserved for its holder.
    pub expires: i64,
    /// The incarnation in which the holder continues its lease; `None` if the row keeps its incarnation.
    pub incarnation: Option<String>,
}

impl Renewal {
    /// Makes the change to the row that the renewal was decided for.
    pub fn apply(&self, row: &mut Row) {
        let Self { fence, token, renewed, expires, ref incarnation } = *self;
        (row.fence, row.token, row.renewed, row.expires) = (fence, Some(token), renewed, expires);
        if let Some(incarnation) = incarnation {
            row.incarnation.clone_from(incarnation);
        }
    }

    /// Returns the response to the request.
    #[must_use]
    pub const fn response(&self) -> Renewed {
        let Self { fence, expires, renewed, .. } = *self;
        Renewed { fence, expires, renewed, leaving: false }
    }
}

/// Applies the same rule as [`renew`], but returns only the change, so that a broker does not copy its rows.
///
/// # Errors
/// A [`Refusal`] if the rules do not allow the request.
pub fn renewal(
    namespace: &Namespace,
    row: &Row,
    request: &Renew,
    store_now: i64,
) -> Result<Renewal, Refusal> {
    // If the row belongs to an earlier grant, the store has lost the request's grant, because a takeover would have left
    // a row with a later grant.
    if row.start < request.start {
        return Err(lost(namespace, store_now));
    }
    if row.incarnation != namespace.incarnation {
        let older = renewal_of_older(namespace, row, request, store_now);
        return older.ok_or_else(|| lost(namespace, store_now));
    }
    if row.state != State::Held || row.start != request.start {
        return Err(Refusal::FencedOff);
    }
    if row.token == Some(request.next) {
        return Ok(unchanged(row, request.next));
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
    Ok(raised(row, row.fence.max(wanted), request, store_now))
}

/// Returns the refusal of a renewal whose grant the store has lost.
fn lost(namespace: &Namespace, store_now: i64) -> Refusal {
    Refusal::Restored { retry_after_ms: wait_to_grant(namespace, store_now) }
}

/// Returns the renewal that changes nothing except the token.
const fn unchanged(row: &Row, token: Token) -> Renewal {
    let Row { fence, renewed, expires, .. } = *row;
    Renewal { fence, token, renewed, expires, incarnation: None }
}

/// Returns the renewal that sets the fence to `fence`.
fn raised(row: &Row, fence: u64, request: &Renew, store_now: i64) -> Renewal {
    let expires = row.expires.max(later(store_now, request.ttl_ms));
    Renewal { fence, token: request.next, renewed: store_now, expires, incarnation: None }
}

/// Renews a row from another incarnation of the namespace. The holder either continues its lease, or gets one last
/// window and then needs a new grant. Returns `None` if the rules do not allow the renewal.
fn renewal_of_older(
    namespace: &Namespace,
    row: &Row,
    request: &Renew,
    store_now: i64,
) -> Option<Renewal> {
    let bounds = &namespace.bounds;
    if !is_still_its_own(bounds, row, request, store_now) {
        return None;
    }
    // Another run, whose clock was ahead, may have confirmed a fence that is above the current bound by at most the
    // combined skew of both runs' clocks. This renewal does not raise the fence above the current bound.
    let highest = highest_fence(namespace, later(store_now, bounds.max_skew_ms));
    let wanted = request.wanted.max(request.confirmed).min(highest);
    if precedes_every_grant(bounds, row, store_now) {
        let incarnation = Some(namespace.incarnation.clone());
        let fence = row.fence.max(wanted);
        return Some(Renewal { incarnation, ..raised(row, fence, request, store_now) });
    }
    // The holder cannot continue its lease and gets only one last window, so the row keeps its incarnation and its
    // times. The fence may rise, but not above the floor of any run that began after the row's last renewal. A renewal
    // time before the epoch counts as the epoch.
    let renewed_at = row.renewed.max(namespace.layout.epoch());
    let last = highest_fence(namespace, renewed_at).min(highest);
    let fence = row.fence.max(wanted.min(last));
    (last > request.confirmed).then(|| Renewal { fence, ..unchanged(row, request.next) })
}

/// Whether a row from another incarnation still reserves its node for the holder. If so, every run in which the row was
/// live has reserved the node for the holder. Until the row expires, the rules do not allow an operator or a request
/// for this specific node to transfer the node to another holder.
///
/// Each reading of a store's clock differs from the true time by at most `max_skew_ms`. Therefore, a reading can be
/// earlier than the previous reading by up to twice `max_skew_ms`.
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

/// Whether the holder of the row may continue its lease in a new run of the store (I14). After the row's last renewal,
/// other runs may have begun from older copies of the store. The holder may continue its lease only if every such run
/// is still in its quiet period: a new run grants nothing until `quiet_ms` have passed on its own clock. After the
/// quiet period, the holder gets only one last window. That window is safe, because grants of the new run start at or
/// above the highest possible fence at the time of the row's last renewal.
fn precedes_every_grant(bounds: &Bounds, row: &Row, store_now: i64) -> bool {
    let skews = bounds.max_skew_ms.saturating_mul(4);
    later(store_now, skews) < later(row.renewed, bounds.quiet_ms)
}

/// Whether a renewal proves that the store has lost the grant or a fence that the store confirmed to the holder. A loss
/// counts only if the confirmed fence is above the namespace's floor, because later grants start at or above the floor.
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

/// Returns the response to a successful renewal, given the renewed row.
#[must_use]
pub fn renewed_of(row: &Row) -> Renewed {
    Renewed { fence: row.fence, expires: row.expires, renewed: row.renewed, leaving: false }
}

/// Releases a node. Returns the row to write, or `None` if the row is missing or contains another token. The caller
/// guarantees that the holder's generator issues no more IDs.
#[must_use]
pub fn release(row: Option<&Row>, request: &Release) -> Option<Row> {
    let row = row.filter(|row| row.token == Some(request.token))?;
    Some(Row {
        // A release never raises the fence, because the holder can have used only granted ticks.
        fence: request.used_until.max(row.start).min(row.fence),
        token: None,
        state: if row.state == State::Held { State::Free } else { row.state },
        expires: 0,
        ..row.clone()
    })
}

/// Returns the namespace for a new run of its store. The new run grants nothing for `quiet_ms`. Later grants start at
/// or above every fence that earlier runs could have confirmed. [`renew`] determines whether an existing token is still
/// valid.
#[must_use]
pub fn restored(namespace: &Namespace, incarnation: String, store_now: i64) -> Namespace {
    // The allowed skew counts three times, because the clock of the earlier run may have been ahead of the true time, its
    // clients' clocks may have been ahead of that clock, and the current clock may be behind the true time.
    let skews = namespace.bounds.max_skew_ms.saturating_mul(3);
    let floor = namespace.floor.max(highest_fence(namespace, later(store_now, skews)));
    let quiet_until = namespace.quiet_until.max(later(store_now, namespace.bounds.quiet_ms));
    Namespace { floor, quiet_until, incarnation, ..namespace.clone() }
}

/// Returns a namespace to replace a lost namespace of the same name. The fences of the lost namespace were limited by
/// its own bounds, `lost`. Therefore, unlike [`restored`], this function computes the floor and the quiet period from
/// the larger of the old and the new value of each bound.
#[must_use]
pub fn recreated(wanted: &Namespace, lost: &Bounds, store_now: i64) -> Namespace {
    let bounds = wanted.bounds.fieldwise_max(lost);
    let widest = Namespace { bounds, ..wanted.clone() };
    Namespace { bounds: wanted.bounds, ..restored(&widest, String::new(), store_now) }
}

/// Returns the highest fence that a store may confirm while every client's clock reads at most `latest_now` (I9).
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

/// Returns the milliseconds until the store may grant nodes. The quiet period after a restore must have ended, and the
/// clock must be close enough to the namespace's floor.
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

/// Returns the tick at the given time, or tick 0 if the time is before the epoch. This function does not refuse such a
/// time, because a client with a clock before the epoch reports the error itself.
fn tick_of(layout: &Layout, unix_ms: i64) -> Result<u64, Refusal> {
    if unix_ms < layout.epoch() {
        return Ok(0);
    }
    layout.tick_at(unix_ms).map_err(|_| Refusal::Horizon)
}

impl Refusal {
    /// Creates a `NoFreeNode` refusal without counts, because the counts are computed only when the refusal is
    /// reported.
    pub(crate) const fn no_free_node() -> Self {
        Self::NoFreeNode { held: 0, hot: 0, quarantined: 0, used: 0, next_free_in_ms: None }
    }
}
