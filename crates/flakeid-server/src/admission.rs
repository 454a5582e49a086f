//! The admission of requests: the one place that decides, for every protocol, who sent a request, whether the sender
//! may send it, and whether the sender's limits allow it.

use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::time::sleep;

use crate::metrics::Metrics;
use crate::rate::{Peer, RateLimiter, Sender, TooMany};
use crate::tokens::{Client, Denied, Need};

/// The number of requests without a valid token that the server answers per second and address. Further ones are
/// refused at once, and take nothing from the limits of clients with a token at the same address.
pub(crate) const STRANGERS_PER_SECOND: u64 = 10;
/// The delay of a response to a request with a wrong token.
pub(crate) const WRONG_TOKEN_DELAY: Duration = Duration::from_millis(200);

/// The sender of an admitted request.
#[derive(Clone, Debug, Default)]
pub(crate) struct Caller {
    pub(crate) peer: Option<Peer>,
    /// The client in the token file, or `None` if the server does not require tokens.
    pub(crate) client: Option<Arc<Client>>,
}

impl Caller {
    /// Returns the sender whose limits apply: a token at an address, or an address.
    pub(crate) fn sender(&self) -> Sender {
        Sender::new(self.peer, self.client.as_deref().map(|client| client.number))
    }
}

/// The reason why a request is not admitted.
#[derive(Debug)]
pub(crate) enum Rejected {
    Denied(Denied),
    TooMany(TooMany),
    /// A wrong token from an address that has sent too many requests without a valid token.
    Guess(TooMany),
}

/// The limits of all senders.
#[derive(Debug)]
pub(crate) struct Admission {
    /// The limit on requests, or `None` if they are not limited.
    pub(crate) requests: Option<RateLimiter>,
    /// The limit on acquired leases.
    pub(crate) acquires: RateLimiter,
    strangers: RateLimiter,
}

impl Admission {
    pub(crate) fn new(acquires: RateLimiter) -> Self {
        let strangers = RateLimiter::new(STRANGERS_PER_SECOND, Instant::now());
        Self { requests: None, acquires, strangers }
    }

    /// Admits a request. `client` is the client that the request's credentials identify, or the reason why they
    /// identify none. `acquires` says whether the request is for a lease.
    pub(crate) fn admit(
        &self,
        metrics: &Metrics,
        peer: Option<Peer>,
        client: Result<Option<Arc<Client>>, Denied>,
        need: Option<Need<'_>>,
        acquires: bool,
    ) -> Result<Caller, Rejected> {
        let caller = match client {
            Ok(client) => Caller { peer, client },
            Err(denied) => {
                metrics.count_denied(&denied, &shown(peer));
                let taken = self.strangers.take(Sender::new(peer, None), 1, Instant::now());
                return Err(match (taken.map_err(TooMany::requests), &denied) {
                    (Ok(()), _) => Rejected::Denied(denied),
                    (Err(limit), Denied::Wrong) => Rejected::Guess(limit),
                    (Err(limit), _) => Rejected::TooMany(limit),
                });
            }
        };
        let limits = [self.requests.as_ref(), acquires.then_some(&self.acquires)];
        for limit in limits.into_iter().flatten() {
            limit.take(caller.sender(), 1, Instant::now()).map_err(|wait| {
                metrics.report_later("rate_limit", "");
                Rejected::TooMany(TooMany::requests(wait))
            })?;
        }
        if let (Some(client), Some(need)) = (&caller.client, need) {
            client.permit(need).map_err(|denied| {
                metrics.count_denied(&denied, "");
                Rejected::Denied(denied)
            })?;
        }
        Ok(caller)
    }
}

/// Delays the response to a wrong token, after which the connection must end. Otherwise, a client could try many tokens
/// on one connection. Returns whether the token was wrong.
pub(crate) async fn delay(rejected: &Rejected) -> bool {
    let is_wrong = matches!(rejected, Rejected::Denied(Denied::Wrong) | Rejected::Guess(_));
    if is_wrong {
        sleep(WRONG_TOKEN_DELAY).await;
    }
    is_wrong
}

fn shown(peer: Option<Peer>) -> String {
    peer.map(|peer| peer.client().to_string()).unwrap_or_default()
}
