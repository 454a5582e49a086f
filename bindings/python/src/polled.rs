//! Calls that do not wait, from which `flakeid._asyncio` builds calls that wait on an event loop.

use std::time::Duration;

use flakeid::Generator;
use flakeid_core::Error;
use pyo3::prelude::*;

use crate::error::raise;

/// The result of a call that did not wait: a value, or the seconds after which to repeat the call.
#[derive(IntoPyObject)]
pub(crate) enum Polled<T> {
    Done(T),
    Pause(f64),
}

/// Converts the result of a call that did not wait. The core decides whether to repeat the call,
/// whose first attempt was `waited` seconds ago.
pub(crate) fn polled<T>(
    generator: &Generator,
    waited: f64,
    tried: Result<T, Error>,
) -> PyResult<Polled<T>> {
    tried.map(Polled::Done).or_else(|error| {
        let waited = Duration::try_from_secs_f64(waited).unwrap_or_default();
        match generator.retry_pause(&error, waited) {
            Some(pause) => Ok(Polled::Pause(pause.as_secs_f64())),
            None => Err(raise(error)),
        }
    })
}
