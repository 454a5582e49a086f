//! What can happen next.

use super::actors::{Arrival, Broker, Member, Message, Outcome, reading};
use super::scenario::{BLOCK_WINDOW, Scenario};
use super::world::{Action, World};

impl World {
    pub fn actions(&self, scenario: &Scenario, actions: &mut Vec<Action>) {
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
                (0..2).flat_map(|broker| both.map(|is_heard| Action::Stray { broker, is_heard })),
            );
        }
        if self.run < scenario.restorations {
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
        if self.mischief > 0 && scenario.kills {
            actions.push(Action::Kill { broker });
        }
        // A forked child has no thread.
        if known.is_forked {
            return;
        }
        if self.mischief > 0 && scenario.forks {
            actions.push(Action::Fork { parent: broker });
        }
        let outcomes: &[Outcome] = if scenario.is_slow {
            &[Outcome::UnderWay]
        } else {
            &[Outcome::Answered, Outcome::Unheard, Outcome::Lost]
        };
        let options = scenario.options();
        for (slot, holder) in known.holders().enumerate() {
            let waits =
                holder.acquiring.is_some() || holder.hold.as_ref().is_some_and(|hold| hold.waiting);
            if waits {
                actions.push(Action::TimeOut { broker, slot });
                continue;
            }
            if scenario.is_slow && !known.messages.is_empty() {
                continue;
            }
            for outcome in outcomes {
                let blocks = if holder.hold.is_none() { scenario.blocks } else { 1 };
                let clocks = scenario.readings.iter().map(|reading| self.time + reading);
                // Nothing comes of it, or nothing that can be told from this.
                let is_lost = *outcome == Outcome::Lost && holder.hold.is_none();
                let is_due = |clock: &i64| {
                    known.keepers[slot].is_due(&options, &reading(*clock), BLOCK_WINDOW, 0)
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
                if scenario.gives_back && holder.hold.is_some() && *outcome != Outcome::Unheard {
                    actions.push(Action::GiveBack { broker, slot, outcome: *outcome });
                }
            }
        }
        for (message, sent) in known.messages.iter().enumerate() {
            actions.push(Action::LoseMessage { broker, message });
            if !sent.is_request() {
                actions.push(Action::Hear { broker, message });
                continue;
            }
            let blocks = if matches!(sent, Message::Acquire { .. }) { scenario.blocks } else { 1 };
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
        let strays = scenario.repeats && self.mischief > 0 && self.stray.is_none();
        let arrivals: &[Arrival] =
            if strays { &[Arrival::Once, Arrival::Twice, Arrival::Late] } else { &[Arrival::Once] };
        let clocks = || scenario.readings.iter().map(|reading| self.time + reading);
        let used_up = known.cell.is_none_or(|cell| cell.is_fenced_off);
        for &arrival in arrivals {
            for clock in clocks() {
                for broker in (0..2).filter(|_| used_up) {
                    if known.asked.is_some_and(|(asked, _)| asked != broker) {
                        continue;
                    }
                    actions.push(Action::Ask { member, broker, clock, arrival, is_heard: true });
                    if scenario.repeats {
                        actions.push(Action::Ask {
                            member,
                            broker,
                            clock,
                            arrival,
                            is_heard: false,
                        });
                    }
                }
                if let Some(cell) = known.cell.filter(|cell| cell.answer.is_none()) {
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
        if known.asked.is_some() {
            actions.push(Action::GiveUp { member });
        }
        let Some(cell) = known.cell else { return };
        if cell.answer.is_some() {
            actions.push(Action::HearExtended { member });
            actions.push(Action::MissExtended { member });
        }
        let matters = |tick: &u64| match self.watched {
            Some((watched, node, _)) => (*tick, cell.node) == (watched, node),
            None => true,
        };
        let ticks = (cell.word..cell.limit).filter(matters);
        actions.extend(ticks.map(|tick| Action::Issue { member, tick }));
    }
}
