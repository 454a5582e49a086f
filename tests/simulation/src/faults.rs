//! The faults of a fleet, chosen by the seed.

use flakeid_protocol::keeper::Input;

use crate::broker::Phase;
use crate::event::Event;
use crate::fault::Fault;
use crate::liveness::CORRECT_MS;
use crate::member::Fork;
use crate::network::{Link, ZONES};
use crate::world::World;

/// The number of kinds of faults. A fleet on one host has another kind.
const KINDS: u64 = 16;
/// The longest time for which the clock of a host is wrong, in milliseconds. It is shorter than the longest window, so
/// that the store does not follow the clock.
const LONGEST_JUMP_MS: u64 = 9_000;

impl World {
    /// Begins a random fault, and schedules the next fault.
    pub fn begin_fault(&mut self) {
        let Some(every) = self.config.fault_every_ms else { return };
        let next = self.now + 1 + self.random.below(2 * every);
        self.queue.push(next, Event::BeginFault);
        let kind = self.random.below(KINDS + u64::from(self.config.is_one_host));
        let Some(fault) = self.choose(kind) else { return };
        self.summary.note_fault(self.now, kind);
        self.trace(|| format!("fault {kind} begins: {fault:?}"));
        let longest = match fault {
            Fault::HostClock => LONGEST_JUMP_MS,
            _ => [300, 3_000, 12_000, 40_000][self.random.below(4) as usize],
        };
        let ends = self.now + 1 + self.random.below(longest);
        let fault = self.faults.add(fault);
        self.queue.push(ends, Event::EndFault(fault));
    }

    /// Begins a fault of the given kind. Returns `None` if the fault has no duration or its target has failed already.
    fn choose(&mut self, kind: u64) -> Option<Fault> {
        let broker = self.random.below(self.brokers.len() as u64) as usize;
        match kind {
            0..=3 => self.fail_network(broker),
            4 | 5 => {
                if self.network.of_brokers[broker] != Link::Intact {
                    return None;
                }
                let links = [Link::Cut, Link::Refused, Link::Lossy, Link::Slow(1_500)];
                self.network.of_brokers[broker] = links[self.random.below(4) as usize];
                self.refresh(broker);
                Some(Fault::StoreNetwork { broker })
            }
            6 | 7 => {
                if self.brokers[broker].phase != Phase::Open || self.brokers[broker].is_paused {
                    return None;
                }
                if kind == 6 {
                    self.brokers[broker].stop();
                    self.refresh(broker);
                    return Some(Fault::BrokerKilled { broker });
                }
                let (began, length) = (self.now, 1_000 + self.random.below(20_000));
                self.brokers[broker].phase = Phase::Draining { began, ends: began + length };
                self.wake_broker(broker, self.now);
                self.refresh(broker);
                Some(Fault::BrokerDrained { broker })
            }
            8 => {
                if !self.brokers[broker].runs() {
                    return None;
                }
                self.brokers[broker].is_paused = true;
                self.refresh(broker);
                Some(Fault::BrokerPaused { broker })
            }
            9 => {
                self.brokers[broker].clock = self.wrong_clock();
                self.refresh(broker);
                self.wake_broker(broker, self.now);
                Some(Fault::BrokerClock { broker })
            }
            10 => {
                self.store.back_up();
                None
            }
            11 => self.stop_store(),
            12 => Some(self.end_members()),
            13 => {
                let members = self.some_members();
                for member in &members {
                    let known = &mut self.members[*member];
                    known.is_paused = true;
                    known.good_since = u64::MAX;
                }
                Some(Fault::MembersPaused { members })
            }
            14 => {
                let members = self.some_members();
                for member in &members {
                    let clock = self.wrong_clock();
                    self.set_clock(*member, clock);
                }
                Some(Fault::MembersClock { members })
            }
            15 => {
                self.fork_members();
                None
            }
            _ => {
                self.set_host_clock(self.random.between(120_000, 8 * 3_600_000));
                Some(Fault::HostClock)
            }
        }
    }

    /// Sets the clock of the only host.
    fn set_host_clock(&mut self, clock: i64) {
        self.store.clock = clock;
        for broker in 0..self.brokers.len() {
            self.brokers[broker].clock = clock;
            self.refresh(broker);
            self.wake_broker(broker, self.now);
        }
        for member in 0..self.members.len() {
            self.set_clock(member, clock);
        }
    }

    fn fail_network(&mut self, broker: usize) -> Option<Fault> {
        let links = [
            Link::Cut,
            Link::Cut,
            Link::Refused,
            Link::Lossy,
            Link::Slow(300),
            Link::Slow(3_000),
            Link::Foreign,
        ];
        let link = links[self.random.below(links.len() as u64) as usize];
        let all = self.random.once_in(2);
        let zones = (0..ZONES).filter(|_| all || self.random.once_in(2));
        let intact: Vec<usize> = zones.collect();
        let of_broker = &mut self.network.of_members[broker];
        let zones: Vec<usize> =
            intact.into_iter().filter(|zone| of_broker[*zone].0 == Link::Intact).collect();
        for zone in &zones {
            of_broker[*zone].0 = link;
        }
        (!zones.is_empty()).then_some(Fault::Network { broker, zones })
    }

    fn stop_store(&mut self) -> Option<Fault> {
        if self.store.is_down {
            return None;
        }
        self.store.is_down = true;
        // The clock of each run of a store differs from the true time by at most `max_skew`.
        let most = self.namespace.bounds.max_skew_ms.cast_signed();
        let most = if self.random.once_in(3) { most } else { CORRECT_MS.cast_signed() };
        let clock = if self.config.is_one_host { 0 } else { self.random.between(-most, most) };
        let backup = self.random.once_in(2).then(|| self.random.below(8) as usize);
        self.refresh_all();
        Some(Fault::StoreDown { backup, clock })
    }

