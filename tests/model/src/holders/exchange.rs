//! The store's execution of requests and operator actions, and the checks of the store's new contents.

use flakeid_protocol::operations::{self, Repair};
use flakeid_protocol::{Release, Renew, State};

use super::world::{Action, NODES, World};
use crate::invariant::Invariant;
use crate::message::Message;
use crate::scenario::{Mutant, Scenario};
use crate::store::{Contents, Falsification, MAX_SKEW_MS, ModelStore, NAMESPACE};

/// A request, and its sender.
#[derive(Clone, Copy)]
struct Exchange {
    message: Message,
    /// The tick after the last one in which the sender issued an ID.
    used_until: u64,
    /// Whether the sender would accept a response, and may then issue IDs.
    is_awaited: bool,
}

impl World {
    fn store_at(&self, scenario: &Scenario, now: i64, falsification: Falsification) -> ModelStore {
        ModelStore {
            contents: self.contents.clone(),
            run: self.shown_run,
            now,
            falsification,
            ages: scenario.ages,
        }
    }

    pub fn operate(&mut self, scenario: &Scenario, action: Action) {
        let mut kept = self.store_at(scenario, self.time, Falsification::None);
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
        done.expect("operator actions are never refused");
        self.write(scenario, kept.contents, None);
    }

    pub fn deliver(&mut self, scenario: &Scenario, process: usize, message: Message, slow: bool) {
        let skew = MAX_SKEW_MS.cast_signed();
        let now = if slow { self.time - skew } else { self.time };
        let mut kept = self.store_at(scenario, now, falsification(scenario, now, &message));
        if scenario.mutant == Mutant::ExpiryDeletesRow {
            kept.contents.remove_rows(|row| row.expires <= now);
        }
        // The model omits the condition that the clocks of the holder and the store agree, because this condition is
        // necessary only if the store's clock is wrong by more than `max_skew`.
        let request = match message {
            Message::Renew(renew) => Message::Renew(Renew { now, ..renew }),
            message => message,
        };
        let response = kept.respond(request, scenario.options(process).acquire);
        let sender = &self.processes[process];
        let (used_until, is_awaited) = (sender.used_until(), sender.awaits(&message));
        let exchange = Exchange { message, used_until, is_awaited };
        self.write(scenario, kept.contents, Some(exchange));
        if let Some(response) = response {
            self.processes[process].send(response);
        }
    }

    /// Writes the outcome of a request that was executed before the restore. The product detects that the write was
    /// late, does not use the response, and makes the store count as restored.
    pub fn deliver_late(&mut self, scenario: &Scenario, process: usize, message: Message) {
        let run = std::mem::replace(&mut self.shown_run, self.run - 1);
        self.deliver(scenario, process, message, false);
        let is_mutant = matches!(scenario.mutant, Mutant::UsesLateWrite | Mutant::ForgetsLateWrite);
        if !is_mutant {
            self.shown_run = run;
        }
        if scenario.mutant != Mutant::UsesLateWrite {
            self.processes[process].in_transit.retain(Message::is_request);
        }
    }

    /// Replaces the store's contents after a request or an operator's action, and checks the new contents against the
    /// old ones.
    fn write(&mut self, scenario: &Scenario, after: Contents, exchange: Option<Exchange>) {
        let before = std::mem::replace(&mut self.contents, after);
        let latest = self.time.unsigned_abs() + MAX_SKEW_MS;
        let highest = latest + scenario.ahead + scenario.window + 1;
        for node in 0..NODES {
            let (old, new) = (before.row(node), self.contents.row(node));
            if old == new {
                continue;
            }
            let (fell, fence) =
                (self.contents.fence(node) < before.fence(node), before.fence(node));
            let (mut grants_low, mut grants_quarantined, mut steals) = (false, false, false);
            let (mut may_fall, mut continues_late) = (false, false);
            match exchange.as_ref().map(|exchange| exchange.message) {
                Some(Message::Acquire { .. }) => {
                    let start = new.map_or(0, |row| row.start);
                    grants_low = start < fence.max(self.contents.floor());
                    grants_quarantined = old.is_some_and(|row| row.state == State::Quarantined);
                    if scenario.restores > 0 {
                        let latest = &mut self.latest_start[node as usize];
                        *latest = start.max(*latest);
                    }
                }
                Some(Message::Renew(Renew { token, start, .. })) => {
                    let is_older = old.is_some_and(|row| !self.contents.is_present(row));
                    let kept = old.and_then(|row| row.token);
                    steals = !kept.is_some_and(|kept| {
                        if is_older { kept.is_same_grant(token) } else { kept == token }
                    });
                    let is_last_window = new.is_some_and(|row| !self.contents.is_present(row));
                    self.had_last_window |= is_last_window && self.contents.fence(node) > fence;
                    // Other holders may have the node for ticks above a last window.
                    let latest = self.latest_start[node as usize];
                    continues_late = is_older
                        && exchange.is_some_and(|exchange| exchange.is_awaited)
                        && latest != start
                        && !(is_last_window && self.contents.fence(node) <= latest);
                }
                Some(Message::Release(Release { token, .. }, used)) => {
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
            self.break_if(continues_late, Invariant::I14, scenario);
        }
        self.break_if(self.contents.floor() < before.floor(), Invariant::I4, scenario);
    }
}

fn falsification(scenario: &Scenario, now: i64, message: &Message) -> Falsification {
    match (scenario.mutant, message) {
        (Mutant::StartAtNow, Message::Acquire { .. }) => Falsification::NoFence,
        (Mutant::NoToken, Message::Renew(of)) => Falsification::Token(of.token, of.start),
        (Mutant::TokenOfAnyGrant, Message::Renew(of)) => Falsification::Start(of.start),
        (Mutant::RestoreUndetected, _) => Falsification::Continuous,
        (Mutant::ContinuesExpired | Mutant::LastWindowExpired, Message::Renew(_)) => {
            Falsification::NeverExpires(now + scenario.ttl.cast_signed())
        }
        (Mutant::ContinuesWithoutSkew, Message::Renew(_)) => Falsification::ExpiresLater,
        (Mutant::ContinuesDespiteOtherCopies, Message::Renew(_)) => Falsification::RenewedNow,
        (Mutant::LastWindowDespiteOtherCopies, Message::Renew(_)) => Falsification::RenewedTooEarly,
        (Mutant::ContinuesAnyGrant, Message::Renew(of)) => {
            Falsification::GrantIfOlder(of.token, of.start)
        }
        (Mutant::ContinuesFixed, Message::Renew(_)) => Falsification::NotFixed,
        (Mutant::TakesOverLive, Message::Acquire { .. }) => Falsification::Fixed,
        (Mutant::NoWait, Message::Acquire { .. }) => Falsification::NoWait,
        _ => Falsification::None,
    }
}
