//! A broker and the store: blocks are leased, renewed and given back, as the broker's thread does it.

use std::collections::VecDeque;
use std::sync::Arc;

use flakeid_protocol::store::Fault;
use flakeid_protocol::{
    Acquire, Effect, Event as Heard, Grant, Holder, HolderOptions, Identity, Owner, Refusal,
    Renewed, Token, operations,
};

use crate::actors::{Broker, Confirmed, Message, Outcome};
use crate::ledger::{LAYOUT, ModelStore, NAMESPACE};
use crate::scenario::{BLOCK_WINDOW, Event, Mutant, Scenario};
use crate::world::{Action, World};

impl World {
    pub fn lease(&mut self, scenario: &Scenario, action: Action) {
        match action {
            Action::Wake { broker, slot, block, clock, outcome } => {
                let now = LAYOUT.tick_at(clock).unwrap_or(0);
                let fresh = self.fresh();
                let (margin, reserve) = (BLOCK_WINDOW, 0);
                let heard = Heard::Wake { now, unix_ms: clock, next: 0, margin, reserve, fresh };
                self.step(scenario, broker, slot, clock, heard);
                self.settle(scenario, broker, slot, block, outcome);
            }
            Action::GiveBack { broker, slot, outcome } => {
                self.step(scenario, broker, slot, self.time, Heard::Close);
                self.settle(scenario, broker, slot, 0, outcome);
            }
            Action::Deliver { broker, message, block } => {
                let request = self.broker(broker).messages.remove(message);
                let answer = self.at_store(scenario, &request, block);
                self.broker(broker).messages.extend(answer);
            }
            Action::Hear { broker, message } => {
                let answer = self.broker(broker).messages.remove(message);
                self.hear(scenario, broker, &answer);
            }
            Action::LoseMessage { broker, message } => {
                self.broker(broker).messages.remove(message);
            }
            Action::TimeOut { broker, slot } => self.time_out(scenario, broker, slot),
            _ => unreachable!("{action:?}"),
        }
    }

    /// Where it is one step, the store answers at once, or nobody ever knows.
    fn settle(
        &mut self,
        scenario: &Scenario,
        broker: usize,
        slot: usize,
        block: u64,
        outcome: Outcome,
    ) {
        if outcome == Outcome::UnderWay {
            return;
        }
        let Some(request) = self.broker(broker).messages.pop() else { return };
        let answer = match outcome {
            Outcome::Lost | Outcome::UnderWay => None,
            Outcome::Answered | Outcome::Unheard => self.at_store(scenario, &request, block),
        };
        match answer.filter(|_| outcome == Outcome::Answered) {
            Some(answer) => self.hear(scenario, broker, &answer),
            None => self.time_out(scenario, broker, slot),
        }
    }

    fn time_out(&mut self, scenario: &Scenario, broker: usize, slot: usize) {
        let holder = &self.brokers[broker].holders[slot];
        let renewal = holder.hold.as_ref().and_then(|hold| hold.renewal);
        let heard = match (holder.acquiring, renewal) {
            (Some(token), _) => Heard::NotGranted { token },
            (None, Some(renewal)) if scenario.mutant == Mutant::AckLostIsSuccess => {
                let answer = Renewed { fence: renewal.wanted, expires: 0, renewed: 0 };
                Heard::Renewed { next: renewal.next, answer }
            }
            (None, Some(renewal)) => Heard::Unanswered { next: renewal.next },
            (None, None) => return,
        };
        self.step(scenario, broker, slot, self.time, heard);
    }

