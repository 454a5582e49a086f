//! Work that takes time, such as requests to a store. Each piece of work has its own thread. libuv's pool is not used,
//! because it has only four threads, on which files, DNS and cryptography depend. Moreover, the end of a process or
//! worker would wait for work in the pool.

use std::panic::{AssertUnwindSafe, catch_unwind};

use flakeid_core::internal::spawn_background;
use flakeid_core::{Error, ErrorKind};
use napi::bindgen_prelude::{Object, ToNapiValue};
use napi::{Env, Result, Status};

use crate::environment::thrown;
use crate::function::DEFECT;

/// Runs `work` on a thread of its own. Returns a promise of the value that `shown` creates on the event loop from the
/// result. If the environment ends before the work, the result is dropped.
pub(crate) fn promise<T: Send + 'static, V: ToNapiValue + 'static>(
    env: &Env,
    work: impl FnOnce() -> std::result::Result<T, Error> + Send + 'static,
    shown: impl FnOnce(&Env, T) -> Result<V> + Send + 'static,
) -> Result<Object<'_>> {
    let (deferred, promise) = env.create_deferred()?;
    let unstarted = deferred.clone();
    let started = spawn_background("flakeid-call", move || {
        // An uncaught panic would leave the promise unsettled.
        let done = catch_unwind(AssertUnwindSafe(work));
        deferred.resolve(move |env: Env| match done {
            Ok(Ok(value)) => shown(&env, value),
            Ok(Err(error)) => Err(thrown(&env, &error)),
            Err(_) => Err(napi::Error::new(Status::GenericFailure, DEFECT)),
        });
    });
    if let Err(error) = started {
        let text = format!("a thread for the call cannot be started: {error}");
        let error = Error::new(ErrorKind::StoreUnavailable, &text, None);
        unstarted.reject(thrown(env, &error));
    }
    Ok(promise)
}
