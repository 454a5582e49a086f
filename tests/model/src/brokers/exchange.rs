//! The exchange between a broker and the store: the model leases, renews and releases blocks as the broker's thread
//! does.

use std::sync::Arc;
use std::time::Duration;

use flakeid_core::Error;
use flakeid_protocol::keeper::{Begin, Demand, Driver, Input, Output, Reading, Reply, Report};
use flakeid_protocol::{Acquire, Grant};

use super::actors::{Broker, Confirmed, Outcome, reading};
use super::world::{Action, World};
use crate::message::{Message, renewal_of, timed_out, waits};
use crate::scenario::{Event, Mutant, Scenario};
use crate::store::{Falsification, ModelStore};

impl World {
    pub fn lease(&mut self, scenario: &Scenario, action: Action) {
        match action {
            Action::Wake { broker, slot, block, clock, outcome } => {
                let (fresh, margin, reserve) = (self.fresh(), scenario.window, 0);
                let input = Input::Wake { member: 0, margin, reserve, fresh };
                self.step(scenario, broker, slot, clock, input);
                self.settle(scenario, broker, slot, block, outcome);
            }
            Action::RenewTogether { broker, clock, outcome } => {
                self.renew_together(scenario, broker, clock, outcome);
            }
            Action::ReleaseBlock { broker, slot, outcome } => {
                self.step(scenario, broker, slot, self.time, Input::Close);
                self.settle(scenario, broker, slot, 0, outcome);
            }
            Action::Deliver { broker, message, block } => {
                let (slot, request) = self.broker(broker).messages.remove(message);
                let response = self.at_store(scenario, request, block);
                self.broker(broker).messages.extend(response.map(|response| (slot, response)));
            }
            Action::Receive { broker, message } => {
                let (slot, response) = self.broker(broker).messages.remove(message);
                self.receive(scenario, broker, slot, response);
            }
            Action::LoseMessage { broker, message } => {
                self.broker(broker).messages.remove(message);
            }
            Action::TimeOut { broker, slot } => self.time_out(scenario, broker, slot),
            _ => unreachable!("{action:?}"),
        }
    }

    /// Completes an exchange that takes one step: the response arrives at once, or the request times out.
    fn settle(
        &mut self,
        scenario: &Scenario,
        broker: usize,
        slot: usize,
        block: u64,
        outcome: Outcome,
    ) {
        if outcome == Outcome::Delayed {
            return;
        }
        let Some((_, request)) = self.broker(broker).messages.pop() else { return };
        let response = match outcome {
            Outcome::RequestLost | Outcome::Delayed => None,
            Outcome::Responded | Outcome::ResponseLost => self.at_store(scenario, request, block),
        };
        match response.filter(|_| outcome == Outcome::Responded) {
            Some(response) => self.receive(scenario, broker, slot, response),
            None => self.time_out(scenario, broker, slot),
        }
    }

    /// Renews all blocks that are due in one transaction. The batch arrives as a whole or not at all, and so do the
    /// responses.
    fn renew_together(&mut self, scenario: &Scenario, broker: usize, clock: i64, outcome: Outcome) {
        let slots: Vec<usize> = self.brokers[broker].due_renewals(scenario, clock).collect();
        for slot in slots {
            let (fresh, margin, reserve) = (self.fresh(), scenario.window, 0);
            self.step(
                scenario,
                broker,
                slot,
                clock,
                Input::Wake { member: 0, margin, reserve, fresh },
            );
        }
        let sent = std::mem::take(&mut self.broker(broker).messages);
        let renewal = |message: &Message| match message {
            Message::Renew(renew) => *renew,
            message => unreachable!("{message:?}"),
        };
        let renewals: Vec<_> = sent.iter().map(|(_, message)| renewal(message)).collect();
        let mut responses = Vec::new();
        if outcome != Outcome::RequestLost {
            let mut store = self.store(scenario);
            responses = store.renew_together(&renewals);
            self.contents = store.contents;
        }
        if outcome != Outcome::Responded {
            for (slot, _) in sent {
                self.time_out(scenario, broker, slot);
            }
            return;
        }
        let is_confirmed = |response: &Message| matches!(response, Message::Renewed { .. });
        let confirmed = responses.iter().filter(|response| is_confirmed(response)).count();
        if (1..responses.len()).contains(&confirmed) {
            scenario.note(Event::PartlyRefused);
        }
        for (((slot, _), renewal), response) in sent.iter().zip(&renewals).zip(&responses) {
            if scenario.mutant == Mutant::OneResponseForAll
                && confirmed > 0
                && !is_confirmed(response)
            {
                // The store has not confirmed this renewal, whatever the broker assumes.
                let really_confirmed = self.brokers[broker].confirmed.clone();
                let assumed = Message::Renewed { next: renewal.next, fence: renewal.wanted };
                self.receive(scenario, broker, *slot, assumed);
                self.broker(broker).confirmed = really_confirmed;
            } else {
                self.receive(scenario, broker, *slot, *response);
            }
        }
    }

