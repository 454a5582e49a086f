//! The bare loop: `base + i` into an array, and nothing else.

use flakeid_core::Id;

/// As a program that is built for every processor gets it. Never inlined, so that the loop is
/// compiled once, as that of `fill` is.
#[inline(never)]
pub(crate) fn write(base: u64, ids: &mut [Id]) {
    body(base, ids);
}

#[inline(always)]
#[expect(clippy::inline_always, reason = "it takes on the features of the caller")]
fn body(base: u64, ids: &mut [Id]) {
    for (slot, id) in ids.iter_mut().zip(base..) {
        *slot = Id::from_u64(id);
    }
}

/// The same loop compiled for AVX2, whose stores are twice as wide: what the processor can do.
/// `None` where there is no AVX2.
#[cfg(target_arch = "x86_64")]
pub(crate) fn wide() -> Option<fn(u64, &mut [Id])> {
    #![allow(unsafe_code)]

    #[inline(never)]
    #[target_feature(enable = "avx2")]
    fn with_avx2(base: u64, ids: &mut [Id]) {
        body(base, ids);
    }

    fn write(base: u64, ids: &mut [Id]) {
        // SAFETY: `wide` returns this function only where AVX2 is.
        unsafe { with_avx2(base, ids) }
    }

    std::arch::is_x86_feature_detected!("avx2").then_some(write)
}

#[cfg(not(target_arch = "x86_64"))]
pub(crate) fn wide() -> Option<fn(u64, &mut [Id])> {
    None
}
