//! Making IDs in one thread.

use std::mem::MaybeUninit;

use flakeid::LocalGenerator;

use crate::border::given;
use crate::generator::GeneratorHandle;
use crate::guard::guard;
use crate::status::Status;

/// One thread's share of a generator. It is several times faster, because it reserves IDs in
/// blocks. Its own IDs strictly increase, and no ID is issued twice, here or elsewhere; across
/// threads there is no order. Times in IDs are never ahead of the clock, and late by at most one
/// tick of the kernel's coarse clock, a few milliseconds.
///
/// Only one thread may use it at a time: give each thread one of its own, or let them take turns.
/// In a forked child it works, or fails, as its generator does there.
pub struct LocalHandle(LocalGenerator);

/// Makes a local handle of a generator, fixed or leased. The caller owns it and frees it with
/// flakeid_local_free(). The handle keeps a reference of its own, so the generator may be freed
/// before it: the handle of a leased generator is FLAKEID_CLOSED from then on, any other goes on.
/// Any thread.
///
/// FLAKEID_NULL_ARGUMENT.
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

/// The next ID. Waits and fails as flakeid_generator_next(). One thread at a time.
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

/// Frees the handle; NULL is allowed. No other call may use the handle meanwhile or later.
#[unsafe(no_mangle)]
pub extern "C" fn flakeid_local_free(local: Option<Box<LocalHandle>>) {
    let _ = guard(|| {
        drop(local);
        Ok(())
    });
}
