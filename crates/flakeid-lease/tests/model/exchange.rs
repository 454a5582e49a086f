//! What the store does with a request, or an operator with the store, and what it must not do.

use flakeid_lease::protocol::{Acquire, Identity, Owner, Refusal, Release, Renew, State, Token};
use flakeid_lease::store::{Fault, operations};

use crate::contents::{
    Contents, Disguise, LAYOUT, MAX_SKEW_MS, MAX_WINDOW_MS, ModelStore, NAMESPACE, NODES,
};
use crate::invariant::Invariant;
use crate::mutant::Mutant;
use crate::process::{Message, TTL_MS, WINDOW};
use crate::scenario::Scenario;
use crate::world::{Action, World};

impl World {
    fn store_at(&self, scenario: &Scenario, now: i64, disguise: Disguise) -> ModelStore {
        let max_ahead_ms = scenario.ahead;
        ModelStore { contents: self.contents.clone(), run: self.run, now, disguise, max_ahead_ms }
    }

    pub fn operate(&mut self, scenario: &Scenario, action: Action) {
        let mut kept = self.store_at(scenario, self.time, Disguise::None);
        let done = match action {
            Action::Operate { node, repair } => {
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
        let mut kept = self.store_at(scenario, now, disguise(scenario.mutant, &message));
        if scenario.mutant == Mutant::TtlErasesKey {
            kept.contents.rows.retain(|row| row.expires > now);
        }
        let answer = match message {
            Message::Acquire { token, now, after } => {
                let identity = scenario.identities[process].clone();
                let request = acquire(scenario, identity, token, now, after);
                Some(match refusal_of(operations::acquire(&mut kept, NAMESPACE, &request)) {
                    Ok(grant) => {
                        let (node, start, fence) = (grant.node, grant.start, grant.fence);
                        Message::Granted { node, start, fence, token }
                    }
                    Err(_) => Message::NotGranted { token },
                })
            }
            Message::Renew { node, start, token, next, wanted } => {
                let request = renew(node, start, token, next, wanted);
                Some(match refusal_of(operations::renew(&mut kept, NAMESPACE, &request)) {
                    Ok(answer) => Message::Renewed { next, fence: answer.fence },
                    Err(refusal) => Message::NotRenewed {
                        next,
                        fenced_off: refusal == Refusal::FencedOff,
                        restored: matches!(refusal, Refusal::Restored { .. }),
                    },
                })
            }
            Message::Release { node, token, used_until } => {
                let request = Release { node, token, used_until };
                operations::release(&mut kept, NAMESPACE, &request).expect("never refused");
                None
            }
            _ => None,
        };
        let used_until = self.processes[process].used_until();
        self.write(scenario, kept.contents, Some((message, used_until)));
        if let Some(answer) = answer {
            self.processes[process].send(answer);
        }
    }

    /// The store's new contents, compared with what they were: after a request of a process that has
    /// used ticks up to this one, or after an operator's act.
    fn write(&mut self, scenario: &Scenario, after: Contents, exchange: Option<(Message, u64)>) {
        let before = std::mem::replace(&mut self.contents, after);
        let highest = (self.time.unsigned_abs() + MAX_SKEW_MS) + scenario.ahead + MAX_WINDOW_MS + 1;
        for node in 0..NODES {
            let (old, new) = (before.row(node), self.contents.row(node));
            if old == new {
                continue;
            }
            let (fell, fence) =
                (self.contents.fence(node) < before.fence(node), before.fence(node));
            let (mut grants_low, mut grants_quarantined, mut steals) = (false, false, false);
            let mut may_fall = false;
            match exchange {
                Some((Message::Acquire { .. }, _)) => {
                    let start = new.map_or(0, |row| row.start);
                    grants_low = start < fence.max(self.contents.floor);
                    grants_quarantined = old.is_some_and(|row| row.state == State::Quarantined);
                }
                Some((Message::Renew { token, .. }, _)) => {
                    steals = old.is_none_or(|row| row.token != Some(token));
                }
                Some((Message::Release { token, .. }, used_until)) => {
                    let is_its_own = old.is_some_and(|row| row.token == Some(token));
                    may_fall = is_its_own && self.contents.fence(node) >= used_until.min(fence);
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
        }
        self.break_if(self.contents.floor < before.floor, Invariant::I4, scenario);
    }
}

fn disguise(mutant: Mutant, message: &Message) -> Disguise {
    match (mutant, message) {
        (Mutant::StartAtNow, Message::Acquire { .. }) => Disguise::NoFence,
        (Mutant::NoToken, Message::Renew { token, start, .. }) => Disguise::Token(*token, *start),
        (Mutant::TokenOfAnyGrant, Message::Renew { start, .. }) => Disguise::Start(*start),
        (Mutant::RollbackBlind, _) => Disguise::Continuous,
        _ => Disguise::None,
    }
}

fn acquire(scenario: &Scenario, identity: Identity, token: Token, now: i64, after: u64) -> Acquire {
    Acquire {
        layout: LAYOUT,
        identity,
        from: 0,
        to: scenario.nodes - 1,
        rotation: 0,
        reuse: true,
        token,
        window_ms: WINDOW,
        ttl_ms: TTL_MS,
        now,
        waited_ms: 0,
        after,
        owner: Owner::default(),
    }
}

fn renew(node: u64, start: u64, token: Token, next: Token, wanted: u64) -> Renew {
    Renew { node, start, token, next, wanted, ttl_ms: TTL_MS }
}

fn refusal_of<T>(answer: Result<T, Fault>) -> Result<T, Refusal> {
    match answer {
        Ok(answer) => Ok(answer),
        Err(Fault::Refused(refusal)) => Err(refusal),
        Err(fault) => panic!("this store has no faults: {fault}"),
    }
}
