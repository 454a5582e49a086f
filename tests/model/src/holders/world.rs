//! The state of the store and the processes, and the actions that change it.

use flakeid_protocol::keeper::{GeneratorState, Input};
use flakeid_protocol::operations::Repair;
use flakeid_protocol::{Holder, Token};

use super::process::{Cell, Process};
use crate::invariant::Invariant;
use crate::message::{Message, timed_out, waits};
use crate::scenario::{Event, Mutant, Scenario};
use crate::search;
use crate::store::{self, Contents, LAYOUT};

pub const NODES: u64 = 3;

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct World {
    /// The time of the store's clock. In scenarios with a slow clock, the clock may read `max_skew` less.
    pub time: i64,
    /// The number of restores.
    pub run: u8,
    /// The run of the store's server. It is the number of restores, unless a mutant hides a restore.
    pub shown_run: u8,
    /// Whether the store still has the contents that the latest restore gave it.
    pub is_untouched: bool,
    pub contents: Contents,
    pub backups: Vec<Contents>,
    pub processes: Vec<Process>,
    /// The node and the position of one issued ID, which represents the set of all issued IDs.
    pub watched: Option<(u64, u64)>,
    /// The highest fence ever persisted for each node. A restore does not lower it.
    pub reached: [u64; NODES as usize],
    /// The highest start of a grant of each node, even if the grant was lost in a restore.
    pub latest_start: [u64; NODES as usize],
    /// Whether a holder had the last window of its grant after a restore.
    pub had_last_window: bool,
    /// The number of accidents that may still happen.
    pub accidents: u8,
    pub broken: Option<Invariant>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    // The store's clock advances.
    Tick { time: i64 },
    // The keeper wakes up while its clock reads `clock`.
    Wake { process: usize, member: usize, clock: i64 },
    // A request reaches the store. With `again`, the request also stays in transit. With `slow`, the store's clock is
    // slow.
    Deliver { process: usize, message: Message, again: bool, slow: bool },
    // A request that a process executed on contents from before the restore reaches the restored store as a write.
    DeliverLate { process: usize, message: Message },
    // A response reaches the process.
    Receive { process: usize, message: Message },
    Lose { process: usize, message: Message },
    TimeOut { process: usize, member: usize },
    Issue { process: usize, position: u64, watch: bool },
    Close { process: usize },
    // A process is killed and restarted without its state.
    Crash { process: usize },
    Fork { parent: usize, child: usize },
    Operate { node: u64, repair: Repair },
    FastForward,
    Adopt,
    Backup,
    // A new store with the contents of an older copy replaces the store.
    Restore { copy: usize },
}

impl search::World for World {
    const MOST_STEPS_OF_MUTANTS: Option<usize> = Some(20);
    type Action = Action;

    fn new(scenario: &Scenario) -> Self {
        let count = scenario.identities.len();
        let mut processes: Vec<Process> =
            (0..count).map(|index| Process::new(scenario.keeper(index))).collect();
        if scenario.mutant == Mutant::Plain {
            for (node, process) in (0..).zip(&mut processes) {
                process.cell = Some(plain_cell(node));
            }
        }
        let mut world = Self {
            time: 0,
            run: 0,
            shown_run: 0,
            is_untouched: false,
            contents: Contents::new(scenario.bounds(), 0),
            backups: Vec::new(),
            processes,
            watched: None,
            reached: [0; NODES as usize],
            latest_start: [0; NODES as usize],
            had_last_window: false,
            accidents: scenario.accidents,
            broken: None,
        };
        // A lease of several nodes begins with all its nodes, because trying every order of its acquires would take
        // more steps than the rest of the scenario.
        if scenario.leased > 1 {
            for member in 0..scenario.leased {
                world.acquire(scenario, member);
            }
        }
        world
    }

