//! The broker's thread: leases blocks when nodes run out, renews them, and gives back those that are
//! not needed.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use flakeid_core::internal::spawn_background;
use flakeid_core::{Error, ErrorKind};

use super::state::{Phase, Shared, State};
use flakeid_protocol::store::{Fault, RETRY, Store};
use flakeid_protocol::{Event, Handover, Holder, HolderOptions, Refusal, Token};
use flakeid_stores::random;

mod budget;
mod effects;

use budget::Budget;

pub(super) type Opener = dyn Fn() -> Result<Box<dyn Store>, Fault> + Send + Sync;

/// The most blocks that are leased before the renewals have their turn.
const MOST_AT_ONCE: usize = 64;
/// The longest and the shortest time between two attempts after failures. After an outage of the store every
/// holder waits for the next attempt once the block's window is used up, and there are few brokers.
const LONGEST_PAUSE: Duration = Duration::from_millis(400);
const SHORTEST_PAUSE: Duration = Duration::from_millis(20);

/// Keeps the blocks of a broker. Nothing else talks to the store.
pub(super) struct BlockKeeper {
    shared: Arc<Shared>,
    open: Arc<Opener>,
    store: Option<Box<dyn Store>>,
    holder_options: HolderOptions,
    holders: Vec<BlockHolder>,
    /// Failures in a row.
    failures: u32,
    /// For the store's history.
    budget: Budget,
}

/// One block.
struct BlockHolder {
    holder: Holder,
    block: Option<u64>,
    /// A renewal is due when fewer ticks than this are left: about two thirds of the window, never the
    /// same for two blocks, so that they are not renewed together.
    margin: u64,
    /// When the last request was sent that the store has answered with yes.
    confirmed: Instant,
    /// What goes into the store's history when the block is given back.
    last: Handover,
}

impl BlockKeeper {
    pub(super) fn start(
        shared: Arc<Shared>,
        place: &str,
        open: Arc<Opener>,
        store: Box<dyn Store>,
    ) -> Result<(), Error> {
        let (namespace, options) = (&shared.namespace, &shared.options);
        let window_ms = options.block_window_ms(namespace);
        let holder_options = HolderOptions {
            window: window_ms.div_ceil(namespace.layout.unit_ms()),
            // No longer: after a crash the block is free for the next start of the same broker.
            ttl_ms: window_ms.saturating_add(namespace.bounds.max_skew_ms),
            fixed: false,
            moves: false,
        };
        let (store, holders) = (Some(store), Vec::new());
        let budget = Budget::new();
        let keeper = Self { shared, open, store, holder_options, holders, failures: 0, budget };
        let started = spawn_background("flakeid-broker", move || keeper.run());
        started.map(drop).map_err(|error| {
            let text = format!("the broker's thread for {place} cannot be started: {error}");
            Error::new(ErrorKind::StoreUnavailable, &text, Some(RETRY))
        })
    }

    fn run(mut self) {
        let shared = Arc::clone(&self.shared);
        // The store and the clock may be the user's own code.
        let kept = catch_unwind(AssertUnwindSafe(|| self.keep()));
        // In a forked child there is no such thread, so the state is this process's.
        drop(shared.update(|state| {
            if kept.is_err() {
                state.failure = Some(Fault::Rejected("the broker's thread panicked".into()));
            }
            state.phase = Phase::Ended;
            state.wake();
        }));
    }

    fn keep(&mut self) -> Result<(), Fault> {
        loop {
            if self.shared.state()?.phase != Phase::Open {
                return self.close_all();
            }
            let mut outcome = self.renew_due();
            // A block that cannot be renewed does not keep others from being leased. A store that does not
            // answer does.
            if !matches!(outcome, Err(Fault::Unavailable(_))) {
                outcome = outcome.and(self.lease_more()).and(self.give_back_surplus());
            }
            let pause = self.settle(outcome)?;
            self.sleep(pause)?;
        }
    }

    /// Records how the store answered; returns how long to leave it alone.
    fn settle(&mut self, outcome: Result<(), Fault>) -> Result<Duration, Fault> {
        let failure = outcome.err().map(told_to_holders);
        self.failures = if failure.is_some() { self.failures.saturating_add(1) } else { 0 };
        self.shared.update(|state| {
            state.failure = failure;
            state.attempts += 1;
            // Whoever still finds no room counts itself again.
            state.waiting = 0;
            state.wake();
        })?;
        if self.failures == 0 {
            return Ok(Duration::ZERO);
        }
        let pause = SHORTEST_PAUSE.saturating_mul(1 << self.failures.min(10)).min(LONGEST_PAUSE);
        Ok(pause.mul_f64(random::jitter()))
    }

    /// Sleeps for the pause, and then until something is due or somebody waits for a node.
    fn sleep(&self, pause: Duration) -> Result<(), Fault> {
        let begun = Instant::now();
        let due = begun + self.until_due();
        let state = self.shared.state()?;
        let state = self.shared.wait(state, begun + pause, |state| state.phase != Phase::Open);
        drop(self.shared.wait(state, due, |state| state.phase != Phase::Open || state.waiting > 0));
        Ok(())
    }

    fn until_due(&self) -> Duration {
        let layout = &self.shared.namespace.layout;
        let now = self.shared.clock.unix_ms();
        // Often enough to see empty blocks, and the clock being set.
        let often = Duration::from_millis(self.shared.options.ttl_ms / 4);
        let holds = self.holders.iter().filter_map(|of| {
            let left = self.half_ttl().saturating_sub(of.confirmed.elapsed());
            Some((of.holder.hold.as_ref()?, of.margin, left.max(Duration::from_millis(1))))
        });
        let due = holds.map(|(hold, margin, left)| {
            let at = layout.unix_ms_at(hold.grant.fence.saturating_sub(margin));
            Duration::from_millis(at.saturating_sub(now).max(1).cast_unsigned()).min(left)
        });
        due.min().unwrap_or(often).min(often)
    }

