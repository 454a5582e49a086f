//! Tests of panics inside the exported functions. No argument from C can cause a panic, so the
//! tests run the functions with a clock that panics on request.

#![allow(unsafe_code, unreachable_pub, dead_code, missing_docs)]
#![allow(clippy::unwrap_used, clippy::panic, clippy::doc_markdown, clippy::missing_safety_doc)]

#[path = "../src/border.rs"]
mod border;
#[path = "../src/cached.rs"]
mod cached;
#[path = "../src/config.rs"]
mod config;
#[path = "../src/event.rs"]
mod event;
#[path = "../src/fault.rs"]
mod fault;
#[expect(dead_code, reason = "the flags of leases are not used here")]
#[path = "../src/flags.rs"]
mod flags;
#[path = "../src/generator.rs"]
mod generator;
#[path = "../src/guard.rs"]
mod guard;
#[path = "../src/last_error.rs"]
mod last_error;
#[path = "../src/layout.rs"]
mod layout;
#[path = "../src/local.rs"]
mod local;
#[path = "../src/options.rs"]
mod options;
#[path = "../src/parts.rs"]
mod parts;
#[path = "../src/set.rs"]
mod set;
#[path = "../src/spelling.rs"]
mod spelling;
#[path = "../src/status.rs"]
mod status;

/// A clock that can panic. The tests use this clock because the library's manual clock cannot
/// panic.
mod clock {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicI64, Ordering};
    use std::time::Duration;

    /// The clock setting, in Unix milliseconds, that causes a panic when the clock is read.
    pub(crate) const BROKEN: i64 = -1;

    #[derive(Clone)]
    pub(crate) struct FragileClock(Arc<AtomicI64>);

    impl FragileClock {
        pub(crate) fn new(unix_ms: i64) -> Self {
            Self(Arc::new(AtomicI64::new(unix_ms)))
        }

        pub(crate) fn set(&self, unix_ms: i64) {
            self.0.store(unix_ms, Ordering::Relaxed);
        }
    }

    impl flakeid_core::Clock for FragileClock {
        fn unix_ms(&self) -> i64 {
            let unix_ms = self.0.load(Ordering::Relaxed);
            assert!(unix_ms != BROKEN, "the clock is broken");
            unix_ms
        }

        /// Moves the clock forward without sleeping, like the library's manual clock.
        fn wait_until(&self, unix_ms: i64, _at_most: Duration) -> Option<Duration> {
            self.set(unix_ms);
            Some(Duration::ZERO)
        }
    }

    pub struct ClockHandle(pub(crate) FragileClock);
}

use std::ffi::CStr;
use std::mem::{MaybeUninit, zeroed};
use std::panic::panic_any;
use std::ptr;

use cached::{flakeid_cached_free, flakeid_cached_next, flakeid_cached_open, flakeid_cached_take};
use clock::{BROKEN, ClockHandle, FragileClock};
use config::Config;
use flags::FLAKEID_HAS_NODE;
use flakeid_core::Layout;
use generator::{
    GeneratorHandle, flakeid_generator_fill, flakeid_generator_free, flakeid_generator_new,
    flakeid_generator_next, flakeid_generator_next_within, flakeid_generator_node,
    flakeid_generator_try_fill, flakeid_generator_try_next,
};
use guard::guard;
use local::{LocalHandle, flakeid_local_free, flakeid_local_next, flakeid_local_open};
use status::{FLAKEID_OK, FLAKEID_PANIC, Status};

const NOW: i64 = 1_505_914_988_849;
/// The time of the clock after the first ID. With a `FragileClock`, a new generator waits one tick
/// before it issues its first ID, and the wait moves the clock forward. With the library's manual
/// clock, a new generator would not wait.
const LATER: i64 = NOW + 1;
const MESSAGE: &str = "internal flakeid error (the clock is broken); please report it";

fn last_error() -> String {
    // SAFETY: the library returns NUL-terminated strings.
    unsafe { CStr::from_ptr(last_error::flakeid_last_error()) }.to_str().unwrap().to_owned()
}

fn open(node: u64, clock: &ClockHandle) -> Result<Box<GeneratorHandle>, Status> {
    // SAFETY: the struct contains only numbers and nullable pointers, so a struct whose bytes are
    // all zero is valid.
    let mut config: Config = unsafe { zeroed() };
    config.struct_size = u32::try_from(size_of::<Config>()).unwrap();
    config.has = FLAKEID_HAS_NODE;
    config.node = node;
    config.clock = ptr::from_ref(clock);
    let mut generator = MaybeUninit::uninit();
    // SAFETY: `struct_size` is the size of the struct, and the clock outlives the call.
    match unsafe { flakeid_generator_new(&raw const config, Some(&mut generator)) } {
        // SAFETY: the successful call initialised the value.
        FLAKEID_OK => Ok(unsafe { generator.assume_init() }),
        status => Err(status),
    }
}

fn next(generator: &GeneratorHandle) -> Result<u64, Status> {
    id_of(|id| flakeid_generator_next(Some(generator), Some(id)))
}

fn id_of(call: impl FnOnce(&mut MaybeUninit<u64>) -> Status) -> Result<u64, Status> {
    let mut id = MaybeUninit::new(42);
    let status = call(&mut id);
    // SAFETY: the value was initialised before the call.
    let id = unsafe { id.assume_init() };
    if status == FLAKEID_OK {
        return Ok(id);
    }
    assert_eq!(id, 42, "a call that fails writes nothing");
    Err(status)
}

