//! The rivals, each behind a function that returns a plain integer.

use std::hint::{black_box, spin_loop};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use ferroid::generator::{AtomicSnowflakeGenerator, BasicSnowflakeGenerator};
use ferroid::id::SnowflakeId;
use ferroid::time::{MonotonicClock, TimeSource};
use scru64::Scru64Generator;
use scru64::generator::NodeSpec;
use scru64::generator::counter_mode::DefaultCounterMode;
use snowdon::{ClassicLayout, Epoch, Layout, MachineId};
use snowflake::SnowflakeIdGenerator;

use crate::clock;
use crate::subject::issued;

pub(crate) const NAMES: [&str; 5] = ["ferroid", "rs-snowflake", "scru64", "snowdon", "snowflaked"];

/// Places a generator on cache lines of its own, like the floor's counter.
#[repr(align(128))]
pub(crate) struct Padded<T>(pub(crate) T);

// ferroid: the layout is a type, the clock a parameter.

ferroid::define_snowflake_id!(
    /// flakeid's `t41.s22`.
    FerroidWide, u64,
    reserved: 1,
    timestamp: 41,
    machine_id: 0,
    sequence: 22
);

ferroid::define_snowflake_id!(
    /// Twitter's widths.
    FerroidTwitter, u64,
    reserved: 1,
    timestamp: 41,
    machine_id: 10,
    sequence: 12
);

/// The system clock, read exactly as the floor reads it.
pub(crate) struct RealClock;

impl TimeSource<u64> for RealClock {
    #[inline]
    fn current_millis(&self) -> u64 {
        clock::unix_ms()
    }
}

pub(crate) type FerroidAtomic<I, T = RealClock> = Padded<AtomicSnowflakeGenerator<I, T>>;
pub(crate) type FerroidBasic<I> = Padded<BasicSnowflakeGenerator<I, MonotonicClock>>;

pub(crate) fn ferroid_atomic<I: SnowflakeId<Ty = u64>>() -> FerroidAtomic<I> {
    Padded(AtomicSnowflakeGenerator::new(0, RealClock))
}

/// Returns ferroid's generator with its ticker clock. The first one of a process starts a background thread that never
/// ends.
pub(crate) fn ferroid_atomic_ticker<I: SnowflakeId<Ty = u64>>() -> FerroidAtomic<I, MonotonicClock>
{
    Padded(AtomicSnowflakeGenerator::new(0, MonotonicClock::default()))
}

pub(crate) fn ferroid_basic_ticker<I: SnowflakeId<Ty = u64>>() -> FerroidBasic<I> {
    Padded(BasicSnowflakeGenerator::new(0, MonotonicClock::default()))
}

/// The three ways to wait that ferroid's documentation offers its callers.
#[derive(Clone, Copy)]
pub(crate) enum Wait {
    Spin,
    Yield,
    Sleep,
}

impl Wait {
    #[inline]
    fn pass(self, milliseconds: u64) {
        match self {
            Self::Spin => spin_loop(),
            Self::Yield => thread::yield_now(),
            Self::Sleep => thread::sleep(Duration::from_millis(milliseconds)),
        }
    }
}

#[inline]
pub(crate) fn ferroid_next<I, T>(generator: &FerroidAtomic<I, T>, wait: Wait) -> u64
where
    I: SnowflakeId<Ty = u64>,
    T: TimeSource<u64>,
{
    generator.0.next_id(|milliseconds| wait.pass(milliseconds)).to_raw()
}

#[inline]
pub(crate) fn ferroid_basic_next<I: SnowflakeId<Ty = u64>>(generator: &FerroidBasic<I>) -> u64 {
    generator.0.next_id(|_| thread::yield_now()).to_raw()
}

// snowdon: the layout is a trait, and the caller handles a full millisecond.

/// flakeid's `t41.s22` for snowdon, on the Unix epoch.
pub(crate) struct SnowdonWide;

impl Layout for SnowdonWide {
    #[inline]
    fn construct_snowflake(timestamp: u64, sequence_number: u64) -> u64 {
        (timestamp << 22) | sequence_number
    }

    #[inline]
    fn timestamp(input: u64) -> u64 {
        input >> 22
    }

    #[inline]
    fn exceeds_timestamp(input: u64) -> bool {
        input >> 41 != 0
    }

    #[inline]
    fn sequence_number(input: u64) -> u64 {
        input & 0x3f_ffff
    }

    #[inline]
    fn exceeds_sequence_number(input: u64) -> bool {
        input >> 22 != 0
    }

    #[inline]
    fn is_valid_snowflake(input: u64) -> bool {
        input >> 63 == 0
    }
}

/// The epoch 0 and the node 0.
pub(crate) struct Zero;

impl Epoch for Zero {
    #[inline]
    fn millis_since_unix() -> u64 {
        0
    }
}

impl MachineId for Zero {
    #[inline]
    fn machine_id() -> u64 {
        0
    }
}

pub(crate) type SnowdonTwitter = ClassicLayout<Zero>;
pub(crate) type Snowdon<L> = snowdon::Generator<L, Zero>;

#[inline]
pub(crate) fn snowdon_next<L: Layout>(generator: &Snowdon<L>) -> u64 {
    use snowdon::Error;
    loop {
        match generator.generate() {
            Err(Error::SnowflakeExhaustion | Error::NonMonotonicClock) => spin_loop(),
            result => return issued(result).into_inner(),
        }
    }
}

// scru64: 24 bits of node and counter in a tick of 256 ms. The counter starts at 0 here, since
// its default, a random number, would leave an unknown part of it.

pub(crate) fn scru64(counter_bits: u8) -> Scru64Generator {
    let node = issued(NodeSpec::with_node_id(0, 24 - counter_bits));
    Scru64Generator::with_counter_mode(node, DefaultCounterMode::new(counter_bits))
}

/// Returns by how many milliseconds an ID of scru64 is ahead of the clock, or 0 if it is not.
pub(crate) fn scru64_ahead_ms(id: u64) -> u64 {
    ((id >> 24) << 8).saturating_sub(clock::unix_ms())
}

// snowflaked and rs-snowflake: 12 sequence bits, fixed.

pub(crate) fn rs_snowflake(machine: u16) -> SnowflakeIdGenerator {
    SnowflakeIdGenerator::new(i32::from(machine >> 5), i32::from(machine & 31))
}

/// Generators of 12 fixed sequence bits used in turn, each for 256 calls. None of them fills its millisecond, so that
/// the call is measured and not the wait.
pub(crate) struct Rotation<G> {
    generators: Vec<Padded<G>>,
    turn: usize,
}

impl<G> Rotation<G> {
    pub(crate) const CALLS: u64 = 256;

    pub(crate) fn new(count: u16, make: impl Fn(u16) -> G) -> Self {
        Self { generators: (0..count).map(|index| Padded(make(index))).collect(), turn: 0 }
    }

    /// Makes `calls` calls, a multiple of `CALLS`.
    pub(crate) fn run(&mut self, calls: u64, mut call: impl FnMut(&mut G) -> u64) {
        for _ in 0..calls / Self::CALLS {
            self.turn = (self.turn + 1) % self.generators.len();
            let generator = &mut self.generators[self.turn].0;
            for _ in 0..Self::CALLS {
                black_box(call(generator));
            }
        }
    }
}

/// Locks a generator that needs `&mut`.
pub(crate) fn lock<T>(generator: &Mutex<T>) -> MutexGuard<'_, T> {
    generator.lock().unwrap_or_else(PoisonError::into_inner)
}
