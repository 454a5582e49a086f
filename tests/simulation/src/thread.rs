//! The thread of each broker, which leases, renews and releases blocks as `flakeid::broker` does.

use std::time::Duration;

use flakeid_core::Error;
use flakeid_protocol::keeper::{
    Begin, Demand, Driver, GeneratorState, Input, Keeper, Output, Reading, Reply, Report,
    renewal_margin,
};
use flakeid_protocol::store::Fault;
use flakeid_protocol::{Grant, Handover, Refusal};

use crate::broker::{BlockHolder, Broker, Phase, Step, StoreRequest};
use crate::config::BROKER_TTL_MS;
use crate::event::Event;
use crate::network::Link;
use crate::store::unanswered;
use crate::world::World;

/// The largest number of blocks that the thread leases in one pass, as in the product.
const MOST_AT_ONCE: usize = 64;
/// The shortest and the longest pause after a failure in milliseconds, as in the product.
const PAUSES_MS: (u64, u64) = (20, 400);
/// The time after which a broker stops waiting for the store, in milliseconds.
const STORE_TIMEOUT_MS: u64 = 2_000;
/// The largest number of grants that a renewal writes to the history.
const MOST_RECORDED: usize = 256;

impl World {
    /// Wakes a broker's thread at a time, unless the thread is at work or rests after a failure.
    pub fn wake_broker(&mut self, broker: usize, at: u64) {
        let known = &mut self.brokers[broker];
        if known.stage == Step::Asleep && known.phase != Phase::Down {
            known.wake += 1;
            let event = Event::WakeBroker { broker: broker as u32, wake: known.wake };
            self.queue.push(at.max(known.rests_until), event);
        }
    }

    pub fn begin_pass(&mut self, broker: usize) {
        let known = &mut self.brokers[broker];
        if !known.runs() {
            return;
        }
        if let Phase::Draining { ends, .. } = known.phase
            && ends <= self.now
        {
            known.phase = Phase::Closing;
        }
        known.outcome = Ok(());
        if known.phase == Phase::Closing {
            known.stage = Step::Close(0);
        } else {
            known.stage = Step::Renew(0);
            self.brokers[broker].renewing = self.due(broker);
        }
        self.proceed(broker);
    }

    /// Continues a broker's thread until it waits for the store or sleeps.
    pub fn proceed(&mut self, broker: usize) {
        loop {
            let known = &mut self.brokers[broker];
            if known.asked.is_some() || !known.runs() {
                return;
            }
            if let Some((index, demand, read)) = known.demands.pop_front() {
                self.ask_store(broker, index, demand, read);
                continue;
            }
            let known = &mut self.brokers[broker];
            match known.stage {
                Step::Asleep => return,
                Step::Renew(place) if place < known.renewing.len() => {
                    known.stage = Step::Renew(place + 1);
                    let index = known.renewing[place];
                    self.wake_holder(broker, index, u64::MAX);
                }
                Step::Renew(renewed) => {
                    if renewed > 0 && known.outcome.is_ok() {
                        known.jitter = self.random.jitter();
                    }
                    known.holders.retain(|of| of.hold().is_some_and(|hold| !hold.fenced_off));
                    let size = 1_usize << known.namespace.block_bits;
                    let left = known.waiters.len().div_ceil(size).min(MOST_AT_ONCE);
                    if matches!(known.outcome, Err(Fault::Unavailable(_))) {
                        return self.settle(broker);
                    }
                    known.stage = Step::Lease { left, begun: false };
                }
                Step::Lease { left, begun } => {
                    // The latest keeper did not lease a block.
                    known.holders.pop_if(|of| begun && of.hold().is_none());
                    if left == 0 || begun && known.outcome.is_err() {
                        known.stage = Step::Release;
                        continue;
                    }
                    known.stage = Step::Lease { left: left - 1, begun: true };
                    let state = GeneratorState::Ended { used_until: 0 };
                    let keeper = Keeper::new(&known.options, state);
                    let (confirmed, last) = (self.now, Handover::default());
                    known.holders.push(BlockHolder { keeper, block: None, confirmed, last });
                    let index = known.holders.len() - 1;
                    self.wake_holder(broker, index, u64::MAX);
                }
                Step::Release => {
                    known.holders.retain(|of| of.hold().is_some());
                    if let Some(index) = self.surplus(broker) {
                        self.follow_broker(broker, index, Input::Close);
                    } else {
                        return self.settle(broker);
                    }
                }
                Step::Close(index) if index < known.holders.len() => {
                    known.stage = Step::Close(index + 1);
                    self.follow_broker(broker, index, Input::Close);
                }
                Step::Close(_) => {
                    known.stop();
                    return self.refresh(broker);
                }
            }
        }
    }

