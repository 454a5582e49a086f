//! A broker and the store: blocks are leased, renewed and given back, as the broker's thread does it.

use std::sync::Arc;

use flakeid_protocol::keeper::{Begin, Demand, Input, Output, Reply};
use flakeid_protocol::store::Fault;
use flakeid_protocol::{Acquire, Grant, Renewed, operations};

use super::actors::{Broker, Confirmed, Message, Outcome, reading};
use super::scenario::{BLOCK_WINDOW, Event, Mutant, Scenario};
use super::world::{Action, World};
use crate::store::{Disguise, ModelStore, NAMESPACE, no_answer, refusal_of};

impl World {
    pub fn lease(&mut self, scenario: &Scenario, action: Action) {
        match action {
            Action::Wake { broker, slot, block, clock, outcome } => {
                let (fresh, margin, reserve) = (self.fresh(), BLOCK_WINDOW, 0);
                let input = Input::Wake { member: 0, margin, reserve, fresh };
                self.step(scenario, broker, slot, clock, input);
                self.settle(scenario, broker, slot, block, outcome);
            }
            Action::GiveBack { broker, slot, outcome } => {
                self.step(scenario, broker, slot, self.time, Input::Close);
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
        let holder = self.brokers[broker].holder(slot);
        let renewal = holder.hold.as_ref().and_then(|hold| hold.renewal);
        let reply = match (holder.acquiring, renewal) {
            (Some(token), _) => Reply::Acquire { token, result: Err(no_answer()) },
            (None, Some(renewal)) if scenario.mutant == Mutant::AckLostIsSuccess => {
                let answer = Renewed { fence: renewal.wanted, expires: 0, renewed: 0 };
                Reply::Renew { next: renewal.next, result: Ok(answer) }
            }
            (None, Some(renewal)) => Reply::Renew { next: renewal.next, result: Err(no_answer()) },
            (None, None) => return,
        };
        self.step(scenario, broker, slot, self.time, Input::Reply(reply));
    }

    fn hear(&mut self, scenario: &Scenario, broker: usize, answer: &Message) {
        let (slot, reply) = match answer {
            Message::Granted { slot, grant } => {
                (*slot, Reply::Acquire { token: grant.token, result: Ok(*grant) })
            }
            Message::NotGranted { slot, token } => {
                (*slot, Reply::Acquire { token: *token, result: Err(no_answer()) })
            }
            Message::Renewed { slot, next, answer } => {
                let hold = self.brokers[broker].holder(*slot).hold.as_ref();
                if hold.is_some_and(|h| !h.waiting && h.renewal.is_some_and(|r| r.next == *next)) {
                    scenario.note(Event::LateConfirmation);
                }
                (*slot, Reply::Renew { next: *next, result: Ok(*answer) })
            }
            Message::NotRenewed { slot, next, refusal } => {
                let result = Err(Fault::Refused(refusal.clone()));
                (*slot, Reply::Renew { next: *next, result })
            }
            Message::Acquire { .. } | Message::Renew { .. } | Message::Release(_) => {
                unreachable!("{answer:?}")
            }
        };
        self.step(scenario, broker, slot, self.time, Input::Reply(reply));
    }

    /// Passes an input to a keeper and carries out the outputs, as the broker's thread does.
    fn step(&mut self, scenario: &Scenario, broker: usize, slot: usize, clock: i64, input: Input) {
        self.follow(scenario, broker, slot, clock, input);
        let (known, mutant) = (self.broker(broker), scenario.mutant);
        let holder = known.holder(slot);
        let is_lost = holder.hold.as_ref().is_some_and(|hold| hold.fenced_off);
        let is_over = holder.closing && holder.hold.is_none() && holder.acquiring.is_none();
        if is_lost && let Some(block) = known.owned[slot].take() {
            if mutant != Mutant::KeepsRows {
                known.give_up(scenario, block);
            }
            known.lost.push(block);
        }
        if is_lost || is_over {
            known.keepers[slot] = scenario.keeper();
        }
    }

    fn follow(
        &mut self,
        scenario: &Scenario,
        broker: usize,
        slot: usize,
        clock: i64,
        input: Input,
    ) {
        let reading = reading(clock);
        let keeper = &mut self.broker(broker).keepers[slot];
        for output in keeper.handle(&scenario.options(), &reading, input) {
            match output {
                Output::Begin(begin) => {
                    self.begin(scenario, broker, slot, clock, &begin);
                    let done = Input::Began { begin, result: Ok(()) };
                    self.follow(scenario, broker, slot, clock, done);
                }
                Output::Extend { fence } => self.extend_block(scenario, broker, slot, fence),
                Output::End => {
                    let (used_until, keeps_fence) = (self.end(scenario, broker, slot), false);
                    let ended = Input::Ended { used_until, keeps_fence };
                    self.follow(scenario, broker, slot, clock, ended);
                }
                Output::Event(_) => {}
                Output::Demand(demand) => self.send(scenario, broker, slot, demand),
            }
        }
    }

    fn send(&mut self, scenario: &Scenario, broker: usize, slot: usize, demand: Demand) {
        let known = self.broker(broker);
        known.messages.push(match demand {
            Demand::Acquire { request, .. } => {
                Message::Acquire { slot, token: request.token, now: request.now }
            }
            Demand::Renew(renew) => {
                if scenario.mutant == Mutant::BeforeConfirmed {
                    known.blocks.raise(renew.node, renew.wanted);
                }
                Message::Renew { slot, renew }
            }
            Demand::Release(release) => Message::Release(release),
        });
    }

    fn begin(
        &mut self,
        scenario: &Scenario,
        broker: usize,
        slot: usize,
        clock: i64,
        begin: &Begin,
    ) {
        let Self { brokers, .. } = self;
        let (known, mutant) = (Arc::make_mut(&mut brokers[broker]), scenario.mutant);
        let hold = known.holder(slot).hold.as_ref().expect("a block was granted");
        let grant = Grant { start: begin.start, fence: begin.fence, ..hold.grant };
        if mutant != Mutant::GivesUpLaterGrant {
            // The keeper of an earlier grant does not keep this block any more.
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
            let told = Grant { start, fence: grant.fence + scenario.beyond(), ..grant };
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

    fn extend_block(&mut self, scenario: &Scenario, broker: usize, slot: usize, fence: u64) {
        let known = self.broker(broker);
        let Some(block) = known.owned[slot] else { return };
        if let Some(confirmed) = known.confirmed.get_mut(&block)
            && scenario.mutant != Mutant::AckLostIsSuccess
        {
            confirmed.fence = confirmed.fence.max(fence);
        }
        known.blocks.raise(block, fence + scenario.beyond());
    }

    /// Stops granting in a block; returns the tick up to which the broker says that it was used.
    fn end(&mut self, scenario: &Scenario, broker: usize, slot: usize) -> u64 {
        let Self { brokers, members, .. } = self;
        let known = Arc::make_mut(&mut brokers[broker]);
        let Some(block) = known.owned[slot].take() else { return 0 };
        let is_in_use = members
            .iter()
            .filter_map(|member| member.cell)
            .any(|cell| cell.node >> scenario.block_bits == block && cell.word < cell.limit);
        if is_in_use {
            scenario.note(Event::GivenBackInUse);
        }
        known.lost.push(block);
        let rows = known.blocks.rows(0);
        let present = rows.filter(|row| row.node >> scenario.block_bits == block);
        let present = present.map(|row| row.fence).max().unwrap_or(0);
        let ever = if scenario.mutant == Mutant::GivesBackAndGrants {
            known.blocks.clone().lose(block)
        } else {
            known.give_up(scenario, block)
        };
        match scenario.mutant {
            Mutant::GivesBackOwnLast => 0,
            Mutant::GivesBackPresentHighest => present,
            _ => ever,
        }
    }

    /// What the store answers, by the product's operations.
    fn at_store(&mut self, scenario: &Scenario, request: &Message, block: u64) -> Option<Message> {
        let mut store = ModelStore {
            contents: self.contents.clone(),
            run: self.run,
            now: self.time,
            disguise: match scenario.mutant {
                Mutant::RollbackBlind => Disguise::Continuous,
                _ => Disguise::None,
            },
            ages: true,
        };
        let answer = match *request {
            Message::Acquire { slot, token, now } => {
                let (from, to) = (block, block);
                let asked = Acquire { token, now, from, to, ..scenario.options().acquire };
                Some(match refusal_of(operations::acquire(&mut store, NAMESPACE, &asked)) {
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
                Some(match refusal_of(operations::renew(&mut store, NAMESPACE, &renew)) {
                    Ok(answer) => {
                        if self.run > 0 && renew.start < store.contents.floor() {
                            scenario.note(Event::Continues);
                        }
                        Message::Renewed { slot, next, answer }
                    }
                    Err(refusal) => Message::NotRenewed { slot, next, refusal },
                })
            }
            Message::Release(release) => {
                let released = operations::release(&mut store, NAMESPACE, &release);
                refusal_of(released).expect("a release is not refused");
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
