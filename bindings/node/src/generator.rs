use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use flakeid_core::{Error, Id, ManualClock};
use napi::bindgen_prelude::{AsyncTask, BigInt, BigUint64Array, External, Function};
use napi::{Env, Result, Status, Task};
use napi_derive::napi;

use crate::environment::{Environment, thrown};
use crate::function;
use crate::handle::Handle;
use crate::number::field;
use crate::options::OptionTexts;

/// A generator in its own right. Functions bound to it keep it alive too.
pub(crate) type Owned = External<Arc<Handle>>;

/// Builds a generator.
#[napi(catch_unwind)]
pub(crate) fn open(
    env: Env,
    options: OptionTexts,
    clock: Option<&External<ManualClock>>,
) -> Result<Owned> {
    let place = Environment::of(&env)?.register.place();
    let handle = Handle::open(&options, clock.map(|clock| &**clock), place);
    handle.map(|handle| External::new(Arc::new(handle))).map_err(|error| thrown(&env, &error))
}

/// A function of a generator that writes the next ID into the array given to `setup`.
#[napi(catch_unwind, ts_return_type = "() => void")]
pub(crate) fn bind_next_id<'env>(env: &'env Env, owned: &Owned) -> Result<Function<'env, (), ()>> {
    function::bind(env, c"nextId", function::next_id, Arc::clone(owned))
}

/// The same without waiting.
#[napi(catch_unwind, ts_return_type = "() => void")]
pub(crate) fn bind_try_next_id<'env>(
    env: &'env Env,
    owned: &Owned,
) -> Result<Function<'env, (), ()>> {
    function::bind(env, c"tryNextId", function::try_next_id, Arc::clone(owned))
}

/// A function of a generator that fills an array and returns how many IDs it wrote.
#[napi(catch_unwind, ts_return_type = "(ids: BigUint64Array | BigInt64Array) => number")]
pub(crate) fn bind_fill<'env>(env: &'env Env, owned: &Owned) -> Result<Function<'env, (), ()>> {
    function::bind(env, c"fill", function::fill, Arc::clone(owned))
}

/// The same without waiting.
#[napi(catch_unwind, ts_return_type = "(ids: BigUint64Array | BigInt64Array) => number")]
pub(crate) fn bind_try_fill<'env>(env: &'env Env, owned: &Owned) -> Result<Function<'env, (), ()>> {
    function::bind(env, c"tryFill", function::try_fill, Arc::clone(owned))
}

/// The next IDs.
#[napi(catch_unwind)]
pub(crate) fn next_ids(env: Env, owned: &Owned, n: u32) -> Result<BigUint64Array> {
    owned.next_ids(n as usize).map(array).map_err(|error| thrown(&env, &error))
}

fn array(ids: Vec<Id>) -> BigUint64Array {
    BigUint64Array::new(ids.into_iter().map(Id::to_u64).collect())
}

/// What a task does in a thread of the pool, which would end the process if a panic came out.
fn caught<T>(work: impl FnOnce() -> T) -> Result<T> {
    let defect = |_| napi::Error::new(Status::GenericFailure, function::DEFECT);
    catch_unwind(AssertUnwindSafe(work)).map_err(defect)
}

/// One ID, made in a thread of the pool.
pub(crate) struct NextId(Arc<Handle>);

impl Task for NextId {
    type Output = std::result::Result<Id, Error>;
    type JsValue = BigInt;

    fn compute(&mut self) -> Result<Self::Output> {
        caught(|| self.0.generator.next_id())
    }

    fn resolve(&mut self, env: Env, made: Self::Output) -> Result<BigInt> {
        made.map(|id| id.to_u64().into()).map_err(|error| thrown(&env, &error))
    }
}

/// Many IDs, made in a thread of the pool.
pub(crate) struct NextIds(Arc<Handle>, usize);

impl Task for NextIds {
    type Output = std::result::Result<Vec<Id>, Error>;
    type JsValue = BigUint64Array;

    fn compute(&mut self) -> Result<Self::Output> {
        caught(|| self.0.generator.next_ids(self.1))
    }

    fn resolve(&mut self, env: Env, made: Self::Output) -> Result<BigUint64Array> {
        made.map(array).map_err(|error| thrown(&env, &error))
    }
}

/// The next ID, made off the event loop.
#[napi(catch_unwind, ts_return_type = "Promise<bigint>")]
pub(crate) fn next_id_async(owned: &Owned) -> AsyncTask<NextId> {
    AsyncTask::new(NextId(Arc::clone(owned)))
}

/// The next IDs, made off the event loop.
#[napi(catch_unwind, ts_return_type = "Promise<BigUint64Array>")]
pub(crate) fn next_ids_async(owned: &Owned, n: u32) -> AsyncTask<NextIds> {
    AsyncTask::new(NextIds(Arc::clone(owned), n as usize))
}

/// Raises the end of the window.
#[napi(catch_unwind)]
pub(crate) fn extend(env: Env, owned: &Owned, fence: String) -> Result<()> {
    let extended = field("fence", &fence, u64::MAX).and_then(|fence| owned.generator.extend(fence));
    extended.map_err(|error| thrown(&env, &error))
}

/// Ends the generator and returns the last tick it issued in.
#[napi(catch_unwind)]
pub(crate) fn retire(env: Env, owned: &Owned) -> Result<Option<BigInt>> {
    let last = owned.generator.retire().map_err(|error| thrown(&env, &error))?;
    Ok(last.map(BigInt::from))
}

/// waits, rollbacks, largest ahead.
#[napi(catch_unwind)]
pub(crate) fn stats(owned: &Owned) -> BigUint64Array {
    let stats = owned.generator.stats();
    BigUint64Array::new(vec![stats.waits, stats.rollbacks, stats.largest_ahead])
}

/// The canonical descriptor of its layout.
#[napi(catch_unwind)]
pub(crate) fn layout_of(owned: &Owned) -> String {
    owned.generator.layout().to_string()
}

/// Its node.
#[napi(catch_unwind)]
pub(crate) fn node_of(owned: &Owned) -> BigInt {
    owned.generator.node().into()
}