    /// Returns the blocks whose renewals are due. If there is one, also returns the blocks whose renewals are almost
    /// due, as the product does. The product limits their number, because it renews them in one transaction.
    fn due(&self, broker: usize) -> Vec<usize> {
        let known = &self.brokers[broker];
        let reading = self.broker_reading(broker);
        let tick = known.layout().tick_at(self.broker_clock(broker)).unwrap_or(0);
        let (mut due, mut nearly_due) = (Vec::new(), Vec::new());
        for (index, of) in known.holders.iter().enumerate() {
            let Some(hold) = of.hold() else { continue };
            let is_late = self.now - of.confirmed >= known.options.acquire.ttl_ms / 2;
            let margin = renewal_margin(of.keeper.window, known.jitter);
            let left = hold.grant.fence.saturating_sub(tick);
            // The keeper is asked only if a renewal may be due, because the question is expensive.
            let is_due = |margin| {
                let may_be_due = left < margin || hold.renewal.is_some();
                may_be_due && of.keeper.is_due(&known.options, &reading, margin, 0)
            };
            if is_due(if is_late { u64::MAX } else { margin }) {
                due.push(index);
            } else if is_due(margin.midpoint(of.keeper.window)) {
                nearly_due.push(index);
            }
        }
        if !due.is_empty() {
            due.append(&mut nearly_due);
        }
        due
    }

    fn broker_reading(&self, broker: usize) -> Reading {
        Reading {
            unix_ms: Ok(self.broker_clock(broker)),
            passed: Duration::from_millis(self.now),
            next: None,
            jitter: 1.0,
        }
    }

    /// Returns a block that has been empty for longer than the TTL of a member. One empty block is kept.
    fn surplus(&mut self, broker: usize) -> Option<usize> {
        let now = self.broker_clock(broker);
        let known = &mut self.brokers[broker];
        while known.blocks.expire(now) {}
        let ttl_ms = BROKER_TTL_MS.cast_signed();
        let empty = known
            .blocks
            .blocks()
            .filter(|(_, _, since)| since.is_some_and(|since| now.saturating_sub(since) >= ttl_ms));
        let block = empty.map(|(block, ..)| block).nth(1)?;
        known.holders.iter().position(|of| of.block == Some(block))
    }

    /// Ends a pass of the thread, and schedules the next pass.
    fn settle(&mut self, broker: usize) {
        let known = &mut self.brokers[broker];
        known.stage = Step::Asleep;
        known.failure = std::mem::replace(&mut known.outcome, Ok(())).err();
        known.attempts += 1;
        known.failures = if known.failure.is_some() { known.failures + 1 } else { 0 };
        let pause = if known.failures == 0 {
            1
        } else {
            let pause = (PAUSES_MS.0 << known.failures.min(10)).min(PAUSES_MS.1);
            (pause as f64 * self.random.jitter()) as u64
        };
        known.rests_until = self.now + pause;
        self.serve_waiters(broker);
        let at = if self.brokers[broker].waiters.is_empty() {
            self.now + self.until_due(broker)
        } else {
            self.now
        };
        self.wake_broker(broker, at);
    }

