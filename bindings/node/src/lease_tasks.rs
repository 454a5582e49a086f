//! Leases, which are opened and closed off the event loop, and whose events come from other threads.

use flakeid::LeaseEvent;
use flakeid_core::Error;
use napi::bindgen_prelude::{BigInt, BigUint64Array, ExternalRef, FnArgs, Function, Object};
use napi::threadsafe_function::ThreadsafeFunctionCallMode;
use napi::{Env, Result, Unknown};
use napi_derive::napi;

use crate::environment::{Environment, thrown};
use crate::generator::Owned;
use crate::handle::Handle;
use crate::leases::OpenLease;
use crate::off_loop;
use crate::options::OptionTexts;

/// Leases a node off the event loop, and returns a generator with that node. The node comes from
/// the store at the given URL. Without a URL, the environment variable `FLAKEID_STORE` specifies
/// the store. If this variable is not set, the node comes from the store of this host, or else from
/// this user's embedded store. The listener receives the kind, node, start, fence and error of each event, and does not keep the
/// event loop running.
#[napi(catch_unwind, ts_return_type = "Promise<Owned>")]
pub(crate) fn open_lease<'env>(
    env: &'env Env,
    url: Option<String>,
    options: OptionTexts,
    #[napi(
        ts_arg_type = "((kind: string, node?: bigint, start?: bigint, fence?: bigint, error?: Error) => void) | undefined"
    )]
    listener: Option<Function<EventArguments, Unknown<'static>>>,
) -> Result<Object<'env>> {
    let refused = |error: Error| thrown(env, &error);
    let layout = options.layout().map_err(refused)?;
    let builder = match &url {
        Some(url) => flakeid::lease(url, layout),
        None => flakeid::auto(layout),
    };
    let mut builder = builder.and_then(|builder| options.apply(builder)).map_err(refused)?;
    if let Some(listener) = listener {
        builder = builder.observer(observer(&listener)?);
    }
    off_loop::promise(
        env,
        move || builder.open(),
        |env, generator| {
            let Environment { leases, .. } = Environment::from_env(env)?;
            ExternalRef::new(env, Handle::leased(generator, leases))
        },
    )
}

/// The arguments of a listener for lease events: kind, node, start, fence and error.
type EventArguments = FnArgs<(
    &'static str,
    Option<BigInt>,
    Option<BigInt>,
    Option<BigInt>,
    Option<Unknown<'static>>,
)>;

/// Returns an observer that passes events to a function on the event loop, without keeping the loop
/// running.
fn observer(
    listener: &Function<EventArguments, Unknown<'static>>,
) -> Result<impl Fn(&LeaseEvent) + Send + Sync + 'static> {
    let listener = listener
        .build_threadsafe_function::<LeaseEvent>()
        .weak::<true>()
        .callee_handled::<false>()
        .build_callback(|call| arguments(&call.env, &call.value))?;
    Ok(move |event: &LeaseEvent| {
        // The listener no longer exists after the environment has ended, so a failed call is
        // ignored.
        let _ = listener.call(event.clone(), ThreadsafeFunctionCallMode::NonBlocking);
    })
}

fn arguments(env: &Env, event: &LeaseEvent) -> Result<EventArguments> {
    let number = |value: Option<u64>| value.map(BigInt::from);
    let error = event.error().map(|error| Environment::error(env, error)).transpose()?;
    let (node, start, fence) = (event.node(), event.start(), event.fence());
    Ok((event.kind(), number(node), number(start), number(fence), error).into())
}

/// The state of a lease.
#[napi(object, object_from_js = false)]
pub struct LeaseFigures {
    /// The numeric properties of the lease, in this order: start, fence, renewals, grants and
    /// failures.
    pub numbers: BigUint64Array,
    /// The instant at which the tick of the fence begins, in Unix milliseconds.
    pub fence_unix_ms: f64,
    /// The instant until which no other process can lease the node, in Unix milliseconds.
    pub expires_unix_ms: f64,
    /// Whether the node is lost, usually to another process, and can be used only until its fence.
    pub fenced_off: bool,
    /// The error of the latest attempt to acquire or renew the lease; absent if the attempt
    /// succeeded.
    #[napi(ts_type = "Error")]
    pub last_error: Option<Unknown<'static>>,
}

/// Returns the state of a generator's lease, or `null` if the node is fixed.
#[napi(catch_unwind)]
pub(crate) fn lease_of(env: Env, owned: &Owned) -> Result<Option<LeaseFigures>> {
    let Some(status) = owned.lease_status() else { return Ok(None) };
    let last_error = status.last_error.as_ref().map(|error| Environment::error(&env, error));
    Ok(Some(LeaseFigures {
        numbers: BigUint64Array::new(vec![
            status.start,
            status.fence,
            status.renewals,
            status.grants,
            status.failures,
        ]),
        fence_unix_ms: status.fence_unix_ms as f64,
        expires_unix_ms: status.expires_unix_ms as f64,
        fenced_off: status.fenced_off,
        last_error: last_error.transpose()?,
    }))
}

/// Ends a generator's lease, and waits off the event loop until the node is released.
#[napi(catch_unwind, ts_return_type = "Promise<void>")]
pub(crate) fn close_lease<'env>(env: &'env Env, owned: &Owned) -> Result<Object<'env>> {
    let pending = owned.close_lease();
    let released = Environment::from_env(env)?.leases.closing();
    off_loop::promise(
        env,
        move || {
            drop(pending);
            drop(released);
            Ok(())
        },
        |_, ()| Ok(()),
    )
}

/// Ends all leases of this Node.js environment (the main thread or a worker thread), and waits at
/// most one second for their nodes to be released.
#[napi(catch_unwind)]
pub(crate) fn close_leases(env: Env) -> Result<()> {
    Environment::from_env(&env)?.leases.end_all();
    Ok(())
}
