//! The clocks that the benchmark reads, and the resource use of processes.

#![allow(unsafe_code)] // `clock_gettime`: std has no CPU clock, no coarse one, no bare milliseconds; `getrusage`.

use std::time::Duration;

/// Returns the milliseconds since the Unix epoch: the minimum that a strict generator has to request from the system.
#[inline]
pub(crate) fn unix_ms() -> u64 {
    let now = read(libc::CLOCK_REALTIME);
    now.tv_sec.cast_unsigned() * 1000 + now.tv_nsec.cast_unsigned() / 1_000_000
}

/// Reads the kernel's last tick directly from the kernel, without libc: the cheapest way to read any clock.
#[cfg(target_os = "linux")]
#[inline]
pub(crate) fn coarse() -> u64 {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::RealtimeCoarse);
    now.tv_sec.cast_unsigned() << 30 | now.tv_nsec.cast_unsigned()
}

/// Reads the normal clock, because this system has no coarser one.
#[cfg(not(target_os = "linux"))]
#[inline]
pub(crate) fn coarse() -> u64 {
    unix_ms()
}

/// Reads the processor's cycle counter.
#[cfg(target_arch = "x86_64")]
#[inline]
pub(crate) fn counter() -> u64 {
    // SAFETY: every x86-64 processor has the instruction.
    unsafe { std::arch::x86_64::_rdtsc() }
}

/// Returns 0, because this library reads no counter of this processor.
#[cfg(not(target_arch = "x86_64"))]
#[inline]
pub(crate) fn counter() -> u64 {
    0
}

/// Returns the CPU time, user and system, of all threads.
pub(crate) fn process_cpu() -> Duration {
    duration(read(libc::CLOCK_PROCESS_CPUTIME_ID))
}

/// Returns the CPU time, user and system, of the calling thread. The time of the process would include the background
/// threads of rivals in every row that is measured after they started.
pub(crate) fn thread_cpu() -> Duration {
    duration(read(libc::CLOCK_THREAD_CPUTIME_ID))
}

/// Returns the largest resident memory of any child process that has ended, in KiB.
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