    fn time_out(&mut self, scenario: &Scenario, broker: usize, slot: usize) {
        let is_success = scenario.mutant == Mutant::TimeoutIsSuccess;
        let Some(reply) = timed_out(self.brokers[broker].holder(slot), is_success) else { return };
        self.step(scenario, broker, slot, self.time, Input::Reply(reply));
    }

    fn receive(&mut self, scenario: &Scenario, broker: usize, slot: usize, response: Message) {
        let holder = self.brokers[broker].holder(slot);
        if let Message::Renewed { next, .. } = response
            && !waits(holder)
            && renewal_of(holder).is_some_and(|renewal| renewal.next == next)
        {
            scenario.note(Event::LateConfirmation);
        }
        let reply = response.reply(false).expect("the message is a response");
        self.step(scenario, broker, slot, self.time, Input::Reply(reply));
    }

    /// Passes an input to a keeper and carries out the keeper's instructions as the broker's thread does.
    fn step(&mut self, scenario: &Scenario, broker: usize, slot: usize, clock: i64, input: Input) {
        Step { world: self, scenario, broker, slot, clock }.follow(input);
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
            known.keepers[slot] = scenario.keeper(0);
        }
    }

    /// Carries out a request at the store with the product's operations, and returns the response.
    fn at_store(&mut self, scenario: &Scenario, request: Message, block: u64) -> Option<Message> {
        let mut store = self.store(scenario);
        let acquire = Acquire { from: block, to: block, ..scenario.options(0).acquire };
        let response = store.respond(request, acquire);
        match (request, response) {
            (_, Some(Message::Granted(_))) if self.run > 0 => {
                scenario.note(Event::GrantsAfterRestore);
            }
            (Message::Renew(renew), Some(Message::Renewed { .. }))
                if self.run > 0 && renew.start < store.contents.floor() =>
            {
                scenario.note(Event::Continues);
            }
            _ => {}
        }
        self.contents = store.contents;
        response
    }
}

impl World {
    fn store(&self, scenario: &Scenario) -> ModelStore {
        ModelStore {
            contents: self.contents.clone(),
            run: self.run,
            now: self.time,
            falsification: match scenario.mutant {
                Mutant::RestoreUndetected => Falsification::Continuous,
                _ => Falsification::None,
            },
            ages: scenario.ages,
        }
    }
}

/// The driver of one keeper of a broker for one external input.
struct Step<'a> {
    world: &'a mut World,
    scenario: &'a Scenario,
    broker: usize,
    slot: usize,
    clock: i64,
}

impl Step<'_> {
    fn broker(&mut self) -> &mut Broker {
        self.world.broker(self.broker)
    }
}

