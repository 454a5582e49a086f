//! The actions that are possible in a world.

use super::actors::{Arrival, Broker, Member, Outcome, reading};
use super::world::{Action, World};
use crate::message::{Message, waits};
use crate::scenario::Scenario;

impl World {
    pub fn choices(&self, scenario: &Scenario, actions: &mut Vec<Action>) {
        if self.broken.is_some() {
            return;
        }
        if let Some(time) = scenario.times.iter().find(|time| **time > self.time) {
            actions.push(Action::Tick { time: *time });
        }
        for (broker, known) in self.brokers.iter().enumerate() {
            self.actions_of_broker(broker, known, scenario, actions);
        }
        for (member, known) in self.members.iter().enumerate() {
            self.actions_of_member(member, known, scenario, actions);
        }
        if self.stray.is_some() {
            let both = [true, false];
            actions.extend(
                (0..2).flat_map(|broker| {
                    both.map(|is_received| Action::Stray { broker, is_received })
                }),
            );
        }
        if self.run < scenario.restores {
            actions.push(if self.copy.is_none() { Action::Backup } else { Action::Restore });
        }
    }

    fn actions_of_broker(
        &self,
        broker: usize,
        known: &Broker,
        scenario: &Scenario,
        actions: &mut Vec<Action>,
    ) {
        if self.accidents > 0 && scenario.crashes {
            actions.push(Action::Kill { broker });
        }
        // A forked child has no thread.
        if known.is_forked {
            return;
        }
        if self.accidents > 0 && scenario.forks {
            actions.push(Action::Fork { parent: broker });
        }
        let outcomes: &[Outcome] = if scenario.is_slow {
            &[Outcome::Delayed]
        } else {
            &[Outcome::Responded, Outcome::ResponseLost, Outcome::RequestLost]
        };
        let options = scenario.options(0);
        for (slot, holder) in known.holders().enumerate() {
            if waits(holder) {
                actions.push(Action::TimeOut { broker, slot });
                continue;
            }
            if scenario.is_slow && !known.messages.is_empty() {
                continue;
            }
            for outcome in outcomes {
                let blocks = if holder.hold.is_none() { scenario.rows } else { 1 };
                let clocks = scenario.readings.iter().map(|reading| reading.at(self.time));
                // A lost acquire has no effect that the model distinguishes.
                let is_lost = *outcome == Outcome::RequestLost && holder.hold.is_none();
                let is_due = |clock: &i64| {
                    known.keepers[slot].is_due(&options, &reading(*clock), scenario.window, 0)
                };
                for clock in clocks.filter(|clock| !is_lost && is_due(clock)) {
                    actions.extend((0..blocks).map(|block| Action::Wake {
                        broker,
                        slot,
                        block,
                        clock,
                        outcome: *outcome,
                    }));
                }
                if scenario.closes && holder.hold.is_some() && *outcome != Outcome::ResponseLost {
                    actions.push(Action::ReleaseBlock { broker, slot, outcome: *outcome });
                }
            }
        }
        let clocks = scenario.readings.iter().map(|reading| reading.at(self.time));
        for clock in clocks.filter(|_| !scenario.is_slow) {
            if known.due_renewals(scenario, clock).count() > 1 {
                let action =
                    |outcome: &Outcome| Action::RenewTogether { broker, clock, outcome: *outcome };
                actions.extend(outcomes.iter().map(action));
            }
        }
        for (message, (_, sent)) in known.messages.iter().enumerate() {
            actions.push(Action::LoseMessage { broker, message });
            if !sent.is_request() {
                actions.push(Action::Receive { broker, message });
                continue;
            }
            let blocks = if matches!(sent, Message::Acquire { .. }) { scenario.rows } else { 1 };
            actions.extend((0..blocks).map(|block| Action::Deliver { broker, message, block }));
        }
    }

    fn actions_of_member(
        &self,
        member: usize,
        known: &Member,
        scenario: &Scenario,
        actions: &mut Vec<Action>,
    ) {
        let strays = scenario.repeats && self.accidents > 0 && self.stray.is_none();
        let arrivals: &[Arrival] =
            if strays { &[Arrival::Once, Arrival::Twice, Arrival::Late] } else { &[Arrival::Once] };
        let clocks = || scenario.readings.iter().map(|reading| reading.at(self.time));
        let used_up = known.cell.is_none_or(|cell| cell.is_fenced_off);
        for &arrival in arrivals {
            for clock in clocks() {
                for broker in (0..2).filter(|_| used_up) {
                    if known.requested.is_some_and(|(requested, _)| requested != broker) {
                        continue;
                    }
                    actions.push(Action::Acquire {
                        member,
                        broker,
                        clock,
                        arrival,
                        is_received: true,
                    });
                    if scenario.repeats {
                        actions.push(Action::Acquire {
                            member,
                            broker,
                            clock,
                            arrival,
                            is_received: false,
                        });
                    }
                }
                if let Some(cell) = known.cell.filter(|cell| cell.response.is_none()) {
                    if !cell.is_fenced_off {
                        actions.extend((0..2).map(|broker| Action::Extend {
                            member,
                            broker,
                            clock,
                            arrival,
                        }));
                    }
                    if scenario.releases {
                        actions.extend((cell.word..=cell.limit).map(|used_until| {
                            Action::Release { member, used_until, clock, arrival }
                        }));
                    }
                }
            }
        }
        if known.requested.is_some() {
            actions.push(Action::GiveUp { member });
        }
        let Some(cell) = known.cell else { return };
        if cell.response.is_some() {
            actions.push(Action::ReceiveExtension { member });
            actions.push(Action::LoseExtension { member });
        }
        let matters = |tick: &u64| match self.watched {
            Some((watched, node, _)) => (*tick, cell.node) == (watched, node),
            None => true,
        };
        let ticks = (cell.word..cell.limit).filter(matters);
        actions.extend(ticks.map(|tick| Action::Issue { member, tick }));
    }
}