    fn hear(&mut self, scenario: &Scenario, broker: usize, answer: &Message) {
        let (slot, heard) = match answer {
            Message::Granted { slot, grant } => (*slot, Heard::Granted { grant: *grant, next: 0 }),
            Message::NotGranted { slot, token } => (*slot, Heard::NotGranted { token: *token }),
            Message::Renewed { slot, next, answer } => {
                let hold = self.brokers[broker].holders[*slot].hold.as_ref();
                if hold.is_some_and(|h| !h.waiting && h.renewal.is_some_and(|r| r.next == *next)) {
                    scenario.note(Event::LateConfirmation);
                }
                (*slot, Heard::Renewed { next: *next, answer: *answer })
            }
            Message::NotRenewed { slot, next, refusal } => {
                (*slot, Heard::NotRenewed { next: *next, refusal: refusal.clone() })
            }
            Message::Acquire { .. } | Message::Renew { .. } | Message::Release(_) => {
                unreachable!("{answer:?}")
            }
        };
        self.step(scenario, broker, slot, self.time, heard);
    }

    /// The holder's step and its effects, as in the broker's thread.
    fn step(&mut self, scenario: &Scenario, broker: usize, slot: usize, clock: i64, heard: Heard) {
        let options = HolderOptions {
            window: BLOCK_WINDOW,
            ttl_ms: scenario.ttl,
            fixed: false,
            moves: false,
        };
        let mut events = VecDeque::from([heard]);
        while let Some(heard) = events.pop_front() {
            let before = &self.brokers[broker].holders[slot];
            let (next, effects) = before.step(&options, &heard);
            self.broker(broker).holders[slot] = next;
            for effect in effects {
                events.extend(self.act(scenario, broker, slot, clock, &effect));
            }
        }
        let (known, mutant) = (self.broker(broker), scenario.mutant);
        let holder = &known.holders[slot];
        if holder.hold.as_ref().is_some_and(|hold| hold.fenced_off) {
            if let Some(block) = known.owned[slot].take() {
                if mutant != Mutant::KeepsRows {
                    known.give_up(scenario, block);
                }
                known.lost.push(block);
            }
            known.holders[slot] = Holder::default();
        } else if holder.closing && holder.hold.is_none() && holder.acquiring.is_none() {
            known.holders[slot] = Holder::default();
        }
    }

    fn act(
        &mut self,
        scenario: &Scenario,
        broker: usize,
        slot: usize,
        clock: i64,
        effect: &Effect,
    ) -> Option<Heard> {
        let Self { brokers, members, .. } = self;
        let (known, mutant) = (Arc::make_mut(&mut brokers[broker]), scenario.mutant);
        let beyond = u64::from(mutant == Mutant::BeyondFence);
        match *effect {
            Effect::Acquire { token, .. } => {
                known.messages.push(Message::Acquire { slot, token, now: clock });
            }
            Effect::Renew(renew) => {
                if mutant == Mutant::BeforeConfirmed {
                    known.blocks.raise(renew.node, renew.wanted);
                }
                known.messages.push(Message::Renew { slot, renew });
            }
            Effect::Release(release) => known.messages.push(Message::Release(release)),
            Effect::Install(grant) => {
                if mutant != Mutant::GivesUpLaterGrant {
                    // What is left of an earlier grant is not this block's holder any more.
                    for owned in known.owned.iter_mut().filter(|of| **of == Some(grant.node)) {
                        *owned = None;
                        scenario.note(Event::OwnBlockAgain);
                    }
                }
                known.owned[slot] = Some(grant.node);
                let Grant { start, fence, .. } = grant;
                let confirmed = Confirmed { start, fence, used_until: start };
                known.confirmed.insert(grant.node, confirmed);
                let is_known = known.blocks.blocks().any(|(block, ..)| block == grant.node);
                if mutant == Mutant::KeepsRows && is_known {
                    known.blocks.raise(grant.node, grant.fence);
                } else {
                    let start = if mutant == Mutant::BelowStart { 0 } else { grant.start };
                    let told = Grant { start, fence: grant.fence + beyond, ..grant };
                    known.blocks.add(&told, clock);
                }
                if known.lost.contains(&grant.node) {
                    scenario.note(Event::SameBlockAgain);
                }
                let other = &brokers[1 - broker];
                if other.confirmed.contains_key(&grant.node) && !other.is_forked {
                    scenario.note(Event::TakenOver);
                }
            }
            Effect::Raise { node, fence, .. } => {
                if let Some(confirmed) = known.confirmed.get_mut(&node)
                    && mutant != Mutant::AckLostIsSuccess
                {
                    confirmed.fence = confirmed.fence.max(fence);
                }
                known.blocks.raise(node, fence + beyond);
            }
            Effect::End => {
                let used_until = known.owned[slot].take().map_or(0, |block| {
                    let is_in_use = members.iter().filter_map(|member| member.cell).any(|cell| {
                        cell.node >> scenario.block_bits == block && cell.word < cell.limit
                    });
                    if is_in_use {
                        scenario.note(Event::GivenBackInUse);
                    }
                    known.lost.push(block);
                    let rows = known.blocks.rows(0);
                    let present = rows.filter(|row| row.node >> scenario.block_bits == block);
                    let present = present.map(|row| row.fence).max().unwrap_or(0);
                    let ever = if mutant == Mutant::GivesBackAndGrants {
                        known.blocks.clone().lose(block)
                    } else {
                        known.give_up(scenario, block)
                    };
                    match mutant {
                        Mutant::GivesBackOwnLast => 0,
                        Mutant::GivesBackPresentHighest => present,
                        _ => ever,
                    }
                });
                return Some(Heard::Ended { used_until });
            }
        }
        None
    }

