//! The members: their keepers' instructions, and their requests to brokers.

use std::time::Duration;

use flakeid_core::Error;
use flakeid_protocol::http::{AnswerJson, Exchange, HttpAnswer, Reply as HttpReply};
use flakeid_protocol::keeper::{Begin, Demand, Driver, Input, Output, Reading, Reply, Report};
use flakeid_protocol::no_other_lessor;
use flakeid_protocol::store::Fault;

use crate::config::Mutant;
use crate::event::Event;
use crate::member::{Generator, Member, Pending};
use crate::network::Link;
use crate::windows::Window;
use crate::world::{Message, World};

/// The time after a failure for which callers do not wake the keeper, in milliseconds.
const RETRY_MS: u64 = 200;

impl World {
    /// Starts a process of a member.
    pub fn start(&mut self, member: usize) {
        let Member { number, process, wake, attempt, .. } = self.members[member];
        let new =
            Member::new(&self.config, &self.layout, number, process + 1, self.now, &self.random);
        self.members[member] = Member { wake, attempt, ..new };
        self.liveness.starts(member, self.now);
        self.wake(member);
    }

    /// Wakes a member's keeper, because its timer has expired or a caller needs IDs.
    pub fn wake(&mut self, member: usize) {
        if !self.members[member].runs || self.members[member].pending.is_some() {
            return;
        }
        let fresh = self.shared_token.unwrap_or_else(|| self.random.token());
        let passed = Duration::from_millis(self.now);
        let input = self.members[member].keeper.wake(passed, 0, fresh);
        self.follow_member(member, input);
    }

    /// Passes an input to a member's keeper, sends its requests, and schedules its next wake.
    pub fn follow_member(&mut self, member: usize, input: Input) {
        self.members[member].issue(&self.layout, self.now);
        MemberDriver { world: self, member }.follow(input);
        self.proceed_member(member);
    }

    /// Sends the next request of a member, or schedules the next wake if there is none.
    fn proceed_member(&mut self, member: usize) {
        while self.members[member].pending.is_none()
            && let Some((demand, read)) = self.members[member].demands.pop_front()
        {
            self.begin_exchange(member, demand, read);
        }
        if self.members[member].pending.is_none() {
            self.schedule(member);
        }
    }

    /// Schedules the next wake of a member without a pending request.
    fn schedule(&mut self, member: usize) {
        let reading = self.members[member].reading(self.now, &self.random);
        let known = &mut self.members[member];
        if !known.runs {
            return;
        }
        let rest = known.keeper.rest(&reading);
        let pause = known.keeper.pause(reading.passed);
        let ms = |time: Duration| time.as_micros().div_ceil(1_000) as u64;
        // A caller wakes the keeper at the end of the window, and repeats its call after a failure.
        let ends = self.liveness.window_ends(member);
        let has_failed = known.keeper.progress().status.last_error.is_some();
        let called = if ends > self.now {
            ends
        } else if has_failed {
            self.now + RETRY_MS
        } else {
            self.now + 1
        };
        let at = (self.now + ms(rest)).min(called).max(self.now + ms(pause));
        known.wake += 1;
        self.queue.push(at, Event::Wake { member: member as u32, wake: known.wake });
    }

    /// Begins to send a request to one broker after another.
    fn begin_exchange(&mut self, member: usize, demand: Demand, read: u64) {
        let known = &mut self.members[member];
        match Exchange::new(&known.brokers, crate::config::NAMESPACE, demand.clone(), true) {
            Some(exchange) => {
                known.pending = Some(Box::new(Pending { exchange, read, broker: 0 }));
                self.send(member);
            }
            None => self.reply(member, demand, Err(no_other_lessor())),
        }
    }

    /// Sends the current HTTP request of a member's exchange.
    fn send(&mut self, member: usize) {
        let now = self.now;
        let known = &mut self.members[member];
        let Some(pending) = &mut known.pending else { return };
        let waited = Duration::from_millis(now - pending.read);
        let request = pending.exchange.request(&known.brokers, waited).unwrap();
        let host = request.url.strip_prefix("http://b").unwrap();
        let broker: usize = host.split(':').next().unwrap().parse().unwrap();
        pending.broker = broker;
        known.attempt += 1;
        let attempt = known.attempt;
        let timeout = request.timeout.as_millis() as u64;
        let message = Message { member: member as u32, attempt, broker, request };
        self.queue.push(now + timeout, Event::TimeOut { member: member as u32, attempt });
        let link = self.link(member, broker);
        self.trace(|| {
            format!("member {member} sends {} to broker {broker}: {link:?}", message.request.method)
        });
        let copies = 1 + usize::from(link.repeats(&self.random));
        for _ in 0..copies {
            let delay = link.delay(&self.random, self.config.is_slow);
            if link == Link::Refused {
                self.answer_later(member as u32, attempt, 1, Err("connection refused".into()));
            } else if let Some(delay) = delay {
                let message = self.messages.add(message.clone());
                self.queue.push(now + delay, Event::Deliver(message));
            }
        }
    }

