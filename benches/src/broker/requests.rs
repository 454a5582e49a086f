//! Requests of a member.

use std::time::Duration;

use flakeid_core::{Clock, Error, Layout, SystemClock};
use flakeid_protocol::{Acquire, Grant, Owner, Renew, Renewed};
use flakeid_stores::fresh_token;

/// Window that members request: the longest of a broker. They renew at every third of it.
const WINDOW_MS: u64 = 4_000;
pub(super) const INTERVAL: Duration = Duration::from_millis(1_333);

/// Returns the request for any node that a generator sends by default.
pub(super) fn request(layout: Layout) -> Acquire {
    Acquire {
        window_ms: WINDOW_MS,
        ttl_ms: 3 * WINDOW_MS,
        owner: Owner { name: String::new(), host: "host-000.example".into(), pid: 1 },
        ..Acquire::any_node(layout, fresh_token(), SystemClock.unix_ms())
    }
}

/// Returns the next renewal.
pub(super) fn renewal(layout: &Layout, grant: &Grant) -> Result<Renew, Error> {
    let now = SystemClock.unix_ms();
    Ok(Renew {
        node: grant.node,
        start: grant.start,
        token: grant.token,
        next: fresh_token().of_grant(grant.token),
        confirmed: grant.fence,
        wanted: layout.tick_at(now)?.saturating_add(WINDOW_MS / layout.unit_ms()),
        ttl_ms: 3 * WINDOW_MS,
        now,
        waited_ms: 0,
    })
}

/// Updates the grant after a response.
pub(super) fn follow(grant: &mut Grant, request: &Renew, answer: Renewed) {
    grant.token = request.next;
    grant.fence = grant.fence.max(answer.fence);
    grant.expires = answer.expires;
}