    fn until_due(&self, broker: usize) -> u64 {
        let known = &self.brokers[broker];
        let (layout, clock) = (known.layout(), self.broker_clock(broker));
        let half_ttl = known.options.acquire.ttl_ms / 2;
        let holds = known.holders.iter().filter_map(|of| {
            let left = half_ttl.saturating_sub(self.now - of.confirmed);
            let margin = renewal_margin(of.keeper.window, known.jitter);
            let at = layout.unix_ms_at(of.hold()?.grant.fence.saturating_sub(margin));
            Some(at.saturating_sub(clock).max(1).cast_unsigned().min(left.max(1)))
        });
        let ends = match known.phase {
            Phase::Draining { ends, .. } => ends.saturating_sub(self.now).max(1),
            _ => u64::MAX,
        };
        holds.min().unwrap_or(u64::MAX).min(BROKER_TTL_MS / 4).min(ends)
    }

    fn wake_holder(&mut self, broker: usize, index: usize, margin: u64) {
        let fresh = self.random.token();
        self.follow_broker(broker, index, Input::Wake { member: 0, margin, reserve: 0, fresh });
    }

    pub fn follow_broker(&mut self, broker: usize, index: usize, input: Input) {
        BlockDriver { world: self, broker, index }.follow(input);
    }

    /// Sends a request of a broker's thread to the store.
    fn ask_store(&mut self, broker: usize, index: usize, demand: Demand, read: u64) {
        let clock = self.broker_clock(broker);
        let known = &mut self.brokers[broker];
        let block = known.holders[index].block;
        let handover = match (&demand, block) {
            (Demand::Renew(_), Some(block)) => known.blocks.hand_over(block, clock, MOST_RECORDED),
            (Demand::Release(_), _) => std::mem::take(&mut known.holders[index].last),
            _ => Handover::default(),
        };
        known.requests += 1;
        let request = known.requests;
        known.asked = Some(StoreRequest { index, demand, handover, sent: self.now, read });
        let event = Event::Store { broker: broker as u32, request };
        let link = self.network.of_brokers[broker];
        if self.store.is_down || link == Link::Refused {
            return self.store_unanswered(broker, request, self.now + 1);
        }
        if self.config.is_slow || link != Link::Intact {
            self.store_unanswered(broker, request, self.now + STORE_TIMEOUT_MS);
            if let Some(delay) = link.delay(&self.random, self.config.is_slow) {
                self.queue.push(self.now + delay, event);
            }
        } else if let Some(asked) = self.brokers[broker].asked.take() {
            let (reply, until) = self.store.respond(&asked, self.now);
            self.brokers[broker].asked = Some(asked);
            self.take_reply(broker, reply, until);
        }
    }

    fn store_unanswered(&mut self, broker: usize, request: u32, at: u64) {
        let Some(asked) = &self.brokers[broker].asked else { return };
        let reply = self.replies.add((unanswered(&asked.demand), 0));
        self.queue.push(at, Event::StoreAnswer { broker: broker as u32, request, reply });
    }

    /// Executes a request that arrives at the store. A request that the broker no longer waits for is lost, because
    /// the broker has closed the connection.
    pub fn at_store(&mut self, broker: usize, request: u32) {
        let known = &self.brokers[broker];
        let Some(asked) = known.asked.as_ref().filter(|_| known.requests == request) else {
            return;
        };
        if self.store.is_down {
            return;
        }
        let (reply, until) = self.store.respond(asked, self.now);
        let link = self.network.of_brokers[broker];
        if let Some(delay) = link.delay(&self.random, self.config.is_slow) {
            let reply = self.replies.add((reply, until));
            let event = Event::StoreAnswer { broker: broker as u32, request, reply };
            self.queue.push(self.now + delay, event);
        }
    }

    pub fn store_answered(&mut self, broker: usize, request: u32, reply: Reply, until: u64) {
        let known = &mut self.brokers[broker];
        if known.asked.is_none() || known.requests != request {
            return;
        }
        if known.is_paused {
            // The process reads the response when it continues.
            let reply = self.replies.add((reply, until));
            let event = Event::StoreAnswer { broker: broker as u32, request, reply };
            self.queue.push(self.now + 10, event);
            return;
        }
        self.take_reply(broker, reply, until);
        self.proceed(broker);
    }