    /// Passes a response, or the reason why no response arrived, to a member's exchange.
    pub fn answered(&mut self, member: usize, attempt: u32, answer: Result<HttpAnswer, String>) {
        let known = &mut self.members[member];
        if known.attempt != attempt {
            return;
        }
        known.attempt += 1;
        let Some(mut pending) = known.pending.take() else { return };
        let final_answer = match &answer {
            Ok(answer) if self.config.mutant == Mutant::AnswerIsFinal => {
                AnswerJson::read("", answer).err().map(|failure| Err(failure.into_fault()))
            }
            _ => None,
        };
        let result = final_answer.or_else(|| pending.exchange.answered(&mut known.brokers, answer));
        self.trace(|| format!("member {member} gets {result:?}"));
        match result {
            None => {
                self.members[member].pending = Some(pending);
                self.send(member);
            }
            Some(result) => {
                if let Ok(HttpReply::Granted(grant, _)) = &result {
                    self.members[member].granter = Some((grant.node, pending.broker));
                }
                self.reply(member, pending.exchange.into_demand(), result);
            }
        }
    }

    /// Passes the result of a request to a member's keeper.
    fn reply(&mut self, member: usize, demand: Demand, result: Result<HttpReply, Fault>) {
        let reply = match demand {
            Demand::Acquire { request, .. } => {
                Reply::Acquire { token: request.token, result: result.and_then(HttpReply::granted) }
            }
            Demand::Renew(renew) => {
                Reply::Renew { next: renew.next, result: result.and_then(HttpReply::renewed) }
            }
            Demand::Release(release) => {
                Reply::Release { node: release.node, result: result.map(drop) }
            }
        };
        self.follow_member(member, Input::Reply(reply));
    }

    /// Records the window that a member has now.
    fn note_window(&mut self, member: usize) {
        let ends = self.members[member].window_ends(&self.layout, self.now);
        self.has_window_until(member, ends);
    }
}

/// The driver of a member's keeper.
struct MemberDriver<'a> {
    world: &'a mut World,
    member: usize,
}

impl MemberDriver<'_> {
    fn member(&mut self) -> &mut Member {
        &mut self.world.members[self.member]
    }
}

impl Driver for MemberDriver<'_> {
    fn reading(&self) -> Reading {
        self.world.members[self.member].reading(self.world.now, &self.world.random)
    }

    fn handle(&mut self, reading: &Reading, input: Input) -> Vec<Output> {
        self.member().keeper.handle(reading, input)
    }

    fn begin(&mut self, begin: &Begin) -> Result<(), Error> {
        let (node, start, limit) = (begin.nodes[0], begin.start, begin.fence);
        let (world, member) = (&mut *self.world, self.member);
        world.summary.note_begin(world.now, member, node, start, limit);
        world.trace(|| format!("member {member} begins node {node} from {start} to {limit}"));
        world.members[member].generator =
            Some(Generator { node, start, limit, next: start, is_inherited: false });
        let window = Window { start, end: limit, holder: member as u32 };
        let opened = world.windows.open(node, window);
        world.check_windows(node, opened);
        world.note_window(member);
        Ok(())
    }

    fn extend(&mut self, fence: u64) -> bool {
        let (world, member) = (&mut *self.world, self.member);
        let Some(generator) = world.members[member].generator.as_mut() else { return false };
        if generator.is_inherited {
            return false;
        }
        generator.limit = generator.limit.max(fence);
        let Generator { node, start, limit, .. } = *generator;
        let extended = world.windows.extend(node, member as u32, start, limit);
        world.check_windows(node, extended);
        world.summary.note_renewal(world.now, member, limit);
        world.note_window(member);
        true
    }

    fn end(&mut self) -> (u64, bool) {
        let (world, member) = (&mut *self.world, self.member);
        let known = &mut world.members[member];
        if let Some(generator) = known.generator.take() {
            let Generator { node, start, next, limit, is_inherited } = generator;
            let has_issued = next > start || is_inherited;
            let used_until = if has_issued { (next + 1).min(limit.max(next)) } else { start };
            known.used_until = known.used_until.max(if has_issued { used_until } else { 0 });
            if !is_inherited {
                world.windows.close(node, member as u32, start, used_until);
                world.summary.note_end(world.now, member, used_until);
                world.trace(|| format!("member {member} ends node {node} at {used_until}"));
            }
        }
        world.note_window(member);
        (world.members[member].used_until, false)
    }

    fn report(&mut self, reading: &Reading, report: Report) {
        self.member().keeper.report(reading, report);
        while self.member().keeper.next_event().is_some() {}
    }

    /// Executes a renewal immediately if the network is intact and the granter renews the node. Otherwise, the
    /// request is sent over the network after the keeper's other instructions. For such a renewal, the exchange would
    /// send one request, which would change neither the exchange's list of brokers nor the broker that is asked next.
    fn send(&mut self, demand: Demand, _: Duration) -> Option<Reply> {
        let (world, member) = (&mut *self.world, self.member);
        if let Demand::Renew(renew) = &demand
            && !world.config.is_slow
            && let Some((node, broker)) = world.members[member].granter
            && node == renew.node
            && world.link(member, broker) == Link::Intact
            && world.members[member].demands.is_empty()
            && world.brokers[broker].runs()
        {
            let clock = world.broker_clock(broker);
            let renewed = world.brokers[broker].renew(renew, world.now, clock);
            if let Ok(Some(renewed)) = renewed {
                return Some(Reply::Renew { next: renew.next, result: Ok(renewed) });
            }
        }
        let now = world.now;
        world.members[member].demands.push_back((demand, now));
        None
    }
}
