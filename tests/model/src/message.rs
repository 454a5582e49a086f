//! Requests to the store and its responses, in transit.

use flakeid_protocol::keeper::{Demand, Reply};
use flakeid_protocol::store::Fault;
use flakeid_protocol::{Grant, Holder, Refusal, Release, Renew, Renewed, Token};

/// A message in either direction. Clock readings and refusals are included only if the model depends on them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Message {
    Acquire { token: Token, now: i64, after: u64 },
    Renew(Renew),
    // The second field is the tick after the last one that the process used on the node. It is `None` if the process
    // may still use the node.
    Release(Release, Option<u64>),
    Granted(Grant),
    NotGranted { token: Token },
    Renewed { next: Token, fence: u64 },
    NotRenewed { next: Token, fenced_off: bool, restored: bool },
}

impl Message {
    /// Returns a demand as a message; `used` is the field of a [release](Self::Release).
    pub fn request(demand: Demand, used: Option<u64>) -> Self {
        match demand {
            Demand::Acquire { request, .. } => {
                Self::Acquire { token: request.token, now: request.now, after: request.after }
            }
            Demand::Renew(renew) => Self::Renew(renew),
            Demand::Release(release) => Self::Release(release, used),
        }
    }

    /// Returns the response to the renewal with the token `next`.
    pub fn renewed(next: Token, renewed: Result<Renewed, Refusal>) -> Self {
        match renewed {
            Ok(renewed) => Self::Renewed { next, fence: renewed.fence },
            Err(refusal) => Self::NotRenewed {
                next,
                fenced_off: refusal == Refusal::FencedOff,
                restored: matches!(refusal, Refusal::Restored { .. }),
            },
        }
    }

    pub fn is_request(&self) -> bool {
        matches!(self, Self::Acquire { .. } | Self::Renew(_) | Self::Release(..))
    }

    /// Returns the fence that a response promises.
    pub fn fence(&self) -> Option<u64> {
        match *self {
            Self::Granted(Grant { fence, .. }) | Self::Renewed { fence, .. } => Some(fence),
            _ => None,
        }
    }

    pub fn tokens(&self) -> impl Iterator<Item = Token> + use<> {
        let mut copy = *self;
        copy.tokens_mut().map(Option::<&mut Token>::copied).into_iter().flatten()
    }

    pub fn tokens_mut(&mut self) -> [Option<&mut Token>; 2] {
        match self {
            Self::Renew(Renew { token, next, .. }) => [Some(token), Some(next)],
            Self::Acquire { token, .. }
            | Self::Release(Release { token, .. }, _)
            | Self::Granted(Grant { token, .. })
            | Self::NotGranted { token }
            | Self::Renewed { next: token, .. }
            | Self::NotRenewed { next: token, .. } => [Some(token), None],
        }
    }

    /// Returns a response as the keeper's input. If `leaving`, the granter is about to shut down.
    pub fn reply(&self, leaving: bool) -> Option<Reply> {
        Some(match *self {
            Self::Granted(grant) => Reply::Acquire { token: grant.token, result: Ok(grant) },
            Self::NotGranted { token } => Reply::Acquire { token, result: Err(no_response()) },
            Self::Renewed { next, fence } => Reply::Renew {
                next,
                result: Ok(Renewed { fence, expires: 0, renewed: 0, leaving }),
            },
            Self::NotRenewed { next, fenced_off, restored } => {
                let refusal = match (fenced_off, restored) {
                    (true, _) => Refusal::FencedOff,
                    (_, true) => Refusal::Restored { retry_after_ms: 0 },
                    _ => Refusal::TooFarAhead { by_ms: 0 },
                };
                Reply::Renew { next, result: Err(Fault::Refused(refusal)) }
            }
            _ => return None,
        })
    }
}

/// Returns the fault of a request without a response.
fn no_response() -> Fault {
    Fault::Unavailable(String::new())
}

/// Whether a holder waits for a response.
pub fn waits(holder: &Holder) -> bool {
    holder.acquiring.is_some() || holder.hold.as_ref().is_some_and(|hold| hold.waiting)
}

/// Returns the renewal that a holder has sent, if no response has arrived.
pub fn renewal_of(holder: &Holder) -> Option<Renew> {
    holder.hold.as_ref()?.renewal
}

/// Returns the reply to a holder whose request timed out. If `timeout_is_success` (a mutant), a renewal without a
/// response counts as confirmed.
pub fn timed_out(holder: &Holder, timeout_is_success: bool) -> Option<Reply> {
    let failed = |token| Reply::Acquire { token, result: Err(no_response()) };
    holder.acquiring.map(failed).or_else(|| {
        let Renew { next, wanted: fence, .. } = renewal_of(holder)?;
        let confirmed = Renewed { fence, expires: 0, renewed: 0, leaving: false };
        let result = if timeout_is_success { Ok(confirmed) } else { Err(no_response()) };
        Some(Reply::Renew { next, result })
    })
}

/// Returns the tokens that a holder has.
pub fn tokens_of(holder: &Holder) -> impl Iterator<Item = Token> + use<> {
    let held = holder.hold.as_ref().map(|hold| hold.grant.token);
    let renewal = renewal_of(holder).map(|renewal| [renewal.token, renewal.next]);
    held.into_iter().chain(renewal.into_iter().flatten()).chain(holder.acquiring)
}
