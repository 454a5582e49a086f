//! Local handles, each of which takes IDs from a generator for one thread.

use std::mem::MaybeUninit;

use flakeid::LocalGenerator;

use crate::border::given;
use crate::generator::GeneratorHandle;
use crate::guard::{free, guard};
use crate::status::Status;

/// A handle through which one thread takes IDs several times faster than from the generator itself,
/// because the handle reserves IDs in chunks. The IDs of one handle strictly increase. No ID is
/// issued twice, by the same handle or by different handles. The IDs of different handles are not
/// ordered. The time in an ID is never ahead of the clock, and lags behind the clock by at most one
/// tick of the kernel's coarse clock, which is a few milliseconds.
///
/// Only one thread at a time may use a handle: open a separate handle for each thread, or let
/// threads take turns. In a forked child, a handle works or fails like its generator.
pub struct LocalHandle(LocalGenerator);

/// Creates a local handle for a generator with a fixed node or a leased node. The caller owns the
/// handle and must free it with flakeid_local_free(). The handle keeps a reference to the
/// generator, so the generator may be freed first. After the generator is freed, the handle fails
/// with FLAKEID_CLOSED if the node is leased, and continues to work if the node is fixed.
/// Thread-safe.
///
/// Errors: FLAKEID_NULL_ARGUMENT.
#[unsafe(no_mangle)]
pub extern "C" fn flakeid_local_open(
    generator: Option<&GeneratorHandle>,
    local: Option<&mut MaybeUninit<Box<LocalHandle>>>,
) -> Status {
    guard(|| {
        let (generator, local) = (given(generator, "generator")?, given(local, "local")?);
        local.write(Box::new(LocalHandle(generator.generator.local())));
        Ok(())
    })
}

/// Writes the next ID to `id`. Waits in the same way as flakeid_generator_next(), and returns the
/// same errors. Only one thread at a time may use the handle.
#[unsafe(no_mangle)]
pub extern "C" fn flakeid_local_next(
    local: Option<&mut LocalHandle>,
    id: Option<&mut MaybeUninit<u64>>,
) -> Status {
    guard(|| {
        let (local, id) = (given(local, "local")?, given(id, "id")?);
        id.write(local.0.next_id()?.to_u64());
        Ok(())
    })
}

/// Frees the handle; NULL is allowed. No other call may use the handle during or after this call.
#[unsafe(no_mangle)]
pub extern "C" fn flakeid_local_free(local: Option<Box<LocalHandle>>) {
    free(local);
}
