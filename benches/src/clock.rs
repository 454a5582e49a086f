//! The clocks the harness reads, and what else the system knows of processes.

#![allow(unsafe_code)] // `clock_gettime`: std has no CPU clock, no coarse one, no bare milliseconds; `getrusage`.

use std::time::Duration;

/// Milliseconds since the Unix epoch: the least a strict generator has to ask the system.
#[inline]
pub(crate) fn unix_ms() -> u64 {
    let now = read(libc::CLOCK_REALTIME);
    now.tv_sec.cast_unsigned() * 1000 + now.tv_nsec.cast_unsigned() / 1_000_000
}

/// The kernel's last tick, from the kernel without a detour through libc: the least that anything has
/// to ask that looks at a clock.
#[cfg(target_os = "linux")]
#[inline]
pub(crate) fn coarse() -> u64 {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::RealtimeCoarse);
    now.tv_sec.cast_unsigned() << 30 | now.tv_nsec.cast_unsigned()
}

/// There is no coarser clock.
#[cfg(not(target_os = "linux"))]
#[inline]
pub(crate) fn coarse() -> u64 {
    unix_ms()
}

/// The processor's cycle counter.
#[cfg(target_arch = "x86_64")]
#[inline]
pub(crate) fn counter() -> u64 {
    // SAFETY: every x86-64 processor has the instruction.
    unsafe { std::arch::x86_64::_rdtsc() }
}

/// None that is known here.
#[cfg(not(target_arch = "x86_64"))]
#[inline]
pub(crate) fn counter() -> u64 {
    0
}

/// CPU time, user and system, of all threads.
pub(crate) fn process_cpu() -> Duration {
    duration(read(libc::CLOCK_PROCESS_CPUTIME_ID))
}

/// CPU time, user and system, of the calling thread alone. The process's would count rivals'
/// background threads against every row that is measured after they have been started.
pub(crate) fn thread_cpu() -> Duration {
    duration(read(libc::CLOCK_THREAD_CPUTIME_ID))
}

/// The most resident memory that any process had that this one started and waited for.
pub(crate) fn largest_child_kib() -> f64 {
    // SAFETY: zeros are a valid `rusage`, which the call writes.
    let used = unsafe {
        let mut used: libc::rusage = std::mem::zeroed();
        libc::getrusage(libc::RUSAGE_CHILDREN, &raw mut used);
        used
    };
    used.ru_maxrss as f64
}

fn duration(time: libc::timespec) -> Duration {
    Duration::new(time.tv_sec.cast_unsigned(), time.tv_nsec.cast_unsigned() as u32)
}

#[inline]
fn read(clock: libc::clockid_t) -> libc::timespec {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `time` is a valid timespec for the call to write. These clocks exist on every
    // supported system, so the call cannot fail; if it did, `time` would still be initialised.
    unsafe { libc::clock_gettime(clock, &raw mut time) };
    time
}
