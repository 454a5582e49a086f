//! Blocking calls to asynchronous database drivers.

use std::future::Future;
use std::time::Duration;

use tokio::runtime::{Builder, Handle, Runtime};

use crate::retry::ANSWER_TIMEOUT;
use flakeid_protocol::store::Fault;

/// A runtime that drives one connection of an asynchronous driver. The runtime limits the duration of every wait, so
/// that both a server that is down and a server that hangs are detected.
pub(crate) struct BlockingRuntime {
    /// The tokio runtime; `None` only while this value is being dropped.
    runtime: Option<Runtime>,
    shown: String,
}

impl BlockingRuntime {
    /// Creates a runtime for the connection to a server. Error messages refer to the server as `shown`.
    ///
    /// # Errors
    /// [`Fault::Unavailable`] if the system does not provide the resources needed to wait for sockets.
    pub(crate) fn new(shown: &str) -> Result<Self, Fault> {
        let runtime = Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(|error| {
            Fault::Unavailable(format!("cannot open a connection to {shown}: {error}"))
        })?;
        Ok(Self { runtime: Some(runtime), shown: shown.into() })
    }

    /// The server's URL in a form that is safe to show in messages.
    pub(crate) fn shown(&self) -> &str {
        &self.shown
    }

    /// Waits for `future` to complete, for at most `limit`.
    ///
    /// # Errors
    /// [`Fault::Unavailable`] if the future takes longer than `limit`.
    pub(crate) fn wait<T: Send>(
        &self,
        limit: Duration,
        future: impl Future<Output = T> + Send,
    ) -> Result<T, Fault> {
        let Some(runtime) = &self.runtime else { return Err(self.timeout(limit)) };
        let bounded = async { tokio::time::timeout(limit, future).await };
        let outcome = if Handle::try_current().is_ok() {
            // A thread of an asynchronous runtime must not block on another runtime, so a helper thread waits instead.
            let joined =
                std::thread::scope(|scope| scope.spawn(|| runtime.block_on(bounded)).join());
            match joined {
                Ok(outcome) => outcome,
                Err(panic) => std::panic::resume_unwind(panic),
            }
        } else {
            runtime.block_on(bounded)
        };
        outcome.map_err(|_| self.timeout(limit))
    }

    /// Waits for the response to a statement. `fault` converts the driver's errors.
    ///
    /// # Errors
    /// [`Fault::Unavailable`] if the response takes too long; the converted driver error if the statement fails.
    pub(crate) fn wait_for_answer<T: Send, E: Send>(
        &self,
        fault: fn(&str, &E) -> Fault,
        statement: impl Future<Output = Result<T, E>> + Send,
    ) -> Result<T, Fault> {
        self.wait(ANSWER_TIMEOUT, statement)?.map_err(|error| fault(&self.shown, &error))
    }

    /// Starts a background task that makes progress only while [`wait`](Self::wait) runs.
    pub(crate) fn spawn(&self, future: impl Future<Output = ()> + Send + 'static) {
        if let Some(runtime) = &self.runtime {
            runtime.spawn(future);
        }
    }

    fn timeout(&self, limit: Duration) -> Fault {
        Fault::Unavailable(format!("{} did not respond within {limit:?}", self.shown))
    }
}

impl Drop for BlockingRuntime {
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            // A host name lookup may hang in a separate thread, so the runtime is shut down without waiting for that
            // thread.
            runtime.shutdown_background();
        }
    }
}
