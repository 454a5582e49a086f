//! The bare loop: writes `base + i` into an array and does nothing else.

use flakeid_core::Id;

/// Runs the loop as compiled for any processor. It is never inlined, so that the loop is compiled once, like the
/// loop of `fill`.
#[inline(never)]
pub(crate) fn write(base: u64, ids: &mut [Id]) {
    body(base, ids);
}

#[inline(always)]
#[expect(clippy::inline_always, reason = "it inherits the target features of the caller")]
fn body(base: u64, ids: &mut [Id]) {
    for (slot, id) in ids.iter_mut().zip(base..) {
        *slot = Id::from_u64(id);
    }
}

/// Returns the same loop compiled for AVX2, whose stores are twice as wide, or `None` if the processor has no AVX2.
/// It shows what the processor can do.
#[cfg(target_arch = "x86_64")]
pub(crate) fn wide() -> Option<fn(u64, &mut [Id])> {
    #![allow(unsafe_code)]

    #[inline(never)]
    #[target_feature(enable = "avx2")]
    fn with_avx2(base: u64, ids: &mut [Id]) {
        body(base, ids);
    }

    fn write(base: u64, ids: &mut [Id]) {
        // SAFETY: `wide` returns this function only if the processor has AVX2.
        unsafe { with_avx2(base, ids) }
    }

    std::arch::is_x86_feature_detected!("avx2").then_some(write)
}

#[cfg(not(target_arch = "x86_64"))]
pub(crate) fn wide() -> Option<fn(u64, &mut [Id])> {
    None
}
