//! What the store does with a request, or an operator with the store, and what it must not do.

use flakeid_protocol::operations::{self, Repair};
use flakeid_protocol::{Acquire, Refusal, Release, Renew, State};

use super::mutant::Mutant;
use super::process::Message;
use super::scenario::{NODES, Scenario};
use super::world::{Action, World};
use crate::invariant::Invariant;
use crate::store::{Contents, Disguise, MAX_SKEW_MS, ModelStore, NAMESPACE, refusal_of};

/// A request, and its sender.
#[derive(Clone, Copy)]
struct Exchange {
    message: Message,
    /// The tick after the last one in which the sender issued an ID.
    used_until: u64,
    /// Whether the sender waits for an answer, and may issue by it.
    is_awaited: bool,
}

impl World {
    fn store_at(&self, scenario: &Scenario, now: i64, disguise: Disguise) -> ModelStore {
        ModelStore {
            contents: self.contents.clone(),
            run: self.run,
            now,
            disguise,
            ages: scenario.ages,
        }
    }

    pub fn operate(&mut self, scenario: &Scenario, action: Action) {
        let mut kept = self.store_at(scenario, self.time, Disguise::None);
        let done = match action {
            Action::Operate { node, repair } => {
                let frees = scenario.mutant == Mutant::OperatorFreesAtOnce;
                let repair = match repair {
                    Repair::Release if frees => Repair::ReleaseNow,
                    repair => repair,
                };
                operations::repair(&mut kept, NAMESPACE, node, repair).map(drop)
            }
            Action::FastForward => {
                let tick = self.time.unsigned_abs() + 2;
                operations::fast_forward(&mut kept, NAMESPACE, tick).map(drop)
            }
            _ => operations::adopt(&mut kept, NAMESPACE).map(drop),
        };
        done.expect("operators are not refused");
        self.write(scenario, kept.contents, None);
    }

    pub fn deliver(&mut self, scenario: &Scenario, process: usize, message: Message, slow: bool) {
        let skew = MAX_SKEW_MS.cast_signed();
        let now = if slow { self.time - skew } else { self.time };
        let mut kept = self.store_at(scenario, now, disguise(scenario, now, &message));
        if scenario.mutant == Mutant::TtlErasesKey {
            kept.contents.remove_rows(|row| row.expires <= now);
        }
        let answer = match message {
            Message::Acquire { token, now, after } => {
                let request = Acquire { token, now, after, ..scenario.options(process).acquire };
                Some(match refusal_of(operations::acquire(&mut kept, NAMESPACE, &request)) {
                    Ok(grant) => {
                        let (node, start, fence) = (grant.node, grant.start, grant.fence);
                        Message::Granted { node, start, fence, token }
                    }
                    Err(_) => Message::NotGranted { token },
                })
            }
            Message::Renew { node, start, token, next, confirmed, wanted } => {
                // That the clocks agree is one condition more, which safety does not need while the
                // store's is right.
                let (ttl_ms, waited_ms) = (scenario.ttl, 0);
                let request =
                    Renew { node, start, token, next, confirmed, wanted, ttl_ms, now, waited_ms };
                Some(match refusal_of(operations::renew(&mut kept, NAMESPACE, &request)) {
                    Ok(answer) => Message::Renewed { next, fence: answer.fence },
                    Err(refusal) => Message::NotRenewed {
                        next,
                        fenced_off: refusal == Refusal::FencedOff,
                        restored: matches!(refusal, Refusal::Restored { .. }),
                    },
                })
            }
            Message::Release { node, token, used_until, .. } => {
                let request = Release { node, token, used_until };
                operations::release(&mut kept, NAMESPACE, &request).expect("never refused");
                None
            }
            _ => None,
        };
        let sender = &self.processes[process];
        let (used_until, is_awaited) = (sender.used_until(), sender.awaits(&message));
        let exchange = Exchange { message, used_until, is_awaited };
        self.write(scenario, kept.contents, Some(exchange));
        if let Some(answer) = answer {
            self.processes[process].send(answer);
        }
    }

