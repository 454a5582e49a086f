//! The cycle counter of x86-64 under Linux.

#![allow(unsafe_code)]

use core::arch::x86_64::{__cpuid, _rdtsc};
use core::sync::atomic::{AtomicU8, Ordering};

use crate::clock::gate::{Gate, Instruments};
use crate::clock::system;

/// One for the process: what a thread finds out serves all.
static GATE: Gate = Gate::new();

struct Processor;

impl Instruments for Processor {
    #[inline]
    fn counter(&self) -> u64 {
        // SAFETY: every x86-64 processor has the instruction. A process that was forbidden it cannot
        // read the clock either, because only a kernel that keeps time by the counter gets here.
        unsafe { _rdtsc() }
    }

    fn wall(&self) -> (i64, u64) {
        let (seconds, nanoseconds) = system::read();
        let ms = seconds * 1000 + i64::from(nanoseconds / 1_000_000);
        (ms, u64::from(nanoseconds % 1_000_000))
    }

    fn steady(&self) -> u64 {
        let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
        // SAFETY: `time` is a valid, writable timespec, and the clock exists since Linux 2.6.39.
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

/// Several threads may do so at once; they find the same.
#[cold]
fn find_out() -> bool {
    let fit = has_invariant_counter() && is_kept_by_the_kernel();
    STATE.store(if fit { FIT } else { UNFIT }, Ordering::Relaxed);
    fit
}

/// The same rate whatever the processor's frequency, and asleep too.
#[allow(unused_unsafe, reason = "safe in later versions of the standard library")]
fn has_invariant_counter() -> bool {
    const POWER: u32 = 0x8000_0007;
    // SAFETY: every x86-64 processor has the instruction, and the first leaf says which others.
    unsafe { __cpuid(0x8000_0000).eax >= POWER && __cpuid(POWER).edx & (1 << 8) != 0 }
}

/// The kernel has compared the counters of all processors, keeps watching them, and makes the
/// system's clock of them. Under other names (`kvm-clock`) the host makes it, and may change the
/// rate.
fn is_kept_by_the_kernel() -> bool {
    const NAME: &str = "/sys/devices/system/clocksource/clocksource0/current_clocksource";
    std::fs::read(NAME).is_ok_and(|name| name.trim_ascii() == b"tsc")
}
