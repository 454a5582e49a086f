//! The x86-64 cycle counter on Linux.

#![allow(unsafe_code)]

use core::arch::x86_64::{__cpuid, _rdtsc};
use core::sync::atomic::{AtomicU8, Ordering};

use crate::clock::gate::{Gate, Instruments};
use crate::clock::system;

/// The gate of this process, which all threads share.
static GATE: Gate = Gate::new();

struct Processor;

impl Instruments for Processor {
    #[inline]
    fn counter(&self) -> u64 {
        // SAFETY: every x86-64 processor has the `rdtsc` instruction. A process that is not allowed to execute
        // `rdtsc` cannot read the clock either, because this code runs only if the kernel uses the counter as its
        // clock source.
        unsafe { _rdtsc() }
    }

    fn wall(&self) -> (i64, u64) {
        let (seconds, nanoseconds) = system::read();
        let ms = seconds * 1000 + i64::from(nanoseconds / 1_000_000);
        (ms, u64::from(nanoseconds % 1_000_000))
    }

    fn steady(&self) -> u64 {
        let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
        // SAFETY: `time` is a valid, writable timespec, and `CLOCK_BOOTTIME` has existed since Linux 2.6.39.
        unsafe { libc::clock_gettime(libc::CLOCK_BOOTTIME, &raw mut time) };
        (time.tv_sec * 1_000_000_000 + time.tv_nsec).cast_unsigned()
    }

    fn process(&self) -> u64 {
        u64::from(std::process::id())
    }
}

#[inline]
pub(super) fn now_ms() -> i64 {
    GATE.read(&Processor)
}

const UNKNOWN: u8 = 0;
const FIT: u8 = 1;
const UNFIT: u8 = 2;

static STATE: AtomicU8 = AtomicU8::new(UNKNOWN);

#[inline]
pub(super) fn is_fit() -> bool {
    match STATE.load(Ordering::Relaxed) {
        UNKNOWN => find_out(),
        state => state == FIT,
    }
}

/// Checks whether the gate can use this machine's counter, and stores the result. Concurrent checks are harmless,
/// because they have the same result.
#[cold]
fn find_out() -> bool {
    let fit = has_invariant_counter() && is_kept_by_the_kernel();
    STATE.store(if fit { FIT } else { UNFIT }, Ordering::Relaxed);
    fit
}

/// Whether the counter has the same rate at every processor frequency and while the processor sleeps.
#[allow(unused_unsafe, reason = "safe in later versions of the standard library")]
fn has_invariant_counter() -> bool {
    const POWER: u32 = 0x8000_0007;
    // SAFETY: every x86-64 processor has the `cpuid` instruction, and the first extended leaf returns the number of
    // the last extended leaf.
    unsafe { __cpuid(0x8000_0000).eax >= POWER && __cpuid(POWER).edx & (1 << 8) != 0 }
}

/// Whether the kernel has compared the counters of all processors, continues to monitor the counters, and derives the
/// system clock from the counters. With other clock sources, such as `kvm-clock`, the host provides the clock and may
/// change its rate.
fn is_kept_by_the_kernel() -> bool {
    const NAME: &str = "/sys/devices/system/clocksource/clocksource0/current_clocksource";
    std::fs::read(NAME).is_ok_and(|name| name.trim_ascii() == b"tsc")
}
