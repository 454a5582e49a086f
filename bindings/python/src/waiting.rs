//! Calls that wait. Python handles signals during each wait, and other threads and greenlets run.

use std::cell::Cell;
use std::time::{Duration, Instant};

use flakeid::Generator as Held;
use flakeid_core::{Error, Id, internal};
use pyo3::intern;
use pyo3::prelude::*;

/// The largest number of IDs that are generated before other Python threads can run. Generating this
/// many IDs takes a few tens of microseconds.
pub(crate) const MOST_AT_ONCE: usize = 1 << 16;

thread_local! {
    /// The exception of a signal handler that ended the call of this thread.
    static RAISED: Cell<Option<PyErr>> = const { Cell::new(None) };
}

/// Lets Python handle signals, so that Ctrl-C ends a call that waits.
#[expect(clippy::redundant_closure_for_method_calls, reason = "the method is not general enough")]
fn signals() -> bool {
    let raised = RAISED.take().or_else(|| Python::attach(|py| py.check_signals()).err());
    let is_raised = raised.is_some();
    RAISED.set(raised);
    is_raised
}

/// Makes a call without the GIL. Python handles signals at least every 100 ms while the call waits.
///
/// # Errors
/// The exception that a signal handler raised, which ended the call.
pub(crate) fn interruptible<T: Send>(
    py: Python<'_>,
    call: impl FnOnce() -> T + Send,
) -> PyResult<T> {
    let done = py.detach(|| internal::interruptible(signals, call));
    RAISED.take().map_or(Ok(done), Err)
}

/// Repeats a call that found no ID, for as long as the core waits. `attempt` repeats the call, and waits at most the
/// given time.
///
/// # Errors
/// The exception that a signal handler raised. The inner result contains the core's error.
pub(crate) fn wait<T: Send>(
    py: Python<'_>,
    held: &Held,
    mut attempt: impl FnMut(Duration) -> Result<T, Error> + Send,
) -> PyResult<Result<T, Error>> {
    match sleep_of_greenlets(py)? {
        Some(sleep) => poll(held, || attempt(Duration::ZERO), |pause| sleep_for(&sleep, pause)),
        None => interruptible(py, || attempt(held.max_wait())),
    }
}

fn poll<T>(
    held: &Held,
    mut attempt: impl FnMut() -> Result<T, Error>,
    mut sleep: impl FnMut(Duration) -> PyResult<()>,
) -> PyResult<Result<T, Error>> {
    let begun = Instant::now();
    loop {
        let error = match attempt() {
            Ok(done) => return Ok(Ok(done)),
            Err(error) => error,
        };
        match held.retry_pause(&error, begun.elapsed()) {
            Some(pause) => sleep(pause)?,
            None => return Ok(Err(error)),
        }
    }
}

fn sleep_for(sleep: &Bound<'_, PyAny>, pause: Duration) -> PyResult<()> {
    sleep.call1((pause.as_secs_f64(),)).map(drop)
}

/// Fills `ids`, and returns the number of IDs. A short fill that needs no wait does not release the
/// GIL.
///
/// # Errors
/// The errors of [`wait`]. The inner result contains the core's error if the call generated no ID.
pub(crate) fn fill(py: Python<'_>, held: &Held, ids: &mut [Id]) -> PyResult<Result<usize, Error>> {
    let mut have = 0;
    if ids.len() <= MOST_AT_ONCE {
        match held.try_fill(ids) {
            Ok(filled) if filled == ids.len() => return Ok(Ok(filled)),
            tried => have = tried.unwrap_or_default(),
        }
    }
    let Some(sleep) = sleep_of_greenlets(py)? else {
        let rest = &mut ids[have..];
        let more = interruptible(py, || held.fill(rest))?;
        return Ok(more.map(|more| have + more).or_else(|error| partly(have, error)));
    };
    while have < ids.len() {
        let end = ids.len().min(have + MOST_AT_ONCE);
        let piece = &mut ids[have..end];
        match poll(held, || held.try_fill(piece), |pause| sleep_for(&sleep, pause))? {
            Ok(more) => have += more,
            Err(error) => return Ok(partly(have, error)),
        }
    }
    Ok(Ok(have))
}

/// Returns the number of IDs, or the error if the call generated no ID.
fn partly(have: usize, error: Error) -> Result<usize, Error> {
    if have > 0 { Ok(have) } else { Err(error) }
}

/// Returns `time.sleep` if gevent has replaced it, so that other greenlets of this thread run.
fn sleep_of_greenlets(py: Python<'_>) -> PyResult<Option<Bound<'_, PyAny>>> {
    let modules = py.import(intern!(py, "sys"))?.getattr(intern!(py, "modules"))?;
    let monkey = modules.call_method1(intern!(py, "get"), (intern!(py, "gevent.monkey"),))?;
    if monkey.is_none()
        || !monkey.call_method1(intern!(py, "is_module_patched"), ("time",))?.is_truthy()?
    {
        return Ok(None);
    }
    py.import(intern!(py, "time"))?.getattr(intern!(py, "sleep")).map(Some)
}
