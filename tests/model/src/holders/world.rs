//! Everything that can be at a moment, and everything that can happen then.

use flakeid_protocol::keeper::{GeneratorState, Input, Reply};
use flakeid_protocol::operations::Repair;
use flakeid_protocol::{Holder, Token};

use super::mutant::Mutant;
use super::process::{Cell, Message, Process, WINDOW, renewal_of};
use super::scenario::{NODES, Scenario};
use crate::invariant::Invariant;
use crate::store::{self, Contents, LAYOUT, no_answer};

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct World {
    /// The store's clock; it reads up to `max_skew` less where the scenario says so.
    pub time: i64,
    /// Which run of the store's server this is.
    pub run: u8,
    pub contents: Contents,
    pub backups: Vec<Contents>,
    pub processes: Vec<Process>,
    /// One ID that was issued, its node and position: any one, so that no other need be kept.
    pub watched: Option<(u64, u64)>,
    /// The highest fence ever persisted, by node: restorations do not lower it.
    pub reached: [u64; NODES as usize],
    /// Where the latest grant of each node began, whatever became of it in a restoration.
    pub latest_start: [u64; NODES as usize],
    /// Whether a holder had the last window of its grant after a restoration.
    pub had_last_window: bool,
    /// How many more accidents there may be.
    pub mischief: u8,
    pub broken: Option<Invariant>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// The store's clock moves on.
    Tick {
        time: i64,
    },
    /// The keeper looks at its clock, which reads this.
    Wake {
        process: usize,
        member: usize,
        clock: i64,
    },
    /// A request reaches the store: for the last time or not, on a slow clock or not.
    Deliver {
        process: usize,
        message: Message,
        again: bool,
        slow: bool,
    },
    /// An answer reaches the process.
    Hear {
        process: usize,
        message: Message,
    },
    Lose {
        process: usize,
        message: Message,
    },
    TimeOut {
        process: usize,
        member: usize,
    },
    Issue {
        process: usize,
        position: u64,
        watch: bool,
    },
    Close {
        process: usize,
    },
    /// It is killed, and started again with nothing.
    Crash {
        process: usize,
    },
    Fork {
        parent: usize,
        child: usize,
    },
    Operate {
        node: u64,
        repair: Repair,
    },
    FastForward,
    Adopt,
    Backup,
    /// The store becomes another one, with an older copy's contents.
    Restore {
        copy: usize,
    },
}

impl World {
    pub fn new(scenario: &Scenario) -> Self {
        let count = scenario.identities.len();
        let mut processes: Vec<Process> = (0..count).map(|index| scenario.process(index)).collect();
        if scenario.mutant == Mutant::Plain {
            for (node, process) in (0..).zip(&mut processes) {
                process.cell = Some(plain_cell(node));
            }
        }
        let mut world = Self {
            time: 0,
            run: 0,
            contents: Contents::new(scenario.bounds(), 0),
            backups: Vec::new(),
            processes,
            watched: None,
            reached: [0; NODES as usize],
            latest_start: [0; NODES as usize],
            had_last_window: false,
            mischief: scenario.mischief,
            broken: None,
        };
        // A lease of several nodes begins once it has them all: every order of its acquires would
        // take more steps than what follows.
        if scenario.leased > 1 {
            for member in 0..scenario.leased {
                world.acquire(scenario, member);
            }
        }
        world
    }