    /// Passes the store's response to the keeper that sent the request.
    fn take_reply(&mut self, broker: usize, reply: Reply, history_until: u64) {
        let known = &mut self.brokers[broker];
        known.requests += 1;
        let Some(StoreRequest { index, sent, .. }) = known.asked.take() else { return };
        if let Reply::Renew { result: Ok(_), .. } = reply {
            known.holders[index].confirmed = sent;
            if let Some(block) = known.holders[index].block {
                known.blocks.confirm_history(block, history_until);
            }
        }
        self.follow_broker(broker, index, Input::Reply(reply));
    }
}

/// The driver of the keeper of a broker's block, which does what the driver in `flakeid::broker` does.
struct BlockDriver<'a> {
    world: &'a mut World,
    broker: usize,
    index: usize,
}

impl BlockDriver<'_> {
    fn broker(&mut self) -> &mut Broker {
        &mut self.world.brokers[self.broker]
    }

    fn note(&mut self, fault: Fault) {
        let outcome = &mut self.broker().outcome;
        if outcome.is_ok() {
            *outcome = Err(fault);
        }
    }
}

impl Driver for BlockDriver<'_> {
    fn reading(&self) -> Reading {
        self.world.broker_reading(self.broker)
    }

    fn handle(&mut self, reading: &Reading, input: Input) -> Vec<Output> {
        let index = self.index;
        let Broker { holders, options, .. } = self.broker();
        holders[index].keeper.handle(options, reading, input)
    }

    fn begin(&mut self, begin: &Begin) -> Result<(), Error> {
        let (clock, index) = (self.world.broker_clock(self.broker), self.index);
        let known = self.broker();
        let Some(held) = known.holders[index].hold() else { return Ok(()) };
        let grant = Grant { start: begin.start, fence: begin.fence, ..held.grant };
        for earlier in known.holders.iter_mut().filter(|of| of.block == Some(grant.node)) {
            earlier.block = None;
        }
        known.holders[index].block = Some(grant.node);
        known.blocks.add(&grant, clock);
        let broker = self.broker;
        self.world.trace(|| {
            format!(
                "broker {broker} begins block {} from {} to {}",
                grant.node, grant.start, grant.fence
            )
        });
        Ok(())
    }

    fn extend(&mut self, fence: u64) -> bool {
        let index = self.index;
        let known = self.broker();
        if let Some(block) = known.holders[index].block {
            known.blocks.raise(block, fence);
        }
        true
    }

    fn end(&mut self) -> (u64, bool) {
        let index = self.index;
        let known = self.broker();
        let Some(block) = known.holders[index].block.take() else { return (0, false) };
        known.holders[index].last = known.blocks.hand_over_last(block, MOST_RECORDED);
        (known.blocks.lose(block), false)
    }

    fn report(&mut self, _: &Reading, report: Report) {
        let index = self.index;
        match report {
            Report::NotRenewed { .. }
                if self.broker().holders[index].hold().is_some_and(|hold| hold.fenced_off) =>
            {
                let known = self.broker();
                if let Some(block) = known.holders[index].block.take() {
                    known.blocks.lose(block);
                    let broker = self.broker;
                    self.world.trace(|| format!("broker {broker} loses block {block}"));
                }
            }
            Report::NotGranted { fault, .. }
            | Report::NotRenewed { fault, .. }
            | Report::NotReleased { fault, .. } => self.note(fault),
            Report::NoClock(error) => {
                let (kind, text) = (error.kind(), error.to_string());
                self.note(Refusal::Relayed { kind, text, retry_after_ms: None }.into());
            }
            Report::Granted(_)
            | Report::TooShort
            | Report::Begun { .. }
            | Report::Renewed { .. }
            | Report::Released { .. } => {}
        }
    }

    fn send(&mut self, demand: Demand, _: Duration) -> Option<Reply> {
        let (index, now) = (self.index, self.world.now);
        self.broker().demands.push_back((index, demand, now));
        None
    }
}
