//! The state of a generator for the Go module, which takes most IDs without a call into this
//! library.

use std::mem::offset_of;

use crate::border::{self, Sized32, given};
use crate::generator::GeneratorHandle;
use crate::guard::guard;
use crate::status::Status;

/// Internal: the state with which the Go module takes an ID without a call into this library. The
/// meaning of the fields may change in any release, so other programs must not use them.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Exposed {
    /// The size of the struct: sizeof(flakeid_exposed).
    pub struct_size: u32,
    /// 1 if the other fields suffice to take an ID, otherwise 0.
    pub suffices: u32,
    /// The atomic word that contains the next free position; UINT64_MAX if the generator is closed.
    pub word: *const u64,
    /// The atomic, exclusive upper bound on positions; 0 if the generator is closed, or in a forked
    /// child.
    pub limit: *const u64,
    /// The start of tick 0, in Unix milliseconds.
    pub epoch: i64,
    /// The length of a tick, in milliseconds.
    pub unit_ms: u64,
    /// The number of milliseconds from the epoch to the horizon.
    pub span_ms: u64,
    /// The largest offset of a position within its tick.
    pub sequence_mask: u64,
    /// The node, shifted to the bit position of the node field in an ID.
    pub node_bits: u64,
    /// The number of bits below the tick in a position.
    pub width: u32,
    /// The bit position of the time field in an ID.
    pub time_shift: u32,
    /// The bit position of the sequence field in an ID.
    pub sequence_shift: u32,
    /// 1 if the word continues to exist after the generator, otherwise 0.
    pub is_shared: u32,
}

// SAFETY: the struct contains only numbers and raw pointers, so a struct whose bytes are all zero
// is valid.
unsafe impl Sized32 for Exposed {
    const FIRST: usize = offset_of!(Exposed, is_shared) + size_of::<u32>();
}

/// Writes to `exposed` the state with which the Go module takes IDs of the generator's current node.
/// The addresses are valid until the generator is freed. Internal: other programs must not use this
/// function. Thread-safe.
///
/// Errors: FLAKEID_CLOSED (a closed lease), FLAKEID_INVALID_OPTION (a wrong struct_size),
/// FLAKEID_NULL_ARGUMENT.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn flakeid_generator_expose(
    generator: Option<&GeneratorHandle>,
    exposed: *mut Exposed,
) -> Status {
    guard(|| {
        let now = given(generator, "generator")?.generator.exposed()?;
        let now = Exposed {
            struct_size: 0,
            suffices: now.suffices.into(),
            word: now.word.cast(),
            limit: now.limit.cast(),
            epoch: now.epoch,
            unit_ms: now.unit_ms,
            span_ms: now.span_ms,
            sequence_mask: now.sequence_mask,
            node_bits: now.node_bits,
            width: now.width.into(),
            time_shift: now.time_shift.into(),
            sequence_shift: now.sequence_shift.into(),
            is_shared: now.is_shared.into(),
        };
        // SAFETY: the C caller guarantees that `exposed` points to `struct_size` writable bytes.
        unsafe { border::write_sized(&now, exposed) }
    })
}
