use flakeid_core::Error;
use flakeid_lease::LeaseEvent;
use napi::bindgen_prelude::{BigInt, FnArgs, Function};
use napi::threadsafe_function::ThreadsafeFunctionCallMode;
use napi::{Env, Result, Unknown};

use crate::environment::Environment;

/// kind, node, start, fence, error.
pub(crate) type EventArguments = FnArgs<(
    &'static str,
    Option<BigInt>,
    Option<BigInt>,
    Option<BigInt>,
    Option<Unknown<'static>>,
)>;

/// Hands events over to a function on the event loop, which they do not keep running.
pub(crate) fn observer(
    listener: &Function<EventArguments, Unknown<'static>>,
) -> Result<impl Fn(&LeaseEvent) + Send + Sync + 'static> {
    let listener = listener
        .build_threadsafe_function::<LeaseEvent>()
        .weak::<true>()
        .callee_handled::<false>()
        .build_callback(|call| arguments(&call.env, &call.value))?;
    Ok(move |event: &LeaseEvent| {
        // After the end of the environment no listener is left.
        let _ = listener.call(event.clone(), ThreadsafeFunctionCallMode::NonBlocking);
    })
}

fn arguments(env: &Env, event: &LeaseEvent) -> Result<EventArguments> {
    let plain = |kind, node: Option<u64>, start: Option<u64>, fence: Option<u64>| {
        let number = |value: Option<u64>| value.map(BigInt::from);
        Ok((kind, number(node), number(start), number(fence), None).into())
    };
    let failed = |kind, node: Option<u64>, error: &Error| {
        let error = Environment::error(env, error)?;
        Ok((kind, node.map(BigInt::from), None, None, Some(error)).into())
    };
    match event {
        LeaseEvent::Acquired { node, start, fence } => {
            plain("acquired", Some(*node), Some(*start), Some(*fence))
        }
        LeaseEvent::Renewed { node, fence } => plain("renewed", Some(*node), None, Some(*fence)),
        LeaseEvent::FencedOff { node, error } => failed("fenced-off", Some(*node), error),
        LeaseEvent::Refused { error } => failed("refused", None, error),
        LeaseEvent::StoreLost { error } => failed("store-lost", None, error),
        LeaseEvent::StoreFound => plain("store-found", None, None, None),
        LeaseEvent::ClockSkew { error } => failed("clock-skew", None, error),
        LeaseEvent::Released { node } => plain("released", Some(*node), None, None),
        // A kind that only a newer core knows: its text describes it.
        _ => plain("other", None, None, None),
    }
}
