use std::cell::Cell;
use std::iter;
use std::time::{Duration, Instant};

use super::interruptible;
use crate::{
    CachedGenerator, Clock, Error, ErrorKind, Generator, Id, Layout, ManualClock, RingOptions,
    SystemClock,
};

const LONG: Duration = Duration::from_secs(7200);

thread_local! {
    /// The number of calls of the check on this thread.
    static CHECKS: Cell<u32> = const { Cell::new(0) };
}

fn count() -> u32 {
    CHECKS.with(|checks| {
        checks.set(checks.get() + 1);
        checks.get()
    })
}

/// Interrupts a wait at its second check.
fn second() -> bool {
    count() >= 2
}

fn never() -> bool {
    count();
    false
}

/// Returns a generator with one ID for each tick of an hour.
fn hourly(clock: impl Clock, max_wait: Duration) -> Generator {
    let layout: Layout = "t30.n8.s8@0/3600000ms".parse().unwrap();
    let builder = Generator::builder(layout).node(1).sequence_mask(0);
    builder.clock(clock).max_wait(max_wait).build().unwrap()
}

/// Checks that a call fails with an error of a `kind` after two checks, not after two hours.
fn assert_ends<T>(kind: ErrorKind, call: impl FnOnce() -> Result<T, Error>) {
    let begun = Instant::now();
    CHECKS.set(0);
    let error = interruptible(second, call).err().unwrap();
    assert_eq!((error.kind(), CHECKS.get()), (kind, 2));
    assert!(begun.elapsed() < Duration::from_secs(60), "{:?}", begun.elapsed());
}

#[test]
fn interruption_ends_every_call_that_waits() {
    let generator = hourly(SystemClock, LONG);
    assert_ends(ErrorKind::SequenceExhausted, || generator.next_id());
    assert_ends(ErrorKind::SequenceExhausted, || generator.fill(&mut [Id::from_u64(0); 3]));
    assert_ends(ErrorKind::SequenceExhausted, || generator.next_ids(3));
    let mut local = generator.local();
    assert_ends(ErrorKind::SequenceExhausted, || local.next_id());
    let open = || CachedGenerator::with(&generator, RingOptions::new());
    assert_ends(ErrorKind::SequenceExhausted, open);
}

#[test]
fn interruption_ends_waits_for_rings() {
    let builder = Generator::builder(Layout::TWITTER).node(7).max_wait(LONG);
    let generator = builder.clock(ManualClock::new(1_700_000_000_000)).build().unwrap();
    let options = RingOptions::new().boost_power(0).max_age(LONG);
    let ring = CachedGenerator::with(&generator, options).unwrap();
    let next_error = || iter::repeat_with(|| ring.next_id()).find_map(Result::err);
    assert_ends(ErrorKind::RingEmpty, || next_error().map_or(Ok(()), Err));
    assert_eq!(ring.stats().rejected_take, 1);
}

#[test]
fn interrupted_fill_returns_its_first_ids() {
    let layout: Layout = "t40.n8.s8@0/50ms".parse().unwrap();
    let generator = Generator::builder(layout).node(2).sequence_mask(0).build().unwrap();
    let mut ids = [Id::from_u64(0); 1000];
    CHECKS.set(0);
    let filled = interruptible(second, || generator.fill(&mut ids)).unwrap();
    assert!((1..1000).contains(&filled), "{filled}");
    // The function belongs to this call only.
    let checks = CHECKS.get();
    generator.next_ids(4).unwrap();
    assert_eq!(CHECKS.get(), checks);
}

#[test]
fn interruption_allows_the_function_to_use_the_generator() {
    thread_local! {
        static SHARED: Generator = hourly(SystemClock, Duration::from_millis(50));
    }
    fn check() -> bool {
        let refused = SHARED.with(|generator| generator.next_id().unwrap_err());
        assert_eq!(refused.kind(), ErrorKind::SequenceExhausted);
        second()
    }
    CHECKS.set(0);
    let call = || SHARED.with(|generator| generator.next_id_within(LONG));
    assert_eq!(interruptible(check, call).unwrap_err().kind(), ErrorKind::SequenceExhausted);
}

#[test]
fn interruptible_calls_count_each_wait_once() {
    let clock = ManualClock::new(1_700_000_000_000);
    let generator = hourly(clock.clone(), Duration::from_millis(250));
    generator.next_id().unwrap();
    let error = interruptible(never, || generator.next_id()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::SequenceExhausted);
    assert_eq!(clock.unix_ms(), 1_700_000_000_250);
    let generator = hourly(clock.clone(), LONG);
    generator.next_id().unwrap();
    let ids = interruptible(never, || generator.next_ids(3)).unwrap();
    assert!(ids.is_sorted_by(|a, b| a < b));
    // The wait for each of the three ticks was divided into thousands of sleeps.
    assert_eq!(generator.stats().waits, 3);
}
