//! Making IDs in one thread.

use std::mem::MaybeUninit;
use std::sync::Arc;

use flakeid_core::{Error, Generator, Id, LocalGenerator};
use flakeid_lease::{LeasedGenerator, LeasedLocalGenerator};

use crate::border::given;
use crate::generator::GeneratorHandle;
use crate::guard::guard;
use crate::maker::Maker;
use crate::status::Status;

enum Local {
    Fixed(LocalGenerator<Arc<Generator>>),
    Leased(LeasedLocalGenerator<Arc<LeasedGenerator>>),
}

impl Local {
    fn of(maker: &Maker) -> Self {
        match maker {
            Maker::Fixed(fixed) => Self::Fixed(LocalGenerator::new(Arc::clone(fixed))),
            Maker::Leased(leased) => {
                Self::Leased(LeasedLocalGenerator::new(Arc::clone(leased.generator())))
            }
        }
    }

    #[inline]
    fn next_id(&mut self) -> Result<Id, Error> {
        match self {
            Self::Fixed(local) => local.next_id(),
            Self::Leased(local) => local.next_id(),
        }
    }
}

/// One thread's share of a generator: several times faster, because it reserves IDs in blocks. Its
/// own IDs strictly increase and are never another's; across threads there is no order. Their
/// times are never ahead of the clock, and late by at most one tick of the kernel's coarse clock,
/// a few milliseconds.
///
/// Not for several threads at the same time: each has one of its own, or they take turns. In a
/// forked child it is as its generator there.
pub struct LocalHandle(Local);

/// Makes a local handle of a generator, fixed or leased. The caller owns it and frees it with
/// flakeid_local_free(). It keeps a reference of its own: the generator may be freed before it. The
/// handle of a leased one is FLAKEID_CLOSED then, any other goes on. Any thread.
///
/// FLAKEID_NULL_ARGUMENT.
#[unsafe(no_mangle)]
pub extern "C" fn flakeid_local_open(
    generator: Option<&GeneratorHandle>,
    local: Option<&mut MaybeUninit<Box<LocalHandle>>>,
) -> Status {
    guard(|| {
        let (generator, local) = (given(generator, "generator")?, given(local, "local")?);
        local.write(Box::new(LocalHandle(Local::of(&generator.0))));
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