    fn actions(&self, scenario: &Scenario, actions: &mut Vec<Action>) {
        if self.broken.is_some() {
            return;
        }
        // If a store will be restored, letting time pass before the restore leads to no further cases.
        let waits = scenario.restores > 0 && self.run == 0 && !scenario.ages;
        let later = scenario.times.iter().find(|time| **time > self.time && !waits);
        if let Some(time) = later {
            actions.push(Action::Tick { time: *time });
        }
        let allows_accidents = self.accidents > 0;
        for (index, process) in self.processes.iter().enumerate() {
            self.actions_of(index, process, scenario, actions);
            if allows_accidents && scenario.crashes {
                actions.push(Action::Crash { process: index });
            }
            if allows_accidents && scenario.forks {
                let others = (0..self.processes.len()).filter(|other| *other != index);
                actions.extend(others.map(|child| Action::Fork { parent: index, child }));
            }
        }
        if allows_accidents && scenario.operates {
            for node in 0..scenario.rows {
                // A release that makes a node available at once is safe only without a restore.
                let restores = scenario.restores > 0;
                let release = if restores { Repair::Release } else { Repair::ReleaseNow };
                for repair in [release, Repair::Quarantine, Repair::Lift] {
                    actions.push(Action::Operate { node, repair });
                }
            }
            actions.push(Action::FastForward);
            actions.push(Action::Adopt);
        }
        if self.run < scenario.restores {
            if self.backups.len() < scenario.copies {
                actions.push(Action::Backup);
            }
            actions.extend((0..self.backups.len()).map(|copy| Action::Restore { copy }));
        }
    }

    fn after(&self, scenario: &Scenario, action: Action) -> Option<Self> {
        let mut next = self.clone();
        match action {
            Action::Tick { time } => next.time = time,
            Action::Wake { process, member, clock } => next.wake(scenario, process, member, clock),
            Action::Deliver { process, message, again, slow } => {
                if again {
                    next.accidents -= 1;
                } else {
                    next.take(process, message);
                }
                next.deliver(scenario, process, message, slow);
            }
            Action::DeliverLate { process, message } => {
                scenario.note(Event::LateWrite);
                next.take(process, message);
                next.deliver_late(scenario, process, message);
            }
            Action::Receive { process, message } => {
                next.take(process, message);
                let reply = message.reply(scenario.leaves).expect("the message is a response");
                next.step(scenario, process, 0, Input::Reply(reply));
            }
            Action::Lose { process, message } => next.take(process, message),
            Action::TimeOut { process, member } => next.time_out(scenario, process, member),
            Action::Issue { process, position, watch } => {
                next.issue(scenario, process, position);
                if watch {
                    let cell =
                        next.processes[process].cell.as_ref().expect("the process issued an ID");
                    next.watched = Some(cell.id(position));
                }
            }
            Action::Close { process } => next.step(scenario, process, 0, Input::Close),
            Action::Crash { process } => {
                next.accidents -= 1;
                next.crash(scenario, process);
            }
            Action::Fork { parent, child } => {
                next.accidents -= 1;
                next.fork(scenario, parent, child);
            }
            Action::Operate { .. } | Action::FastForward | Action::Adopt => {
                next.accidents -= 1;
                next.operate(scenario, action);
                if next.contents == self.contents {
                    return None;
                }
            }
            Action::Backup => {
                if next.backups.contains(&next.contents) {
                    return None;
                }
                next.backups.push(next.contents.clone());
            }
            Action::Restore { copy } => {
                next.contents = next.backups[copy].clone();
                next.run += 1;
                next.shown_run = next.run;
                next.is_untouched = true;
                if next.run == scenario.restores {
                    next.backups.clear();
                }
            }
        }
        if next.contents != self.contents && !matches!(action, Action::Restore { .. }) {
            next.is_untouched = false;
        }
        let received = match action {
            Action::Receive { message, .. } => message.fence(),
            _ => None,
        };
        next.check(scenario, self, received);
        next.forget(scenario);
        (next != *self).then_some(next)
    }

    fn broken(&self) -> Option<Invariant> {
        self.broken
    }

    fn shows(&self, event: Event) -> bool {
        self.has_happened(event)
    }
}

