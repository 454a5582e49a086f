//! The native half of the npm package `flakeid-core`: plain functions over `flakeid-core`.
//!
//! The classes that users see are JavaScript (`node/lib`), because a class method of an add-on
//! costs several times a plain function. What crosses the border, and in which form, is written
//! at the top of `node/lib/api.js`.

#![expect(unreachable_pub, reason = "the macro takes objects only if all of it is public")]
#![expect(clippy::needless_pass_by_value, reason = "the macro hands arguments over")]
#![expect(clippy::trivially_copy_pass_by_ref, reason = "values borrow from the environment")]

mod clock;
mod environment;
mod function;
mod generator;
mod handle;
mod layout;
mod number;
mod options;
mod text;

use napi::bindgen_prelude::{BigUint64Array, Function};
use napi::{Env, Result, Unknown};
use napi_derive::napi;

use environment::{Environment, FailureArguments};

/// Takes the function that makes errors, and the array of one number into which `nextId` and
/// `tryNextId` write. The array must not be given to anybody else.
#[napi(catch_unwind)]
pub(crate) fn setup(
    env: Env,
    #[napi(
        ts_arg_type = "(code: string, message: string, retryAfterMs?: number, byMs?: number, horizon?: bigint, field?: string) => Error"
    )]
    make_error: Function<FailureArguments, Unknown<'static>>,
    register: BigUint64Array,
) -> Result<()> {
    Environment::set_up(&env, &make_error, register)
}

/// The version of the library.
#[napi(catch_unwind)]
pub(crate) fn version() -> &'static str {
    env!("CARGO_PKG_VERSION")
}