/// Checks that every call that reads the clock returns `FLAKEID_PANIC` if the clock panics.
fn panicking_calls(generator: &GeneratorHandle) {
    assert_eq!(next(generator), Err(FLAKEID_PANIC));
    assert_eq!(last_error(), MESSAGE);
    let mut id = MaybeUninit::new(42);
    assert_eq!(flakeid_generator_try_next(Some(generator), Some(&mut id)), FLAKEID_PANIC);
    assert_eq!(flakeid_generator_next_within(Some(generator), 1, Some(&mut id)), FLAKEID_PANIC);
    // SAFETY: the value was initialised before the call.
    assert_eq!(unsafe { id.assume_init() }, 42);
    for fill in [flakeid_generator_fill, flakeid_generator_try_fill] {
        let (mut ids, mut count) = ([42; 3], MaybeUninit::new(42));
        // SAFETY: the array has room for three integers.
        let status = unsafe { fill(Some(generator), ids.as_mut_ptr(), 3, Some(&mut count)) };
        // SAFETY: the value was initialised before the call.
        assert_eq!((status, ids, unsafe { count.assume_init() }), (FLAKEID_PANIC, [42; 3], 0));
        assert_eq!(last_error(), MESSAGE);
    }
}

#[test]
fn generator_reports_a_panic_as_a_status_and_continues() {
    let clock = ClockHandle(FragileClock::new(NOW));
    let generator = open(7, &clock).unwrap();
    let first = next(&generator).unwrap();
    for round in 1..=100 {
        clock.0.set(BROKEN);
        panicking_calls(&generator);
        assert_eq!(open(7, &clock).err(), Some(FLAKEID_PANIC));
        clock.0.set(LATER);
        assert_eq!(next(&generator), Ok(first + round), "no ID is lost or repeated");
    }
    let mut node = MaybeUninit::uninit();
    assert_eq!(flakeid_generator_node(Some(&generator), Some(&mut node)), FLAKEID_OK);
    flakeid_generator_free(Some(generator));
}

#[test]
fn panic_sets_last_error_only_on_the_panicking_thread() {
    let clock = ClockHandle(FragileClock::new(NOW));
    let generator = open(8, &clock).unwrap();
    let first = next(&generator).unwrap();
    clock.0.set(BROKEN);
    std::thread::scope(|scope| {
        scope.spawn(|| panicking_calls(&generator));
    });
    assert_eq!(last_error(), "", "it is the other thread's error");
    clock.0.set(LATER);
    assert_eq!(next(&generator), Ok(first + 1));
    let parts = Layout::default().unpack(flakeid_core::Id::from_u64(first)).unwrap();
    assert_eq!((parts.node, parts.unix_ms), (8, LATER));
    flakeid_generator_free(Some(generator));
}

#[test]
fn local_handle_stays_usable_after_a_panic() {
    let clock = ClockHandle(FragileClock::new(NOW));
    let generator = open(9, &clock).unwrap();
    let mut local = MaybeUninit::uninit();
    assert_eq!(flakeid_local_open(Some(&generator), Some(&mut local)), FLAKEID_OK);
    // SAFETY: the successful call initialised the value.
    let mut local = unsafe { local.assume_init() };
    let next = |local: &mut LocalHandle| id_of(|id| flakeid_local_next(Some(local), Some(id)));
    let mut last = next(&mut local).unwrap();
    for later in 2..=100 {
        clock.0.set(BROKEN);
        assert_eq!(next(&mut local), Err(FLAKEID_PANIC));
        assert_eq!(last_error(), MESSAGE);
        clock.0.set(NOW + later);
        let id = next(&mut local).unwrap();
        assert!(last < id, "{last}, {id}");
        last = id;
    }
    flakeid_generator_free(Some(generator));
    flakeid_local_free(Some(local));
}

#[test]
fn cached_generator_stays_usable_after_a_panic() {
    let clock = ClockHandle(FragileClock::new(NOW));
    let generator = open(10, &clock).unwrap();
    let mut ring = MaybeUninit::uninit();
    // SAFETY: the function accepts a null pointer as the ring's configuration.
    let status = unsafe { flakeid_cached_open(Some(&generator), ptr::null(), Some(&mut ring)) };
    assert_eq!(status, FLAKEID_OK);
    // SAFETY: the successful call initialised the value.
    let ring = unsafe { ring.assume_init() };
    let mut last = id_of(|id| flakeid_cached_take(Some(&ring), Some(id))).unwrap();
    for _ in 0..100 {
        clock.0.set(BROKEN);
        assert_eq!(id_of(|id| flakeid_cached_take(Some(&ring), Some(id))), Err(FLAKEID_PANIC));
        assert_eq!(last_error(), MESSAGE);
        assert_eq!(id_of(|id| flakeid_cached_next(Some(&ring), Some(id))), Err(FLAKEID_PANIC));
        clock.0.set(LATER);
        let id = id_of(|id| flakeid_cached_next(Some(&ring), Some(id))).unwrap();
        assert!(last < id, "{last}, {id}");
        last = id;
    }
    flakeid_generator_free(Some(generator));
    flakeid_cached_free(Some(ring));
}

/// A panic payload that causes another panic when the payload is dropped.
struct Bomb;

impl Drop for Bomb {
    fn drop(&mut self) {
        panic!("dropped");
    }
}

#[test]
fn guard_catches_a_panic_from_dropping_a_panic_payload() {
    assert_eq!(guard(|| panic_any(Bomb)), FLAKEID_PANIC);
    assert_eq!(last_error(), "internal flakeid error (no message); please report it");
    assert_eq!(guard(|| Ok(())), FLAKEID_OK);
}
