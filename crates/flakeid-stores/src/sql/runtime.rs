//! Blocking calls of asynchronous drivers.

use std::future::Future;
use std::time::Duration;

use tokio::runtime::{Builder, Handle, Runtime};

use crate::retry::ANSWER_TIMEOUT;
use flakeid_protocol::store::Fault;

/// Drives one connection of an asynchronous driver, and bounds every wait on it: a server that
/// hangs is noticed as surely as one that is gone.
pub(crate) struct BlockingRuntime {
    /// Always there until dropped.
    runtime: Option<Runtime>,
    shown: String,
}

impl BlockingRuntime {
    /// A runtime for the connection to a server, whose URL errors show as `shown`.
    ///
    /// # Errors
    /// [`Fault::Unavailable`] if the system refuses what waiting for sockets takes.
    pub(crate) fn new(shown: &str) -> Result<Self, Fault> {
        let runtime = Builder::new_current_thread().enable_all().build();
        let runtime = runtime
            .map_err(|error| Fault::Unavailable(format!("{shown} cannot be used: {error}")))?;
        Ok(Self { runtime: Some(runtime), shown: shown.into() })
    }

    /// The server's URL as texts may show it.
    pub(crate) fn shown(&self) -> &str {
        &self.shown
    }

    /// Waits for `future`, at most for `limit`.
    ///
    /// # Errors
    /// [`Fault::Unavailable`] when it took longer.
    pub(crate) fn wait<T: Send>(
        &self,
        limit: Duration,
        future: impl Future<Output = T> + Send,
    ) -> Result<T, Fault> {
        let Some(runtime) = &self.runtime else { return Err(self.timeout(limit)) };
        let bounded = async { tokio::time::timeout(limit, future).await };
        let outcome = if Handle::try_current().is_ok() {
            // A thread of an asynchronous runtime must not wait in another runtime, but a helper may.
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

    /// Waits for the answer to a statement; `fault` says what the driver's errors mean.
    ///
    /// # Errors
    /// [`Fault::Unavailable`] when it took too long; what `fault` makes of an error.
    pub(crate) fn wait_for_answer<T: Send, E: Send>(
        &self,
        fault: fn(&str, &E) -> Fault,
        statement: impl Future<Output = Result<T, E>> + Send,
    ) -> Result<T, Fault> {
        self.wait(ANSWER_TIMEOUT, statement)?.map_err(|error| fault(&self.shown, &error))
    }

    /// Lets something run whenever [`wait`](Self::wait) does.
    #[cfg(feature = "postgres")]
    pub(crate) fn spawn(&self, future: impl Future<Output = ()> + Send + 'static) {
        if let Some(runtime) = &self.runtime {
            runtime.spawn(future);
        }
    }

    fn timeout(&self, limit: Duration) -> Fault {
        Fault::Unavailable(format!("{} did not answer within {limit:?}", self.shown))
    }
}

impl Drop for BlockingRuntime {
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            // A look-up of a host's name may hang in a thread of its own: not waited for.
            runtime.shutdown_background();
        }
    }
}