impl World {
    /// Lets the first process acquire one of its nodes without other events in between.
    fn acquire(&mut self, scenario: &Scenario, member: usize) {
        self.wake(scenario, 0, member, self.time);
        for _ in 0..2 {
            let message = self.processes[0].in_transit[0];
            self.take(0, message);
            match message.reply(scenario.leaves) {
                None => self.deliver(scenario, 0, message, false),
                Some(reply) => self.step(scenario, 0, 0, Input::Reply(reply)),
            }
        }
    }

    pub fn break_if(&mut self, broken: bool, invariant: Invariant, scenario: &Scenario) {
        if broken && self.broken.is_none() && scenario.only.is_none_or(|only| only == invariant) {
            self.broken = Some(invariant);
        }
    }

    fn fresh(&self) -> Token {
        let rows = self.contents.rows().chain(self.backups.iter().flat_map(Contents::rows));
        let tokens = rows.filter_map(|row| row.token);
        store::fresh(tokens.chain(self.processes.iter().flat_map(Process::tokens)))
    }

    fn actions_of(
        &self,
        index: usize,
        process: &Process,
        scenario: &Scenario,
        actions: &mut Vec<Action>,
    ) {
        let room = process.in_transit.len() < scenario.in_transit;
        if room && scenario.mutant != Mutant::Plain {
            for reading in &scenario.readings {
                let clock = reading.at(self.time);
                let members = 0..process.holders().len();
                actions.extend(members.map(|member| Action::Wake {
                    process: index,
                    member,
                    clock,
                }));
            }
        }
        if scenario.closes && !process.keeper.is_closing() {
            actions.push(Action::Close { process: index });
        }
        for (member, holder) in process.holders().iter().enumerate() {
            if waits(holder) {
                actions.push(Action::TimeOut { process: index, member });
            }
        }
        let waits = process.holders().iter().any(waits);
        let mut before = None;
        for message in &process.in_transit {
            if before.replace(*message) == Some(*message) {
                continue;
            }
            let (process, message) = (index, *message);
            // While a holder waits, a lost message has the same effect as a delayed message, so that the model loses
            // messages only afterwards.
            if !waits {
                actions.push(Action::Lose { process, message });
            }
            if !message.is_request() {
                actions.push(Action::Receive { process, message });
                continue;
            }
            for slow in if scenario.slow_clock { &[false, true][..] } else { &[false] } {
                actions.push(Action::Deliver { process, message, again: false, slow: *slow });
            }
            if scenario.pauses && self.is_untouched {
                actions.push(Action::DeliverLate { process, message });
            }
            if scenario.repeats && self.accidents > 0 {
                actions.push(Action::Deliver { process, message, again: true, slow: false });
            }
        }
        if let Some(cell) = process.cell.as_ref().filter(|cell| !cell.closed) {
            let inclusive = u64::from(scenario.mutant == Mutant::FenceInclusive && cell.limit > 0);
            let end = (cell.limit + inclusive) * cell.per_tick();
            // A clock behind the word leads to the word itself; a clock ahead of the word leads to a later position.
            for position in cell.beginnings().take_while(|position| *position < end) {
                actions.push(Action::Issue { process: index, position, watch: false });
                // With one process, no ID is watched, because I8 already checks that a process never repeats an ID.
                if self.watched.is_none() && self.processes.len() > 1 {
                    actions.push(Action::Issue { process: index, position, watch: true });
                }
            }
        }
    }

    fn take(&mut self, process: usize, message: Message) {
        let in_transit = &mut self.processes[process].in_transit;
        let place = in_transit.binary_search(&message).expect("the message is in transit");
        in_transit.remove(place);
    }

    fn step(&mut self, scenario: &Scenario, process: usize, clock: i64, input: Input) {
        let options = scenario.options(process);
        self.processes[process].step(&options, clock, scenario.mutant, input);
    }

    fn wake(&mut self, scenario: &Scenario, process: usize, member: usize, clock: i64) {
        let (fresh, margin, reserve) = (self.fresh(), scenario.window, u64::MAX);
        self.step(scenario, process, clock, Input::Wake { member, margin, reserve, fresh });
    }

