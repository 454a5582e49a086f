//! The state of a JavaScript environment. The main thread and each worker have their own
//! environment.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

use flakeid_core::Error;
use napi::bindgen_prelude::{BigInt, BigUint64Array, FnArgs, Function, FunctionRef};
use napi::{Env, Status, Unknown};
use napi_derive::napi;

use crate::leases::Leases;
use crate::options::SPELLING;
use crate::slots::Dispatcher;

/// The arguments of the function that creates errors: code, message, retryAfterMs, byMs, horizon
/// and field.
pub(crate) type FailureArguments =
    FnArgs<(String, String, Option<f64>, Option<f64>, Option<BigInt>, Option<String>)>;

pub(crate) struct Environment {
    make_error: RefCell<FunctionRef<FailureArguments, Unknown<'static>>>,
    pub(crate) dispatcher: Arc<Dispatcher>,
    pub(crate) leases: Rc<Leases>,
}

impl Environment {
    /// Sets up an environment, or replaces the function that creates errors. Several copies of the
    /// package's JavaScript may use this add-on in one environment, because a test runner evaluates
    /// the JavaScript again for each file, and a package manager may install the package twice. All
    /// copies share the array, because the environment has one list of generators. The function
    /// from the latest call creates the errors.
    pub(crate) fn set_up(
        env: &Env,
        make_error: &Function<FailureArguments, Unknown<'static>>,
        mailbox: BigUint64Array,
    ) -> napi::Result<()> {
        if let Some(there) = env.get_instance_data::<Self>()? {
            if !there.dispatcher.has(mailbox) {
                let reason = "the array must be the same as in the first call in this environment";
                return Err(napi::Error::new(Status::InvalidArg, reason));
            }
            there.make_error.replace(make_error.create_ref()?);
            return Ok(());
        }
        let short = || napi::Error::new(Status::InvalidArg, "the array is too short");
        let dispatcher = Dispatcher::new(mailbox).ok_or_else(short)?;
        let leases = Rc::<Leases>::default();
        // This hook ends all leases together, before finalizers drop the generators one by one.
        env.add_env_cleanup_hook(Rc::clone(&leases), |leases| leases.end_for_good())?;
        let make_error = RefCell::new(make_error.create_ref()?);
        let made = Self { make_error, dispatcher, leases };
        env.set_instance_data(made, (), |_| {})
    }

    pub(crate) fn from_env(env: &Env) -> napi::Result<&'static Self> {
        let missing = || napi::Error::new(Status::GenericFailure, "call setup first");
        env.get_instance_data::<Self>()?.map(|found| &*found).ok_or_else(missing)
    }

    /// Returns the JavaScript object for a core error.
    pub(crate) fn error(env: &Env, error: &Error) -> napi::Result<Unknown<'static>> {
        let ms = |duration: std::time::Duration| duration.as_millis() as f64;
        // The environment owns the reference to the JavaScript function, and outlives this call.
        let make_error = Self::from_env(env)?.make_error.borrow().borrow_back(env)?;
        let spelled = error.spelled(&SPELLING);
        let arguments = (
            error.code().to_owned(),
            spelled.to_string(),
            error.retry_after().map(ms),
            error.rollback().map(ms),
            error.horizon().map(BigInt::from),
            spelled.field().map(str::to_owned),
        );
        make_error.call(arguments.into())
    }
}

/// Registers the function that creates errors, and the array of two numbers through which the
/// functions of `bindDispatch` pass IDs. No other code may use the array. Further calls in the same
/// environment replace the function, and must pass the same array.
#[napi(catch_unwind)]
pub(crate) fn setup(
    env: Env,
    #[napi(
        ts_arg_type = "(code: string, message: string, retryAfterMs?: number, byMs?: number, horizon?: bigint, field?: string) => Error"
    )]
    make_error: Function<FailureArguments, Unknown<'static>>,
    mailbox: BigUint64Array,
) -> napi::Result<()> {
    Environment::set_up(&env, &make_error, mailbox)
}

/// Converts a core error to the value that a native function returns to throw the error.
pub(crate) fn thrown(env: &Env, error: &Error) -> napi::Error {
    match Environment::error(env, error) {
        Ok(value) => value.into(),
        Err(failed) => failed,
    }
}

/// The version of the library.
#[napi(catch_unwind)]
pub(crate) fn version() -> &'static str {
    env!("CARGO_PKG_VERSION")
}