    fn renew_due(&mut self) -> Result<(), Fault> {
        let mut outcome = Ok(());
        for index in 0..self.holders.len() {
            let BlockHolder { ref holder, margin, confirmed, .. } = self.holders[index];
            // Where fences are far ahead of the clock, as after a restoration, none is due for long, but
            // the row expires by the store's clock.
            let is_late = confirmed.elapsed() >= self.half_ttl();
            let margin = if is_late { u64::MAX } else { margin };
            // Most blocks have nothing due, and a token is a call of the system's: with a thousand blocks,
            // of which hundreds are renewed in a second, one for each of them every time would be hundreds
            // of thousands of calls.
            let event = self.wake_by(margin, Token::from_bits(0));
            if holder.step(&self.holder_options, &event).1.is_empty() {
                continue;
            }
            let event = self.wake(margin);
            outcome = outcome.and(self.follow(index, event));
        }
        self.holders.retain(|of| of.holder.hold.as_ref().is_some_and(|hold| !hold.fenced_off));
        outcome
    }

    fn half_ttl(&self) -> Duration {
        Duration::from_millis(self.holder_options.ttl_ms / 2)
    }

    /// Leases as many blocks as those who wait need.
    fn lease_more(&mut self) -> Result<(), Fault> {
        let size = 1_usize << self.shared.namespace.block_bits;
        let waiting = self.shared.state()?.waiting;
        for _ in 0..waiting.div_ceil(size).min(MOST_AT_ONCE) {
            let window = self.holder_options.window;
            let margin = (window as f64 * 2.0 / 3.0 * random::jitter()).ceil() as u64;
            let margin = margin.clamp(1, window);
            let (holder, confirmed) = (Holder::new(), Instant::now());
            let last = Handover::default();
            self.holders.push(BlockHolder { holder, block: None, margin, confirmed, last });
            let event = self.wake(margin);
            let outcome = self.follow(self.holders.len() - 1, event);
            if outcome.is_err() {
                self.holders.retain(|of| of.holder.hold.is_some());
                return outcome;
            }
        }
        Ok(())
    }

    /// Gives back the blocks that have been empty for longer than a holder may be silent, but for one.
    fn give_back_surplus(&mut self) -> Result<(), Fault> {
        let now = self.shared.clock.unix_ms();
        let ttl_ms = i64::try_from(self.shared.options.ttl_ms).unwrap_or(i64::MAX);
        while self.shared.state()?.blocks.expire(now) {
            thread::yield_now();
        }
        let surplus: Vec<u64> = {
            let state = self.shared.state()?;
            let empty = state.blocks.blocks().filter(|(_, _, since)| {
                since.is_some_and(|since| now.saturating_sub(since) >= ttl_ms)
            });
            // One stays, for whoever asks next.
            empty.skip(1).map(|(block, ..)| block).collect()
        };
        for block in surplus {
            let Some(index) = self.holders.iter().position(|of| of.block == Some(block)) else {
                continue;
            };
            let is_empty = |state: &State| {
                state.blocks.blocks().any(|(number, _, since)| number == block && since.is_some())
            };
            if is_empty(&*self.shared.state()?) {
                self.close(index)?;
                self.holders.swap_remove(index);
            }
        }
        Ok(())
    }

    fn close_all(&mut self) -> Result<(), Fault> {
        let mut outcome = Ok(());
        for index in 0..self.holders.len() {
            outcome = self.close(index).and(outcome);
        }
        outcome
    }

    fn close(&mut self, index: usize) -> Result<(), Fault> {
        self.follow(index, Event::Close)
    }

    fn wake(&self, margin: u64) -> Event {
        self.wake_by(margin, random::token())
    }

    fn wake_by(&self, margin: u64, fresh: Token) -> Event {
        let unix_ms = self.shared.clock.unix_ms();
        let now = self.shared.namespace.layout.tick_at(unix_ms).unwrap_or(0);
        Event::Wake { now, unix_ms, next: 0, margin, reserve: 0, fresh }
    }

    /// Passes an event to the holder, carries out the effects, and passes the resulting events back.
    fn follow(&mut self, index: usize, event: Event) -> Result<(), Fault> {
        let mut events = std::collections::VecDeque::from([event]);
        let mut outcome = Ok(());
        while let Some(event) = events.pop_front() {
            let (next, effects) = self.holders[index].holder.step(&self.holder_options, &event);
            self.holders[index].holder = next;
            for effect in effects {
                let (answer, failed) = self.act(index, &effect);
                events.extend(answer);
                outcome = outcome.and(failed);
            }
        }
        outcome
    }
}

impl State {
    /// Wakes those who wait for the next attempt.
    fn wake(&mut self) {
        self.wakers.drain(..).for_each(std::task::Waker::wake);
    }
}

/// What holders are told when the store refuses the broker something: it counts blocks, they nodes.
fn told_to_holders(fault: Fault) -> Fault {
    let Fault::Refused(Refusal::NoFreeNode { held, hot, quarantined, next_free_in_ms, .. }) = fault
    else {
        return fault;
    };
    let text = format!(
        "the store has no free block of nodes for the broker: {held} held by brokers, {hot} with a \
         fence too far ahead, {quarantined} quarantined; see `flakeid leases ls`"
    );
    let kind = ErrorKind::NoFreeNode;
    Fault::Refused(Refusal::Relayed { kind, text, retry_after_ms: next_free_in_ms })
}