    /// Ends some members. Half of them release their nodes.
    fn end_members(&mut self) -> Fault {
        let members = self.some_members();
        let token = self.random.once_in(2).then(|| self.random.token());
        for member in &members {
            if token.is_some() || !self.random.once_in(2) {
                self.kill(*member);
            } else if self.members[*member].runs && !self.members[*member].is_paused {
                self.members[*member].runs = false;
                self.liveness.stops(*member);
                self.follow_member(*member, Input::Close);
            }
        }
        Fault::MembersEnded { members, token }
    }

    /// Ends a member's process without a release. Its windows stay in the record.
    fn kill(&mut self, member: usize) {
        let known = &mut self.members[member];
        known.runs = false;
        known.is_paused = false;
        known.generator = None;
        known.pending = None;
        known.demands.clear();
        known.deferred.clear();
        known.attempt += 1;
        known.wake += 1;
        self.liveness.stops(member);
    }

    /// Forks some members. The children take the places of other members, which are killed.
    fn fork_members(&mut self) {
        for parent in self.some_members() {
            let child = self.random.below(self.members.len() as u64) as usize;
            if child == parent || !self.members[parent].runs {
                continue;
            }
            self.kill(child);
            self.members[parent].issue(&self.layout, self.now);
            let Self { members, config, layout, now, random, .. } = self;
            let of = &members[parent];
            let fork = Fork { generator: of.generator, used_until: of.used_until, clock: of.clock };
            members[child].fork(&fork, config, layout, *now, random);
            self.liveness.starts(child, self.now);
            if self.members[child].clock.unsigned_abs() > CORRECT_MS {
                self.members[child].good_since = u64::MAX;
            }
            self.trace(|| format!("member {child} is a fork of member {parent}"));
            self.wake(child);
        }
    }

    pub fn end_fault(&mut self, fault: Fault) {
        self.trace(|| format!("fault ends: {fault:?}"));
        match fault {
            Fault::Network { broker, zones } => {
                for zone in zones {
                    self.network.of_members[broker][zone] = (Link::Intact, self.now);
                }
            }
            Fault::StoreNetwork { broker } => {
                self.network.of_brokers[broker] = Link::Intact;
                self.refresh(broker);
            }
            Fault::BrokerKilled { broker } | Fault::BrokerDrained { broker } => {
                let known = &mut self.brokers[broker];
                if known.phase != Phase::Down {
                    known.stop();
                }
                self.brokers[broker].start();
                self.refresh(broker);
                self.wake_broker(broker, self.now);
            }
            Fault::BrokerPaused { broker } => self.resume_broker(broker),
            Fault::BrokerClock { broker } => {
                self.brokers[broker].clock = self.correct_clock();
                self.refresh(broker);
                self.wake_broker(broker, self.now);
            }
            Fault::StoreDown { backup, clock } => {
                self.store.is_down = false;
                self.store.clock = clock;
                self.store.restart(backup);
                self.refresh_all();
            }
            Fault::MembersEnded { members, token } => {
                self.shared_token = token;
                for member in members {
                    // A fork may run in the member's place.
                    if !self.members[member].runs {
                        self.kill(member);
                        self.start(member);
                    }
                }
                self.shared_token = None;
            }
            Fault::MembersPaused { members } => {
                for member in members {
                    self.resume(member);
                }
            }
            Fault::HostClock => self.set_host_clock(0),
            Fault::MembersClock { members } => {
                for member in members {
                    let clock = self.correct_clock();
                    self.set_clock(member, clock);
                }
            }
        }
    }

    fn resume_broker(&mut self, broker: usize) {
        let known = &mut self.brokers[broker];
        if !known.is_paused {
            return;
        }
        known.is_paused = false;
        self.refresh(broker);
        for message in std::mem::take(&mut self.brokers[broker].inbox) {
            self.deliver(message);
        }
        if self.brokers[broker].asked.is_none() {
            // The thread may have been asleep when the process was stopped.
            self.wake_broker(broker, self.now);
            self.proceed(broker);
        }
    }

    fn resume(&mut self, member: usize) {
        let known = &mut self.members[member];
        if !known.is_paused {
            return;
        }
        known.is_paused = false;
        known.good_since = if is_correct(known.clock) { self.now } else { u64::MAX };
        for event in std::mem::take(&mut known.deferred) {
            self.queue.push(self.now, event);
        }
    }

    fn set_clock(&mut self, member: usize, clock: i64) {
        let known = &mut self.members[member];
        // The generator has issued IDs until the clock was set.
        known.issue(&self.layout, self.now);
        known.clock = clock;
        if !known.is_paused {
            known.good_since = if is_correct(clock) { self.now } else { u64::MAX };
        }
        let ends = known.window_ends(&self.layout, self.now);
        self.has_window_until(member, ends);
    }

    fn some_members(&self) -> Vec<usize> {
        let all = self.members.len() as u64;
        let count = 1 + self.random.below(1 + all / 10);
        let mut members: Vec<usize> = (0..count).map(|_| self.random.below(all) as usize).collect();
        members.sort_unstable();
        members.dedup();
        members
    }

    /// Returns the error of a clock after a step, in milliseconds.
    fn wrong_clock(&self) -> i64 {
        let most = [900, 1_500, 5_000, 60_000, 7_200_000][self.random.below(5) as usize];
        self.random.between(-most, most)
    }

    fn correct_clock(&self) -> i64 {
        self.random.between(-200, 200)
    }

    fn refresh_all(&mut self) {
        for broker in 0..self.brokers.len() {
            self.refresh(broker);
        }
    }
}

fn is_correct(clock: i64) -> bool {
    clock.unsigned_abs() <= CORRECT_MS
}
