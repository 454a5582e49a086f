//! Writing a run of IDs, which is as fast as memory if the compiler may use wide stores.

use crate::Id;

/// Writes `first`, `first + step`, `first + 2 step`, … where `step` is 2^`shift`.
#[inline]
pub(super) fn write_steps(first: u64, shift: u8, ids: &mut [Id]) {
    // Below this the wide loop's own entry costs as much as it saves.
    const FEW: usize = 32;
    if ids.len() < FEW {
        return plain(first, shift, ids);
    }
    wide::write(first, shift, ids);
}

#[inline(always)]
#[expect(clippy::inline_always, reason = "it takes on the features of the caller")]
fn plain(first: u64, shift: u8, ids: &mut [Id]) {
    // Two loops, because the usual one (the sequence in the lowest bits) needs additions alone.
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

/// The same loop compiled for the wide stores that most x86-64 processors have but that programs
/// built for all of them may not assume: half the time for a thousand IDs.
#[cfg(all(feature = "std", target_arch = "x86_64"))]
mod wide {
    #![allow(unsafe_code)]

    use crate::Id;

    pub(super) fn write(first: u64, shift: u8, ids: &mut [Id]) {
        if std::arch::is_x86_feature_detected!("avx2") {
            // SAFETY: the processor has just been found to have AVX2, which is all it needs.
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