    /// The store's new contents, compared with what they were: after a request, or after an operator's
    /// act.
    fn write(&mut self, scenario: &Scenario, after: Contents, exchange: Option<Exchange>) {
        let before = std::mem::replace(&mut self.contents, after);
        let latest = self.time.unsigned_abs() + MAX_SKEW_MS;
        let highest = latest + scenario.ahead + scenario.max_window + 1;
        for node in 0..NODES {
            let (old, new) = (before.row(node), self.contents.row(node));
            if old == new {
                continue;
            }
            let (fell, fence) =
                (self.contents.fence(node) < before.fence(node), before.fence(node));
            let (mut grants_low, mut grants_quarantined, mut steals) = (false, false, false);
            let (mut may_fall, mut goes_on_late) = (false, false);
            match exchange.as_ref().map(|exchange| exchange.message) {
                Some(Message::Acquire { .. }) => {
                    let start = new.map_or(0, |row| row.start);
                    grants_low = start < fence.max(self.contents.floor());
                    grants_quarantined = old.is_some_and(|row| row.state == State::Quarantined);
                    if scenario.restorations > 0 {
                        let latest = &mut self.latest_start[node as usize];
                        *latest = start.max(*latest);
                    }
                }
                Some(Message::Renew { token, start, .. }) => {
                    let is_older = old.is_some_and(|row| !self.contents.is_present(row));
                    let kept = old.and_then(|row| row.token);
                    steals = !kept.is_some_and(|kept| {
                        if is_older { kept.is_same_grant(token) } else { kept == token }
                    });
                    let is_last_window = new.is_some_and(|row| !self.contents.is_present(row));
                    self.had_last_window |= is_last_window && self.contents.fence(node) > fence;
                    // Others may have the node above a last window.
                    let latest = self.latest_start[node as usize];
                    goes_on_late = is_older
                        && exchange.is_some_and(|exchange| exchange.is_awaited)
                        && latest != start
                        && !(is_last_window && self.contents.fence(node) <= latest);
                }
                Some(Message::Release { token, used, .. }) => {
                    let until_now = exchange.map_or(0, |exchange| exchange.used_until);
                    let is_its_own = old.is_some_and(|row| row.token == Some(token));
                    let used = used.unwrap_or(until_now).min(fence);
                    may_fall = is_its_own && self.contents.fence(node) >= used;
                }
                _ => {}
            }
            let new_fence = self.contents.fence(node);
            let reached = &mut self.reached[node as usize];
            *reached = new_fence.max(*reached);
            self.break_if(fell && !may_fall, Invariant::I3, scenario);
            self.break_if(grants_low, Invariant::I4, scenario);
            self.break_if(steals, Invariant::I7, scenario);
            self.break_if(new_fence > highest, Invariant::I9, scenario);
            self.break_if(grants_quarantined, Invariant::I10, scenario);
            self.break_if(goes_on_late, Invariant::I14, scenario);
        }
        self.break_if(self.contents.floor() < before.floor(), Invariant::I4, scenario);
    }
}

fn disguise(scenario: &Scenario, now: i64, message: &Message) -> Disguise {
    match (scenario.mutant, message) {
        (Mutant::StartAtNow, Message::Acquire { .. }) => Disguise::NoFence,
        (Mutant::NoToken, Message::Renew { token, start, .. }) => Disguise::Token(*token, *start),
        (Mutant::TokenOfAnyGrant, Message::Renew { start, .. }) => Disguise::Start(*start),
        (Mutant::RollbackBlind, _) => Disguise::Continuous,
        (Mutant::ContinuesExpired | Mutant::LastWindowExpired, Message::Renew { .. }) => {
            Disguise::NeverExpires(now + scenario.ttl.cast_signed())
        }
        (Mutant::ContinuesWithoutSkew, Message::Renew { .. }) => Disguise::ExpiresLater,
        (Mutant::ContinuesBesideSiblings, Message::Renew { .. }) => Disguise::RenewedNow,
        (Mutant::LastWindowBesideSiblings, Message::Renew { .. }) => Disguise::RenewedTooEarly,
        (Mutant::ContinuesAnyGrant, Message::Renew { token, start, .. }) => {
            Disguise::GrantIfOlder(*token, *start)
        }
        (Mutant::ContinuesFixed, Message::Renew { .. }) => Disguise::NotFixed,
        (Mutant::TakesOverLive, Message::Acquire { .. }) => Disguise::Fixed,
        (Mutant::NoWait, Message::Acquire { .. }) => Disguise::NoWait,
        _ => Disguise::None,
    }
}
