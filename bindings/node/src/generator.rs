//! The functions with which JavaScript uses generators and manual clocks.

use std::sync::Arc;
use std::time::Duration;

use flakeid_core::{Clock, Error, Id, ManualClock};
use napi::bindgen_prelude::{AsyncTask, BigInt, BigUint64Array, External, Function};
use napi::{Env, Result, Task};
use napi_derive::napi;

use crate::environment::{Environment, thrown};
use crate::function;
use crate::function::TaskInput;
use crate::handle::{Handle, OffLoop};
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

/// Parses the size of a buffer, and checks that the size is from 1 to 65,536 IDs.
#[napi(catch_unwind)]
pub(crate) fn buffer_size(env: Env, size: String) -> Result<u32> {
    let most = 1 << 16;
    let parsed = size.parse().ok().filter(|size| (1..=most).contains(size));
    let refused = || Error::field_out_of_range("size", &size, 1, u64::from(most));
    parsed.ok_or_else(|| thrown(&env, &refused()))
}

/// Returns the next `n` IDs.
#[napi(catch_unwind)]
pub(crate) fn next_ids(env: Env, owned: &Owned, n: u32) -> Result<BigUint64Array> {
    owned.next_ids(n as usize).map(array).map_err(|error| thrown(&env, &error))
}

fn array(ids: Vec<Id>) -> BigUint64Array {
    BigUint64Array::new(ids.into_iter().map(Id::to_u64).collect())
}

/// A task that generates one ID in a pool thread.
pub(crate) struct NextId(TaskInput<OffLoop>);

impl Task for NextId {
    type Output = std::result::Result<Id, Error>;
    type JsValue = BigInt;

    fn compute(&mut self) -> Result<Self::Output> {
        self.0.caught(OffLoop::next_id)
    }

    fn resolve(&mut self, env: Env, made: Self::Output) -> Result<BigInt> {
        made.map(|id| id.to_u64().into()).map_err(|error| thrown(&env, &error))
    }
}

/// A task that generates many IDs in a pool thread.
pub(crate) struct NextIds(TaskInput<OffLoop>, usize);

impl Task for NextIds {
    type Output = std::result::Result<Vec<Id>, Error>;
    type JsValue = BigUint64Array;

    fn compute(&mut self) -> Result<Self::Output> {
        let n = self.1;
        self.0.caught(|generator| generator.next_ids(n))
    }

    fn resolve(&mut self, env: Env, made: Self::Output) -> Result<BigUint64Array> {
        made.map(array).map_err(|error| thrown(&env, &error))
    }
}

/// Generates the next ID off the event loop.
#[napi(catch_unwind, ts_return_type = "Promise<bigint>")]
pub(crate) fn next_id_async(env: Env, owned: &Owned) -> Result<AsyncTask<NextId>> {
    let generator = owned.off_loop().map_err(|error| thrown(&env, &error))?;
    Ok(AsyncTask::new(NextId(TaskInput::new(generator))))
}

/// Generates the next `n` IDs off the event loop.
#[napi(catch_unwind, ts_return_type = "Promise<BigUint64Array>")]
pub(crate) fn next_ids_async(env: Env, owned: &Owned, n: u32) -> Result<AsyncTask<NextIds>> {
    let generator = owned.off_loop().map_err(|error| thrown(&env, &error))?;
    Ok(AsyncTask::new(NextIds(TaskInput::new(generator), n as usize)))
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
