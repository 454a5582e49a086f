//! The broker's thread, which leases blocks when nodes run out, renews the blocks, and releases blocks that are not
//! needed.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use flakeid_core::internal::spawn_background;
use flakeid_core::{Error, ErrorKind};

use super::state::{Phase, Shared, State};
use crate::log::BrokerLog;
use flakeid_protocol::keeper::{GeneratorState, Input, Keeper, KeeperOptions};
use flakeid_protocol::store::{Fault, RETRY, Store};
use flakeid_protocol::{Acquire, Handover, HeldNode, Identity, Owner, Refusal, Renew, Token};
use flakeid_stores::{host_name, random};

mod budget;
mod driver;
mod renewals;

use budget::Budget;

pub(super) type Opener = dyn Fn() -> Result<Box<dyn Store>, Fault> + Send + Sync;

/// The largest number of blocks that the thread leases in one pass. Between two passes, the thread sends the renewals
/// that are due.
const MOST_AT_ONCE: usize = 64;
/// The longest pause between two attempts after failures. The pause is short, because all holders wait for the next
/// attempt if a store outage lasts longer than the block's window. The store can serve frequent attempts, because there
/// are only a few brokers.
const LONGEST_PAUSE: Duration = Duration::from_millis(400);
const SHORTEST_PAUSE: Duration = Duration::from_millis(20);

/// The keeper of a broker's blocks. Only the keeper's thread sends requests for the blocks to the store.
pub(super) struct BlockKeeper {
    shared: Arc<Shared>,
    open: Arc<Opener>,
    store: Option<Box<dyn Store>>,
    options: KeeperOptions,
    holders: Vec<BlockHolder>,
    /// The renewals that the blocks' keepers have requested and that the thread has not sent yet.
    requested: Vec<RequestedRenewal>,
    /// A random factor from 0.8 to 1.2 that prevents brokers from renewing their blocks at the same time. The factor
    /// changes with every successful renewal. All blocks of a broker share it, so that they are renewed together.
    jitter: f64,
    begun: Instant,
    /// The number of consecutive failures.
    failures: u32,
    /// The budget for writing grants to the store's history.
    budget: Budget,
    log: BrokerLog,
}

/// A block with its keeper.
struct BlockHolder {
    keeper: Keeper,
    block: Option<u64>,
    /// The time at which the latest successful request was sent.
    confirmed: Instant,
    /// The grants to hand over to the store's history when the block is released.
    last: Handover,
}

/// A renewal that the keeper of a block has requested.
struct RequestedRenewal {
    /// The index of the block's holder.
    index: usize,
    request: Renew,
    /// The time at which the clock was read for the request.
    read: Instant,
}

impl BlockKeeper {
    pub(super) fn start(
        shared: Arc<Shared>,
        place: &str,
        open: Arc<Opener>,
        store: Box<dyn Store>,
    ) -> Result<(), Error> {
        let options = shared.of_keeper();
        let (store, holders, begun) = (Some(store), Vec::new(), Instant::now());
        let (requested, jitter) = (Vec::new(), random::jitter());
        let (failures, budget, log) = (0, Budget::new(), BrokerLog::default());
        let keeper = Self {
            shared,
            open,
            store,
            options,
            holders,
            requested,
            jitter,
            begun,
            failures,
            budget,
            log,
        };
        let started = spawn_background("flakeid-broker", move || keeper.run());
        started.map(drop).map_err(|error| {
            let text = format!("the broker's thread for {place} cannot be started: {error}");
            Error::new(ErrorKind::StoreUnavailable, &text, Some(RETRY))
        })
    }