    fn time_out(&mut self, scenario: &Scenario, process: usize, member: usize) {
        let is_success = scenario.mutant == Mutant::TimeoutIsSuccess;
        let holder = &self.processes[process].holders()[member];
        let Some(reply) = timed_out(holder, is_success) else { return };
        self.step(scenario, process, 0, Input::Reply(reply));
    }

    fn issue(&mut self, scenario: &Scenario, index: usize, position: u64) {
        let process = &mut self.processes[index];
        let Some(cell) = &mut process.cell else { return };
        let per_tick = cell.per_tick();
        let tick = position / per_tick;
        let id = cell.id(position);
        let node = id.0 as usize;
        cell.word = if scenario.fills_ticks { position + 1 } else { (tick + 1) * per_tick };
        let before = process.last.replace(position);
        let closing = process.keeper.is_closing();
        self.break_if(self.watched == Some(id), Invariant::I1, scenario);
        self.break_if(tick >= self.reached[node], Invariant::I2, scenario);
        self.break_if(closing, Invariant::I6, scenario);
        self.break_if(before.is_some_and(|last| position <= last), Invariant::I8, scenario);
    }

    fn crash(&mut self, scenario: &Scenario, index: usize) {
        let mut in_transit = std::mem::take(&mut self.processes[index].in_transit);
        in_transit.retain(Message::is_request);
        let cell = (scenario.mutant == Mutant::Plain).then(|| plain_cell(index as u64));
        self.processes[index] =
            Process { cell, in_transit, ..Process::new(scenario.keeper(index)) };
    }

    fn fork(&mut self, scenario: &Scenario, parent: usize, child: usize) {
        self.crash(scenario, child);
        let copied = self.processes[parent].clone();
        let forked = &mut self.processes[child];
        forked.last = copied.last;
        forked.cell = copied.cell;
        if matches!(scenario.mutant, Mutant::ForkKeepsGenerator | Mutant::ForkKeepsHolder) {
            forked.keeper = copied.keeper;
        } else {
            let used_until = forked.used_until();
            forked.keeper.generator = GeneratorState::Ended { used_until };
        }
        if let Some(cell) =
            forked.cell.as_mut().filter(|_| scenario.mutant != Mutant::ForkKeepsGenerator)
        {
            cell.limit = 0;
        }
        let is_zero = forked.cell.as_ref().is_none_or(|cell| cell.limit == 0);
        self.break_if(!is_zero, Invariant::I6, scenario);
    }

    /// Checks the invariants that concern processes. `received` is the fence in a response that has just arrived.
    fn check(&mut self, scenario: &Scenario, before: &Self, received: Option<u64>) {
        let (mut beyond, mut falls) = (false, false);
        for (process, old) in self.processes.iter().zip(&before.processes) {
            let Some(cell) = &process.cell else { continue };
            let same = old.cell.as_ref().filter(|old| old.nodes == cell.nodes && !old.closed);
            let rises = same.is_none_or(|old| cell.limit > old.limit);
            beyond |= rises && cell.limit > 0 && received.is_none_or(|fence| cell.limit > fence);
            falls |= same.is_some_and(|old| cell.limit < old.limit) && cell.limit > 0;
        }
        let held = |holder: &Holder| {
            let hold = holder.hold.as_ref().filter(|hold| !hold.fenced_off);
            hold.map(|hold| hold.grant.token)
        };
        let holders = self.processes.iter().flat_map(Process::holders);
        let mut tokens = holders.filter_map(held);
        let mut twice = false;
        while let Some(token) = tokens.next() {
            twice |= tokens.clone().any(|other| other == token);
        }
        self.break_if(beyond, Invariant::I5, scenario);
        self.break_if(falls, Invariant::I6, scenario);
        self.break_if(twice, Invariant::I7, scenario);
    }
}

fn plain_cell(node: u64) -> Cell {
    Cell { nodes: vec![node], word: 0, limit: LAYOUT.max_tick(), closed: false }
}
