//! The brokers' responses to the requests of members.

use flakeid_protocol::http::HttpAnswer;
use flakeid_protocol::{Acquire, Owner};

use crate::broker::Waiter;
use crate::config::{BEGIN_UNIX_MS, BROKER_WAIT_MS, Mutant};
use crate::event::Event;
use crate::network::Link;
use crate::world::{Answer, World};

impl World {
    /// Returns the reading of a broker's clock.
    pub fn broker_clock(&self, broker: usize) -> i64 {
        BEGIN_UNIX_MS + self.now.cast_signed() + self.brokers[broker].clock
    }

    /// Processes a request that arrives at a broker.
    pub fn deliver(&mut self, number: u32) {
        let Some(message) = self.messages.get(number) else { return };
        let (member, attempt, broker) = (message.member, message.attempt, message.broker);
        if self.link(member as usize, broker) == Link::Foreign {
            self.messages.take(number);
            let page = HttpAnswer::new(404, b"<html>not found</html>".to_vec());
            return self.answer_later(member, attempt, 1, Ok(page));
        }
        if self.brokers[broker].is_paused {
            self.brokers[broker].inbox.push(number);
            return;
        }
        if !self.brokers[broker].runs() {
            self.messages.take(number);
            return self.answer_later(member, attempt, 1, Err("connection refused".into()));
        }
        self.serve(number, broker);
    }

    fn serve(&mut self, number: u32, broker: usize) {
        let clock = self.broker_clock(broker);
        let Some(message) = self.messages.get(number) else { return };
        let node = message.request.url.rsplit('/').next().and_then(|node| node.parse().ok());
        let node = node.unwrap_or_default();
        let body = &message.request.body;
        let known = &mut self.brokers[broker];
        let answer = match message.request.method {
            "POST" => match known.parse_acquire(body, self.random.token()) {
                Ok(request) => {
                    let request = self.mutated(request);
                    return self.acquire(number, broker, request);
                }
                Err(error) => HttpAnswer::new(400, error.to_string().into_bytes()),
            },
            "PATCH" => known.answer_renewal(node, body, self.now, clock),
            _ => known.answer_release(node, body, clock),
        };
        self.respond(number, answer);
    }

    /// Returns a request as the broker sees it.
    fn mutated(&self, request: Acquire) -> Acquire {
        match self.config.mutant {
            // If all owners are equal, the comparison of owners never fails.
            Mutant::OwnerUnchecked => Acquire { owner: Owner::default(), ..request },
            Mutant::None | Mutant::AnswerIsFinal | Mutant::FollowsSteps => request,
        }
    }

    fn acquire(&mut self, message: u32, broker: usize, request: Acquire) {
        let clock = self.broker_clock(broker);
        let known = &mut self.brokers[broker];
        match known.acquire(request.clone(), clock, None) {
            Ok(Some(grant)) => {
                let answer = known.answer_grant(Ok(grant));
                self.respond(message, answer);
            }
            Err(fault) => {
                let answer = known.answer_grant(Err(fault));
                self.respond(message, answer);
            }
            Ok(None) => {
                let seen = known.attempts;
                let process = known.process;
                known.waiters.push(Waiter { message, request, arrived: self.now, seen });
                let event = Event::StopWaiting { broker: broker as u32, process, message };
                self.queue.push(self.now + BROKER_WAIT_MS, event);
                self.wake_broker(broker, self.now);
            }
        }
    }

    /// Repeats the requests that wait for another block, because the broker's thread has tried to lease blocks.
    pub fn serve_waiters(&mut self, broker: usize) {
        let clock = self.broker_clock(broker);
        for waiter in std::mem::take(&mut self.brokers[broker].waiters) {
            let Waiter { message, request, arrived, seen } = &waiter;
            let waited_ms = request.waited_ms + (self.now - arrived);
            let request = Acquire { waited_ms, ..request.clone() };
            let known = &mut self.brokers[broker];
            let result = match known.acquire(request, clock, Some(*seen)) {
                Ok(None) => {
                    known.waiters.push(waiter);
                    continue;
                }
                Ok(Some(grant)) => Ok(grant),
                Err(fault) => Err(fault),
            };
            let answer = known.answer_grant(result);
            self.respond(*message, answer);
        }
    }

    pub fn stop_waiting(&mut self, broker: usize, process: u32, message: u32) {
        let known = &mut self.brokers[broker];
        if known.process != process || !known.runs() {
            return;
        }
        // The number of an earlier request may have been used again. The earliest requests come first.
        let mut late =
            known.waiters.iter().take_while(|of| of.arrived + BROKER_WAIT_MS <= self.now);
        let Some(place) = late.position(|of| of.message == message) else { return };
        known.waiters.remove(place);
        let answer = known.refuse(&known.no_block_yet());
        self.respond(message, answer);
    }

    /// Sends a broker's response.
    fn respond(&mut self, message: u32, answer: HttpAnswer) {
        let Some(message) = self.messages.take(message) else { return };
        let link = self.link(message.member as usize, message.broker);
        if let Some(delay) = link.delay(&self.random, self.config.is_slow) {
            self.answer_later(message.member, message.attempt, delay, Ok(answer));
        }
    }

    pub fn answer_later(
        &mut self,
        member: u32,
        attempt: u32,
        delay: u64,
        result: Result<HttpAnswer, String>,
    ) {
        let answer = self.answers.add(Answer { member, attempt, result });
        self.queue.push(self.now + delay, Event::Answer(answer));
    }
}