    /// What the store answers, by the product's operations.
    fn at_store(&mut self, scenario: &Scenario, request: &Message, block: u64) -> Option<Message> {
        let mut store = ModelStore {
            contents: std::mem::take(&mut self.contents),
            run: self.run,
            now: self.time,
            bounds: scenario.bounds(),
            block_bits: scenario.block_bits,
            is_blind: scenario.mutant == Mutant::RollbackBlind,
        };
        let answer = match *request {
            Message::Acquire { slot, token, now } => {
                let asked = block_request(scenario, token, block, now);
                Some(match refused(operations::acquire(&mut store, NAMESPACE, &asked)) {
                    Ok(grant) => {
                        if self.run > 0 {
                            scenario.note(Event::GrantsAfterRestoration);
                        }
                        Message::Granted { slot, grant }
                    }
                    Err(_) => Message::NotGranted { slot, token },
                })
            }
            Message::Renew { slot, renew } => {
                let next = renew.next;
                Some(match refused(operations::renew(&mut store, NAMESPACE, &renew)) {
                    Ok(answer) => {
                        if self.run > 0 && renew.start < store.contents.floor {
                            scenario.note(Event::Continues);
                        }
                        Message::Renewed { slot, next, answer }
                    }
                    Err(refusal) => Message::NotRenewed { slot, next, refusal },
                })
            }
            Message::Release(release) => {
                let released = operations::release(&mut store, NAMESPACE, &release);
                refused(released).expect("a release is not refused");
                None
            }
            _ => unreachable!("{request:?}"),
        };
        self.contents = store.contents;
        answer
    }
}

impl Broker {
    /// Grants nothing more in a block; returns up to where its windows reach.
    fn give_up(&mut self, scenario: &Scenario, block: u64) -> u64 {
        let used_until = self.blocks.lose(block);
        if let Some(confirmed) = self.confirmed.remove(&block) {
            // The model takes the one for the other.
            let is_product = scenario.mutant == Mutant::Nothing;
            assert!(!is_product || confirmed.used_until == used_until);
        }
        used_until
    }
}

fn block_request(scenario: &Scenario, token: Token, block: u64, now: i64) -> Acquire {
    Acquire {
        layout: LAYOUT,
        block_bits: scenario.block_bits,
        identity: Identity::Any,
        from: block,
        to: block,
        rotation: 0,
        reuse: true,
        token,
        window_ms: BLOCK_WINDOW,
        ttl_ms: scenario.ttl,
        now,
        waited_ms: 0,
        after: 0,
        owner: Owner::default(),
    }
}

/// The store's answer. It has no faults.
fn refused<T>(answer: Result<T, Fault>) -> Result<T, Refusal> {
    answer.map_err(|fault| match fault {
        Fault::Refused(refusal) => refusal,
        fault => panic!("{fault:?}"),
    })
}
