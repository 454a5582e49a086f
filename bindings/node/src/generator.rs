//! The functions with which JavaScript uses generators and manual clocks.

use std::sync::Arc;
use std::time::Duration;

use flakeid_core::{Clock, Error, Id, ManualClock, whole_ms};
use napi::bindgen_prelude::{BigInt, BigUint64Array, Either, External, Function};
use napi::{Env, Result};
use napi_derive::napi;

use crate::environment::{Environment, thrown};
use crate::function;
use crate::handle::{Handle, Polled};
use crate::options::{OptionTexts, bits, field, signed};
use crate::slots::SlotHandle;

/// A generator, which is kept alive by its JavaScript handle, its slot and the functions bound to
/// the generator.
pub(crate) type Owned = External<Arc<Handle>>;

/// Builds a generator.
#[napi(catch_unwind)]
pub(crate) fn open(
    env: Env,
    options: OptionTexts,
    clock: Option<&External<ManualClock>>,
) -> Result<Owned> {
    let handle = Handle::open(&options, clock.map(|clock| &**clock));
    handle.map(External::new).map_err(|error| thrown(&env, &error))
}

/// Registers a generator in a slot, and returns the slot.
#[napi(catch_unwind)]
pub(crate) fn slot_of(env: Env, owned: &Owned) -> Result<SlotHandle> {
    let handle = Arc::clone(owned);
    Ok(Environment::from_env(&env)?.dispatcher.register(handle))
}

/// Creates a function that fills an array with IDs from the generator. The function returns the
/// number of IDs written.
#[napi(catch_unwind, ts_return_type = "(ids: BigUint64Array | BigInt64Array) => number")]
pub(crate) fn bind_fill<'env>(env: &'env Env, owned: &Owned) -> Result<Function<'env, (), ()>> {
    function::bind(env, c"fill", function::fill, owned)
}

/// Creates a function that writes the available IDs to an array without waiting. The function
/// returns the number of IDs written.
#[napi(catch_unwind, ts_return_type = "(ids: BigUint64Array | BigInt64Array) => number")]
pub(crate) fn bind_try_fill<'env>(env: &'env Env, owned: &Owned) -> Result<Function<'env, (), ()>> {
    function::bind(env, c"tryFill", function::try_fill, owned)
}

/// Creates a function that writes the available IDs to an array. The function waits only for the
/// first ID, and only if no ID is available. The function returns the number of IDs written.
#[napi(catch_unwind, ts_return_type = "(ids: BigUint64Array | BigInt64Array) => number")]
pub(crate) fn bind_fill_some<'env>(
    env: &'env Env,
    owned: &Owned,
) -> Result<Function<'env, (), ()>> {
    function::bind(env, c"fillSome", function::fill_some, owned)
}

/// Returns the next `n` IDs.
#[napi(catch_unwind)]
pub(crate) fn next_ids(env: Env, owned: &Owned, n: u32) -> Result<BigUint64Array> {
    owned.next_ids(n as usize).map(array).map_err(|error| thrown(&env, &error))
}

fn array(ids: Vec<Id>) -> BigUint64Array {
    BigUint64Array::new(ids.into_iter().map(Id::to_u64).collect())
}

/// Returns the next ID without waiting, or the milliseconds after which to call again. Throws the
/// error if the call would wait no longer. The last argument is the time since the first call.
#[napi(catch_unwind, ts_return_type = "bigint | number")]
pub(crate) fn poll_next_id(env: Env, owned: &Owned, waited_ms: f64) -> Result<Either<BigInt, f64>> {
    polled(&env, owned.poll_next_id(waited(waited_ms)), |id| id.to_u64().into())
}

/// Returns at most `n` of the next IDs like `pollNextId`.
#[napi(catch_unwind, ts_return_type = "BigUint64Array | number")]
pub(crate) fn poll_next_ids(
    env: Env,
    owned: &Owned,
    n: u32,
    waited_ms: f64,
) -> Result<Either<BigUint64Array, f64>> {
    polled(&env, owned.poll_next_ids(n as usize, waited(waited_ms)), array)
}

fn waited(ms: f64) -> Duration {
    Duration::try_from_secs_f64(ms / 1000.0).unwrap_or_default()
}

fn polled<T, V>(
    env: &Env,
    polled: std::result::Result<Polled<T>, Error>,
    shown: impl FnOnce(T) -> V,
) -> Result<Either<V, f64>> {
    match polled {
        Ok(Polled::Done(value)) => Ok(Either::A(shown(value))),
        Ok(Polled::Pause(pause)) => Ok(Either::B(whole_ms(pause) as f64)),
        Err(error) => Err(thrown(env, &error)),
    }
}

/// Extends the window of a generator to the given fence.
#[napi(catch_unwind)]
pub(crate) fn extend(env: Env, owned: &Owned, fence: String) -> Result<()> {
    let extended = field("fence", &fence, u64::MAX).and_then(|fence| owned.extend(fence));
    extended.map_err(|error| thrown(&env, &error))
}

/// Retires a generator, and returns the last tick in which it issued an ID, or `null` if it issued
/// no ID.
#[napi(catch_unwind)]
pub(crate) fn retire(env: Env, owned: &Owned) -> Result<Option<BigInt>> {
    let last = owned.retire().map_err(|error| thrown(&env, &error))?;
    Ok(last.map(BigInt::from))
}

/// Returns the statistics of a generator: the numbers of waits and rollbacks, and the largest
/// number of ticks by which an ID was ahead of the clock.
#[napi(catch_unwind)]
pub(crate) fn stats(owned: &Owned) -> BigUint64Array {
    let stats = owned.stats();
    BigUint64Array::new(vec![stats.waits, stats.rollbacks, stats.largest_ahead])
}

/// Returns the canonical descriptor of a generator's layout.
#[napi(catch_unwind)]
pub(crate) fn layout_of(owned: &Owned) -> String {
    owned.layout().to_string()
}

/// Returns the nodes of a generator, in increasing order.
#[napi(catch_unwind)]
pub(crate) fn nodes_of(owned: &Owned) -> BigUint64Array {
    BigUint64Array::new(owned.nodes())
}

/// Creates a manual clock.
#[napi(catch_unwind)]
pub(crate) fn create_clock(unix_ms: BigInt) -> External<ManualClock> {
    External::new(ManualClock::new(signed(&unix_ms)))
}

/// Returns the time of a manual clock.
#[napi(catch_unwind)]
pub(crate) fn read_clock(clock: &External<ManualClock>) -> BigInt {
    clock.unix_ms().into()
}

/// Sets a manual clock.
#[napi(catch_unwind)]
pub(crate) fn set_clock(clock: &External<ManualClock>, unix_ms: BigInt) {
    clock.set(signed(&unix_ms));
}

/// Moves a manual clock forward.
#[napi(catch_unwind)]
pub(crate) fn advance_clock(clock: &External<ManualClock>, ms: BigInt) {
    clock.advance(Duration::from_millis(bits(&ms)));
}