    /// The first process acquires one of its nodes, undisturbed.
    fn acquire(&mut self, scenario: &Scenario, member: usize) {
        self.wake(scenario, 0, member, self.time);
        for _ in 0..2 {
            let message = self.processes[0].mail[0];
            self.take(0, message);
            match message.reply() {
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

    pub fn actions(&self, scenario: &Scenario, actions: &mut Vec<Action>) {
        if self.broken.is_some() {
            return;
        }
        // Where a store is restored, nothing is gained by waiting for it.
        let waits = scenario.restorations > 0 && self.run == 0 && !scenario.ages;
        let later = scenario.times.iter().find(|time| **time > self.time && !waits);
        if let Some(time) = later {
            actions.push(Action::Tick { time: *time });
        }
        let mischief = self.mischief > 0;
        for (index, process) in self.processes.iter().enumerate() {
            self.actions_of(index, process, scenario, actions);
            if mischief && scenario.crashes {
                actions.push(Action::Crash { process: index });
            }
            if mischief && scenario.forks {
                let others = (0..self.processes.len()).filter(|other| *other != index);
                actions.extend(others.map(|child| Action::Fork { parent: index, child }));
            }
        }
        if mischief && scenario.operates {
            for node in 0..scenario.nodes {
                // What lets others have a node at once is safe without a restoration.
                let restores = scenario.restorations > 0;
                let release = if restores { Repair::Release } else { Repair::ReleaseNow };
                for repair in [release, Repair::Quarantine, Repair::Lift] {
                    actions.push(Action::Operate { node, repair });
                }
            }
            actions.push(Action::FastForward);
            actions.push(Action::Adopt);
        }
        if self.run < scenario.restorations {
            if self.backups.len() < scenario.copies {
                actions.push(Action::Backup);
            }
            actions.extend((0..self.backups.len()).map(|copy| Action::Restore { copy }));
        }
    }

    fn actions_of(
        &self,
        index: usize,
        process: &Process,
        scenario: &Scenario,
        actions: &mut Vec<Action>,
    ) {
        let room = process.mail.len() < scenario.mail;
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
        let waits = |holder: &Holder| {
            holder.acquiring.is_some() || holder.hold.as_ref().is_some_and(|hold| hold.waiting)
        };
        for (member, holder) in process.holders().iter().enumerate() {
            if waits(holder) {
                actions.push(Action::TimeOut { process: index, member });
            }
        }
        let waits = process.holders().iter().any(waits);
        let mut before = None;
        for message in &process.mail {
            if before.replace(*message) == Some(*message) {
                continue;
            }
            let (process, message) = (index, *message);
            // Before it is waited for in vain, a lost message is one that takes its time.
            if !waits {
                actions.push(Action::Lose { process, message });
            }
            if !message.is_request() {
                actions.push(Action::Hear { process, message });
                continue;
            }
            for slow in if scenario.slow_clock { &[false, true][..] } else { &[false] } {
                actions.push(Action::Deliver { process, message, again: false, slow: *slow });
            }
            if scenario.repeats && self.mischief > 0 {
                actions.push(Action::Deliver { process, message, again: true, slow: false });
            }
        }
        if let Some(cell) = process.cell.as_ref().filter(|cell| !cell.closed) {
            let inclusive = u64::from(scenario.mutant == Mutant::FenceInclusive && cell.limit > 0);
            let end = (cell.limit + inclusive) * cell.per_tick();
            // On a clock that is behind the word, and on clocks that are ahead of it.
            for position in cell.beginnings().take_while(|position| *position < end) {
                actions.push(Action::Issue { process: index, position, watch: false });
                // Nobody else could issue it again; that nobody goes back is another invariant.
                if self.watched.is_none() && self.processes.len() > 1 {
                    actions.push(Action::Issue { process: index, position, watch: true });
                }
            }
        }
    }

    /// What it is afterwards; `None` if that is what it was.
    pub fn after(&self, scenario: &Scenario, action: Action) -> Option<Self> {
        let mut next = self.clone();
        match action {
            Action::Tick { time } => next.time = time,
            Action::Wake { process, member, clock } => next.wake(scenario, process, member, clock),
            Action::Deliver { process, message, again, slow } => {
                if again {
                    next.mischief -= 1;
                } else {
                    next.take(process, message);
                }
                next.deliver(scenario, process, message, slow);
            }
            Action::Hear { process, message } => {
                next.take(process, message);
                let reply = message.reply().expect("an answer");
                next.step(scenario, process, 0, Input::Reply(reply));
            }
            Action::Lose { process, message } => next.take(process, message),
            Action::TimeOut { process, member } => next.time_out(scenario, process, member),
            Action::Issue { process, position, watch } => {
                next.issue(scenario, process, position);
                if watch {
                    let cell = next.processes[process].cell.as_ref().expect("it issued");
                    next.watched = Some(cell.id(position));
                }
            }
            Action::Close { process } => next.step(scenario, process, 0, Input::Close),
            Action::Crash { process } => {
                next.mischief -= 1;
                next.crash(scenario, process);
            }
            Action::Fork { parent, child } => {
                next.mischief -= 1;
                next.fork(scenario, parent, child);
            }
            Action::Operate { .. } | Action::FastForward | Action::Adopt => {
                next.mischief -= 1;
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
                if next.run == scenario.restorations {
                    next.backups.clear();
                }
            }
        }
        let told = match action {
            Action::Hear { message, .. } => message.fence(),
            _ => None,
        };
        next.check(scenario, self, told);
        next.forget(scenario);
        (next != *self).then_some(next)
    }

    fn take(&mut self, process: usize, message: Message) {
        let mail = &mut self.processes[process].mail;
        let place = mail.binary_search(&message).expect("it is on its way");
        mail.remove(place);
    }

    fn step(&mut self, scenario: &Scenario, process: usize, clock: i64, input: Input) {
        let options = scenario.options(process);
        self.processes[process].step(&options, clock, scenario.mutant, input);
    }

    fn wake(&mut self, scenario: &Scenario, process: usize, member: usize, clock: i64) {
        let (fresh, margin, reserve) = (self.fresh(), WINDOW, u64::MAX);
        self.step(scenario, process, clock, Input::Wake { member, margin, reserve, fresh });
    }

    fn time_out(&mut self, scenario: &Scenario, process: usize, member: usize) {
        let holder = &self.processes[process].holders()[member];
        let reply = match (holder.acquiring, renewal_of(holder)) {
            (Some(token), _) => Reply::Acquire { token, result: Err(no_answer()) },
            (None, Some(renewal)) => Reply::Renew { next: renewal.next, result: Err(no_answer()) },
            (None, None) => return,
        };
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
        let mut mail = std::mem::take(&mut self.processes[index].mail);
        mail.retain(Message::is_request);
        let cell = (scenario.mutant == Mutant::Plain).then(|| plain_cell(index as u64));
        self.processes[index] = Process { cell, mail, ..scenario.process(index) };
    }

    fn fork(&mut self, scenario: &Scenario, parent: usize, child: usize) {
        self.crash(scenario, child);
        let copied = self.processes[parent].clone();
        let born = &mut self.processes[child];
        born.last = copied.last;
        born.cell = copied.cell;
        if matches!(scenario.mutant, Mutant::ForkBlind | Mutant::ForkKeepsHolder) {
            born.keeper = copied.keeper;
        } else {
            let used_until = born.used_until();
            born.keeper.generator = GeneratorState::Ended { used_until };
        }
        if let Some(cell) = born.cell.as_mut().filter(|_| scenario.mutant != Mutant::ForkBlind) {
            cell.limit = 0;
        }
        let is_zero = born.cell.as_ref().is_none_or(|cell| cell.limit == 0);
        self.break_if(!is_zero, Invariant::I6, scenario);
    }

    /// What concerns processes: `told` is the fence that one of them has just heard of.
    fn check(&mut self, scenario: &Scenario, before: &Self, told: Option<u64>) {
        let (mut beyond, mut falls) = (false, false);
        for (process, old) in self.processes.iter().zip(&before.processes) {
            let Some(cell) = &process.cell else { continue };
            let same = old.cell.as_ref().filter(|old| old.nodes == cell.nodes && !old.closed);
            let rises = same.is_none_or(|old| cell.limit > old.limit);
            beyond |= rises && cell.limit > 0 && told.is_none_or(|fence| cell.limit > fence);
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
