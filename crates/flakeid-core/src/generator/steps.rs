//! Writes ranges of IDs with wide store instructions, so that only the memory bandwidth limits the speed.

use crate::Id;

/// Writes `first`, `first + step`, `first + 2 * step`, … to `ids`, where `step` is 2^`shift`.
#[inline]
pub(super) fn write_steps(first: u64, shift: u8, ids: &mut [Id]) {
    // For fewer than `FEW` IDs, entering the wide loop takes as much time as the loop saves.
    const FEW: usize = 32;
    if ids.len() < FEW {
        return plain(first, shift, ids);
    }
    wide::write(first, shift, ids);
}

#[inline(always)]
#[expect(
    clippy::inline_always,
    reason = "the function must be compiled with the CPU features of its caller"
)]
fn plain(first: u64, shift: u8, ids: &mut [Id]) {
    // There are two loops, because the common case (the sequence in the lowest bits) requires only additions.
    if shift == 0 {
        for (id, offset) in ids.iter_mut().zip(0..) {
            *id = Id::from_u64(first + offset);
        }
    } else {
        for (id, offset) in ids.iter_mut().zip(0u64..) {
            *id = Id::from_u64(first + (offset << shift));
        }
    }
}

/// Runs a version of `plain` that is compiled for AVX2, which halves the time for a thousand IDs. Most x86-64
/// processors support AVX2, but portable programs cannot rely on this support.
#[cfg(all(feature = "std", target_arch = "x86_64"))]
mod wide {
    #![allow(unsafe_code)]

    use crate::Id;

    pub(super) fn write(first: u64, shift: u8, ids: &mut [Id]) {
        if std::arch::is_x86_feature_detected!("avx2") {
            // SAFETY: the condition guarantees that the processor supports AVX2, the only feature that `with_avx2`
            // requires.
            unsafe { with_avx2(first, shift, ids) };
        } else {
            super::plain(first, shift, ids);
        }
    }

    #[target_feature(enable = "avx2")]
    fn with_avx2(first: u64, shift: u8, ids: &mut [Id]) {
        super::plain(first, shift, ids);
    }
}

#[cfg(not(all(feature = "std", target_arch = "x86_64")))]
mod wide {
    pub(super) use super::plain as write;
}