impl Driver for Step<'_> {
    fn reading(&self) -> Reading {
        reading(self.clock)
    }

    fn handle(&mut self, reading: &Reading, input: Input) -> Vec<Output> {
        let (slot, options) = (self.slot, self.scenario.options(0));
        self.broker().keepers[slot].handle(&options, reading, input)
    }

    fn begin(&mut self, begin: &Begin) -> Result<(), Error> {
        let Self { scenario, broker, slot, clock, .. } = *self;
        let mutant = scenario.mutant;
        let World { brokers, .. } = &mut *self.world;
        let known = Arc::make_mut(&mut brokers[broker]);
        let hold = known.holder(slot).hold.as_ref().expect("the store granted a block");
        let grant = Grant { start: begin.start, fence: begin.fence, ..hold.grant };
        if mutant != Mutant::DropsLaterGrant {
            // The keeper with an earlier grant of this block no longer owns the block.
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
            let falsified = Grant { start, fence: grant.fence + beyond(scenario), ..grant };
            known.blocks.add(&falsified, clock);
        }
        if known.lost.contains(&grant.node) {
            scenario.note(Event::SameBlockAgain);
        }
        let other = &brokers[1 - broker];
        if other.confirmed.contains_key(&grant.node) && !other.is_forked {
            scenario.note(Event::TakenOver);
        }
        Ok(())
    }

    fn extend(&mut self, fence: u64) -> bool {
        let Self { scenario, slot, .. } = *self;
        let known = self.broker();
        let Some(block) = known.owned[slot] else { return true };
        if let Some(confirmed) = known.confirmed.get_mut(&block)
            && scenario.mutant != Mutant::TimeoutIsSuccess
        {
            confirmed.fence = confirmed.fence.max(fence);
        }
        known.blocks.raise(block, fence + beyond(scenario));
        true
    }

    /// Stops granting nodes of a block; returns the tick up to which the broker reports the block as used.
    fn end(&mut self) -> (u64, bool) {
        let Self { scenario, broker, slot, .. } = *self;
        let World { brokers, members, .. } = &mut *self.world;
        let known = Arc::make_mut(&mut brokers[broker]);
        let Some(block) = known.owned[slot].take() else { return (0, false) };
        let is_in_use = members
            .iter()
            .filter_map(|member| member.cell)
            .any(|cell| cell.node >> scenario.block_bits == block && cell.word < cell.limit);
        if is_in_use {
            scenario.note(Event::ReleasedInUse);
        }
        known.lost.push(block);
        let rows = known.blocks.rows(0);
        let present = rows.filter(|row| row.node >> scenario.block_bits == block);
        let present = present.map(|row| row.fence).max().unwrap_or(0);
        let ever = if scenario.mutant == Mutant::ReleasesAndGrants {
            known.blocks.clone().lose(block)
        } else {
            known.give_up(scenario, block)
        };
        let used_until = match scenario.mutant {
            Mutant::ReleasesAtOwnLastTick => 0,
            Mutant::ReleasesAtPresentFence => present,
            _ => ever,
        };
        (used_until, false)
    }

    fn report(&mut self, _: &Reading, _: Report) {}

    fn send(&mut self, demand: Demand, _: Duration) -> Option<Reply> {
        let Self { scenario, slot, .. } = *self;
        let known = self.broker();
        if let Demand::Renew(renew) = &demand
            && scenario.mutant == Mutant::BeforeConfirmed
        {
            known.blocks.raise(renew.node, renew.wanted);
        }
        known.messages.push((slot, Message::request(demand, None)));
        None
    }
}

impl Broker {
    /// Stops granting nodes of a block; returns the highest fence of the block's windows.
    fn give_up(&mut self, scenario: &Scenario, block: u64) -> u64 {
        let used_until = self.blocks.lose(block);
        if let Some(confirmed) = self.confirmed.remove(&block) {
            // Some mutants falsify the broker's record, so only the product's must agree with the model's.
            let is_product = scenario.mutant == Mutant::Nothing;
            assert!(!is_product || confirmed.used_until == used_until);
        }
        used_until
    }
}

/// Returns the number of ticks that the scenario's mutant adds to a block's fence.
fn beyond(scenario: &Scenario) -> u64 {
    u64::from(scenario.mutant == Mutant::BeyondFence)
}
