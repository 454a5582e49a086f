//! The functions with which JavaScript uses rings of IDs.

use std::sync::Arc;

use flakeid_core::{Error, RingOptions};
use napi::bindgen_prelude::{BigUint64Array, External, FnArgs, Function};
use napi::threadsafe_function::ThreadsafeFunctionCallMode;
use napi::{Env, Result, Unknown};
use napi_derive::napi;

use crate::cached::Cached;
use crate::environment::{Environment, thrown};
use crate::generator::Owned;
use crate::options::apply;
use crate::slots::SlotHandle;

/// A ring, which is kept alive by its JavaScript handle and its slot.
pub(crate) type Ring = External<Arc<Cached>>;

type ErrorArguments = FnArgs<(Unknown<'static>,)>;

/// Creates a ring for a generator, and fills the ring. The listener receives the error each time
/// the generator refuses to refill the ring, and does not keep the event loop running.
#[napi(catch_unwind)]
pub(crate) fn open_ring(
    env: Env,
    owned: &Owned,
    settings: Vec<String>,
    #[napi(ts_arg_type = "((error: Error) => void) | undefined")] on_rejected_put: Option<
        Function<ErrorArguments, Unknown<'static>>,
    >,
) -> Result<Ring> {
    let refused = |error: Error| thrown(&env, &error);
    let mut options = apply(RingOptions::new(), &settings).map_err(refused)?;
    if let Some(listener) = on_rejected_put {
        options = options.on_rejected_put(handler(&listener)?);
    }
    let cached = Cached::open(owned, options).map_err(refused)?;
    #[expect(
        clippy::arc_with_non_send_sync,
        reason = "handles of all kinds are registered in the same way"
    )]
    Ok(External::new(Arc::new(cached)))
}

/// Returns a handler that passes errors to a function on the event loop, without keeping the loop
/// running.
fn handler(
    listener: &Function<ErrorArguments, Unknown<'static>>,
) -> Result<impl Fn(&Error) + Send + Sync + 'static> {
    let listener = listener
        .build_threadsafe_function::<Error>()
        .weak::<true>()
        .callee_handled::<false>()
        .build_callback(|call| arguments(&call.env, &call.value))?;
    Ok(move |error: &Error| {
        // The listener no longer exists after the environment has ended, so a failed call is
        // ignored.
        let _ = listener.call(error.clone(), ThreadsafeFunctionCallMode::NonBlocking);
    })
}

fn arguments(env: &Env, error: &Error) -> Result<ErrorArguments> {
    Ok((Environment::error(env, error)?,).into())
}

/// Registers a ring in a slot, and returns the slot.
#[napi(catch_unwind)]
pub(crate) fn slot_of_ring(env: Env, ring: &Ring) -> Result<SlotHandle> {
    let cached = Arc::clone(ring);
    Ok(Environment::from_env(&env)?.dispatcher.register(cached))
}

/// Returns the number of IDs that a ring can hold.
#[napi(catch_unwind)]
pub(crate) fn ring_capacity(ring: &Ring) -> f64 {
    ring.capacity() as f64
}

/// Returns six counts for a ring, in this order: IDs in the ring, IDs taken, IDs dropped as stale,
/// failed refills, failed calls, and refills.
#[napi(catch_unwind)]
pub(crate) fn ring_stats(ring: &Ring) -> BigUint64Array {
    let stats = ring.stats();
    BigUint64Array::new(vec![
        stats.size,
        stats.taken,
        stats.dropped_stale,
        stats.rejected_put,
        stats.rejected_take,
        stats.refills,
    ])
}

/// Closes a ring, and waits for the ring's thread to end. The wait takes up to 10 ms, or longer if
/// the thread is running a handler.
#[napi(catch_unwind)]
pub(crate) fn close_ring(ring: &Ring) {
    ring.close();
}
