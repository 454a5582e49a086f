//! A simulated member: a process with the product's keeper and list of brokers, and a simulated generator.

use std::collections::VecDeque;
use std::time::Duration;

use flakeid_core::Layout;
use flakeid_protocol::Identity;
use flakeid_protocol::http::{Brokers, Exchange};
use flakeid_protocol::keeper::{Demand, GeneratorState, LeaseKeeper, LeaseOptions, Reading};

use crate::config::{BEGIN_UNIX_MS, Config, Mutant, NAMESPACE};
use crate::event::Event;
use crate::network::ZONES;
use crate::random::Random;

/// The distance of a generator from the clock that only a step of the clock explains, in milliseconds.
const FAR_MS: i64 = 60_000;

/// A generator that issues IDs in every tick of its window that the clock reaches.
#[derive(Clone, Copy, Debug)]
pub struct Generator {
    pub node: u64,
    pub start: u64,
    pub limit: u64,
    /// The tick of the next ID.
    pub next: u64,
    /// Whether a parent process created the generator, which then issues no IDs in this process.
    pub is_inherited: bool,
}

/// A request to brokers that has no final response yet.
pub struct Pending {
    pub exchange: Exchange,
    /// The time at which the member's clock was read for the request.
    pub read: u64,
    pub broker: usize,
}

pub struct Member {
    pub keeper: LeaseKeeper,
    pub brokers: Brokers,
    /// The latest granted node, and the broker that granted the node.
    pub granter: Option<(u64, usize)>,
    pub generator: Option<Generator>,
    /// The first tick that no earlier generator of this process can have used.
    pub used_until: u64,
    /// The difference between the member's clock and the true time, in milliseconds.
    pub clock: i64,
    pub pending: Option<Box<Pending>>,
    /// Demands of the keeper that wait for the pending request, with the times at which the clock was read.
    pub demands: VecDeque<(Demand, u64)>,
    /// The events that happened while the process was stopped.
    pub deferred: Vec<Event>,
    /// The number of scheduled wakes, and of HTTP requests. Earlier wakes and responses have no effect.
    pub wake: u32,
    pub attempt: u32,
    pub runs: bool,
    pub is_paused: bool,
    pub zone: u8,
    pub number: u32,
    pub process: u32,
    /// The time since which the process runs with a correct clock.
    pub good_since: u64,
}

impl Member {
    /// Starts a process of the member with the given number.
    pub fn new(
        config: &Config,
        layout: &Layout,
        number: u32,
        process: u32,
        now: u64,
        random: &Random,
    ) -> Self {
        Self {
            keeper: keeper(
                config,
                layout,
                number,
                process,
                (now, random),
                GeneratorState::Ended { used_until: 0 },
            ),
            brokers: brokers(config, random),
            granter: None,
            generator: None,
            used_until: 0,
            clock: random.between(-200, 200),
            pending: None,
            demands: VecDeque::new(),
            deferred: Vec::new(),
            wake: 0,
            attempt: 0,
            runs: true,
            is_paused: false,
            zone: (number as usize % ZONES) as u8,
            number,
            process,
            good_since: now,
        }
    }

    /// Replaces the process with a forked child of `parent`, which is at the given state.
    pub fn fork(
        &mut self,
        parent: &Fork,
        config: &Config,
        layout: &Layout,
        now: u64,
        random: &Random,
    ) {
        let (number, process) = (self.number, self.process + 1);
        let (wake, attempt) = (self.wake + 1, self.attempt + 1);
        *self = Self {
            keeper: keeper(config, layout, number, process, (now, random), parent.state()),
            generator: parent.generator.map(|of| Generator { is_inherited: true, ..of }),
            used_until: parent.used_until,
            clock: parent.clock,
            wake,
            attempt,
            ..Self::new(config, layout, number, process, now, random)
        };
    }

    /// Returns the reading of the member's clock, in Unix milliseconds.
    pub const fn read(&self, now: u64) -> i64 {
        BEGIN_UNIX_MS + now.cast_signed() + self.clock
    }

    pub fn reading(&self, now: u64, random: &Random) -> Reading {
        Reading {
            unix_ms: Ok(self.read(now)),
            passed: Duration::from_millis(now),
            next: self.generator.map(|generator| generator.next),
            jitter: random.jitter(),
        }
    }

    /// Issues IDs in all ticks of the window that the clock has reached. After a long step of the clock, the generator
    /// issues no IDs, because the window has ended.
    pub fn issue(&mut self, layout: &Layout, now: u64) {
        let reading = self.read(now);
        if let Some(generator) = self.generator.as_mut().filter(|of| !of.is_inherited)
            && reading < layout.unix_ms_at(generator.limit) + FAR_MS
            && let Ok(tick) = layout.tick_at(reading.max(layout.epoch()))
        {
            generator.next = generator.next.max(tick.min(generator.limit));
        }
    }

    /// Returns the time at which the member's window ends according to its clock. A generator that is too far ahead of
    /// the clock issues no IDs, so it counts as a generator without a window.
    pub fn window_ends(&self, layout: &Layout, now: u64) -> u64 {
        match self.generator {
            Some(generator) if layout.unix_ms_at(generator.next) > self.read(now) + FAR_MS => 0,
            Some(generator) if !generator.is_inherited => {
                let end = layout.unix_ms_at(generator.limit) - BEGIN_UNIX_MS - self.clock;
                end.max(0).cast_unsigned()
            }
            _ => 0,
        }
    }
}

/// The memory of a process at the time of a fork.
#[derive(Clone, Copy)]
pub struct Fork {
    pub generator: Option<Generator>,
    pub used_until: u64,
    pub clock: i64,
}

impl Fork {
    const fn state(&self) -> GeneratorState {
        match self.generator {
            Some(_) => GeneratorState::Open,
            None => GeneratorState::Ended { used_until: self.used_until },
        }
    }
}

fn keeper(
    config: &Config,
    layout: &Layout,
    number: u32,
    process: u32,
    (now, random): (u64, &Random),
    state: GeneratorState,
) -> LeaseKeeper {
    let mut options = LeaseOptions { namespace: NAMESPACE.into(), ..LeaseOptions::new(*layout) };
    options.moves = config.brokers > 1 && config.mutant != Mutant::AnswerIsFinal;
    // A forked child requests any node, and every fourth process has a name.
    if number.is_multiple_of(4) && state != GeneratorState::Open {
        options.identity = Identity::Name(format!("member-{number}"));
    }
    let reading = Reading {
        unix_ms: Ok(BEGIN_UNIX_MS + now.cast_signed()),
        passed: Duration::from_millis(now),
        next: None,
        jitter: random.jitter(),
    };
    let options = options.of_keeper(format!("host-{number}"), process);
    LeaseKeeper::new(options, "http://…", NAMESPACE, state, &reading)
}

fn brokers(config: &Config, random: &Random) -> Brokers {
    let hosts: Vec<String> = (0..config.brokers).map(|broker| format!("b{broker}:7117")).collect();
    let url = format!("http://{}/", hosts.join(","));
    let first = flakeid_protocol::random::fraction(random.bits().into());
    Brokers::read(&url, None, first).unwrap().0
}