    fn run(mut self) {
        let shared = Arc::clone(&self.shared);
        // The store and the clock may be the user's own code, which can panic.
        let kept = catch_unwind(AssertUnwindSafe(|| self.keep()));
        // The update fails only in a forked child, and a forked child does not have this thread. The result is
        // therefore ignored.
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
            if self.shared.state()?.phase >= Phase::Closing {
                return self.close_all();
            }
            let mut outcome = self.renew_due();
            // If a block cannot be renewed, the thread still leases other blocks, unless the store does not respond.
            if !matches!(outcome, Err(Fault::Unavailable(_))) {
                outcome = outcome.and(self.lease_more()).and(self.release_surplus());
            }
            let pause = self.settle(outcome)?;
            self.sleep(pause)?;
        }
    }

    /// Records the outcome of a request, and returns the pause before the next request.
    fn settle(&mut self, outcome: Result<(), Fault>) -> Result<Duration, Fault> {
        let failure = outcome.err().map(fault_for_holders);
        let namespace = &self.shared.namespace;
        let error = failure
            .as_ref()
            .map(|fault| fault.to_error("the store", &namespace.name, &namespace.layout));
        let blocks = self.holders.iter().filter_map(|of| of.block).collect();
        self.log.update(&namespace.name, error.as_ref(), blocks);
        self.failures = if failure.is_some() { self.failures.saturating_add(1) } else { 0 };
        self.shared.update(|state| {
            state.failure = failure;
            state.attempts += 1;
            // A request that still finds no free node increments the count again.
            state.waiting = 0;
            state.wake();
        })?;
        Ok(pause_after(self.failures, random::jitter()))
    }

    /// Sleeps for the pause, and then until a renewal is due or a request waits for a node.
    fn sleep(&self, pause: Duration) -> Result<(), Fault> {
        let begun = Instant::now();
        let due = begun + self.until_due();
        let state = self.shared.state()?;
        let state = self.shared.wait(state, begun + pause, |state| state.phase >= Phase::Closing);
        drop(
            self.shared
                .wait(state, due, |state| state.phase >= Phase::Closing || state.waiting > 0),
        );
        Ok(())
    }

    fn until_due(&self) -> Duration {
        let layout = &self.shared.namespace.layout;
        let now = self.shared.clock.unix_ms();
        // The interval is short enough to detect empty blocks and clock changes in time.
        let often = Duration::from_millis(self.shared.options.ttl_ms / 4);
        let holds = self.holders.iter().filter_map(|of| {
            let left = self.half_ttl().saturating_sub(of.confirmed.elapsed());
            Some((of.hold()?, self.margin(of), left.max(Duration::from_millis(1))))
        });
        let due = holds.map(|(hold, margin, left)| {
            let at = layout.unix_ms_at(hold.grant.fence.saturating_sub(margin));
            Duration::from_millis(at.saturating_sub(now).max(1).cast_unsigned()).min(left)
        });
        due.min().unwrap_or(often).min(often)
    }

    fn half_ttl(&self) -> Duration {
        Duration::from_millis(self.options.acquire.ttl_ms / 2)
    }

    /// Leases as many blocks as the waiting requests need.
    fn lease_more(&mut self) -> Result<(), Fault> {
        let size = 1_usize << self.shared.namespace.block_bits;
        let waiting = self.shared.state()?.waiting;
        for _ in 0..waiting.div_ceil(size).min(MOST_AT_ONCE) {
            let keeper = Keeper::new(&self.options, GeneratorState::Ended { used_until: 0 });
            let (confirmed, last) = (Instant::now(), Handover::default());
            self.holders.push(BlockHolder { keeper, block: None, confirmed, last });
            let outcome = self.wake(self.holders.len() - 1, u64::MAX);
            self.holders.retain(|of| of.hold().is_some());
            outcome?;
        }
        Ok(())
    }

    /// Releases the blocks that have been empty for longer than the TTL of a holder, except for one block.
    fn release_surplus(&mut self) -> Result<(), Fault> {
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
            // One empty block is kept for the next request.
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
        self.follow(index, Input::Close)
    }

    fn wake(&mut self, index: usize, margin: u64) -> Result<(), Fault> {
        let fresh = random::token();
        self.follow(index, Input::Wake { member: 0, margin, reserve: 0, fresh })
    }
}

impl BlockHolder {
    fn hold(&self) -> Option<&HeldNode> {
        self.keeper.holders.first()?.hold.as_ref()
    }
}

impl Shared {
    /// Returns the options of a block's keeper. The keeper requests this broker's previous block if that block is
    /// free, and otherwise any block.
    fn of_keeper(&self) -> KeeperOptions {
        let Self { namespace, options, .. } = self;
        let (name, window_ms) = (options.address.clone(), options.block_window_ms(namespace));
        let acquire = Acquire {
            layout: namespace.layout,
            block_bits: namespace.block_bits,
            identity: Identity::Name(name.clone()),
            from: 0,
            to: namespace.max_row(),
            rotation: 0,
            reuse: true,
            token: Token::from_bits(0),
            window_ms,
            // The TTL is short, so that a broker that restarts after a crash can soon lease its block again.
            ttl_ms: window_ms.saturating_add(namespace.bounds.max_skew_ms),
            now: 0,
            waited_ms: 0,
            after: 0,
            owner: Owner { name, host: host_name(), pid: std::process::id() },
        };
        KeeperOptions { nodes: 1, acquire, moves: false }
    }
}

impl State {
    /// Wakes the requests that wait for the next attempt to lease a block.
    fn wake(&mut self) {
        self.wakers.drain(..).for_each(std::task::Waker::wake);
    }
}

/// Returns the pause after a number of consecutive failures. The pause stays short, because all holders wait for the
/// next request.
fn pause_after(failures: u32, jitter: f64) -> Duration {
    if failures == 0 {
        return Duration::ZERO;
    }
    SHORTEST_PAUSE.saturating_mul(1 << failures.min(10)).min(LONGEST_PAUSE).mul_f64(jitter)
}

/// Converts a fault from the store to a fault for holders. Holders request single nodes, so the new message explains
/// that the numbers from the store are numbers of blocks.
fn fault_for_holders(fault: Fault) -> Fault {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_after_failures_grow_but_stay_below_half_a_second() {
        let pauses: Vec<_> = (0..100).map(|failures| pause_after(failures, 1.2)).collect();
        assert!(pauses.is_sorted() && pauses[0] < pauses[1] && pauses[1] < pauses[4]);
        assert!(pauses[99] < Duration::from_millis(500), "{pauses:?}");
    }
}
