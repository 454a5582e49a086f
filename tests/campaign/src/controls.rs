//! Generators without leases, as many programs use them. Every worker runs them under the same
//! faults: if they repeat no IDs, the faults were too weak to prove anything.

use std::io;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use flakeid_core::Clock;

use crate::ids::{IdLog, LAYOUT, MAX_SEQUENCE, id_of};
use crate::shared_memory::{GroupClock, NODES, SharedMemory};

const INTERVAL: Duration = Duration::from_millis(4);
const BATCH: usize = 2;

/// A generator with a fixed node and the last tick. Like Twitter's Snowflake, it refuses to issue
/// IDs while the clock is behind the last tick.
struct Snowflake {
    node: u64,
    last: u64,
    sequence: u64,
}

impl Snowflake {
    fn new(node: u64, last: u64) -> Self {
        Self { node, last, sequence: MAX_SEQUENCE }
    }

    fn next(&mut self, unix_ms: i64) -> Option<u64> {
        let tick = LAYOUT.tick_at(unix_ms).ok()?;
        if tick < self.last || (tick == self.last && self.sequence == MAX_SEQUENCE) {
            return None;
        }
        self.sequence = if tick == self.last { self.sequence + 1 } else { 0 };
        self.last = tick;
        Some(id_of(tick, self.node, self.sequence))
    }
}

/// A generator with a node from a store that records each node's owner and last heartbeat. The new
/// owner of a node without recent heartbeats issues IDs above the time of the last heartbeat.
struct Heartbeat {
    shared: Arc<SharedMemory>,
    owner: u64,
    held: Option<(usize, u64, Snowflake)>,
}

impl Heartbeat {
    const INTERVAL_MS: u64 = 1000;
    const DEAD_MS: u64 = 1500;
    const DAMAGE_MS: u64 = 3_600_000;
    const TIME_BITS: u32 = 44;

    fn new(shared: Arc<SharedMemory>) -> Self {
        Self { shared, owner: u64::from(std::process::id()) & 0xF_FFFF, held: None }
    }

    fn row(&self, unix_ms: u64) -> u64 {
        self.owner << Self::TIME_BITS | unix_ms & ((1 << Self::TIME_BITS) - 1)
    }

    fn next(&mut self, unix_ms: i64) -> Option<u64> {
        let now = u64::try_from(unix_ms).ok()?;
        match &mut self.held {
            Some((node, beat, _)) if now >= *beat + Self::INTERVAL_MS => {
                let (node, beat) = (*node, *beat);
                let (old, new) = (self.row(beat), self.row(now));
                let row = self.shared.heartbeat_row(node);
                if row.compare_exchange(old, new, Ordering::SeqCst, Ordering::SeqCst).is_ok() {
                    if let Some(held) = &mut self.held {
                        held.1 = now;
                    }
                } else {
                    self.held = None;
                }
            }
            Some(_) => {}
            None => self.claim(now),
        }
        self.held.as_mut().and_then(|(_, _, snowflake)| snowflake.next(unix_ms))
    }

    fn claim(&mut self, now: u64) {
        for node in 0..NODES {
            let row = self.shared.heartbeat_row(node);
            let old = row.load(Ordering::SeqCst);
            let beat = old & ((1 << Self::TIME_BITS) - 1);
            let swap = |new| row.compare_exchange(old, new, Ordering::SeqCst, Ordering::SeqCst);
            // A heartbeat that far in the future is treated as damaged and overwritten.
            let is_damaged = beat > now + Self::DAMAGE_MS;
            if (beat + Self::DEAD_MS < now || is_damaged) && swap(self.row(now)).is_ok() {
                let last = if is_damaged { now } else { beat };
                let last = LAYOUT.tick_at(last.cast_signed()).unwrap_or(0);
                let snowflake = Snowflake::new(node as u64, last);
                self.held = Some((node, now, snowflake));
                return;
            }
        }
    }
}

/// Runs both control generators until the campaign is over.
pub(crate) fn run(
    shared: &Arc<SharedMemory>,
    clock: &GroupClock,
    folder: &Path,
    name: &str,
    slot: usize,
) -> io::Result<()> {
    let mut plain = Snowflake::new((slot % NODES) as u64, 0);
    let mut heartbeat = Heartbeat::new(Arc::clone(shared));
    let mut plain_log = IdLog::create(&folder.join("plain"), name)?;
    let mut heartbeat_log = IdLog::create(&folder.join("heartbeat"), name)?;
    while !shared.is_over() {
        for _ in 0..BATCH {
            plain_log.write(plain.next(clock.unix_ms()))?;
            heartbeat_log.write(heartbeat.next(clock.unix_ms()))?;
        }
        std::thread::sleep(INTERVAL);
    }
    Ok(())
}
