//! The signals that stop a server, or that make the server reload its files.

use std::future::{Future, pending};
use std::io;
use std::pin::Pin;

#[cfg(unix)]
use tokio::signal::unix::{Signal, SignalKind, signal};

type Event = Pin<Box<dyn Future<Output = ()> + Send>>;

/// The signals to a server: Ctrl-C, SIGTERM and SIGHUP.
///
/// ```no_run
/// # fn run(server: flakeid_server::Server) -> std::io::Result<()> {
/// let signals = server.signals()?;
/// println!("listens on {}", server.address()?);
/// server.run_with(signals);
/// # Ok(())
/// # }
/// ```
pub struct Signals {
    /// A future that completes after Ctrl-C or SIGTERM.
    pub(crate) stop: Event,
    /// A future that completes after Ctrl-C or a second SIGTERM. The server then skips the rest of the drain.
    pub(crate) hurry: Event,
    pub(crate) hangups: Hangups,
}

impl std::fmt::Debug for Signals {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Signals").finish_non_exhaustive()
    }
}

/// The SIGHUP signals that the process receives, if the server handles SIGHUP.
pub(crate) struct Hangups(
    #[cfg(unix)] Option<Signal>,
    #[cfg(not(unix))] std::marker::PhantomData<()>,
);

impl Hangups {
    pub(crate) const fn none() -> Self {
        #[cfg(unix)]
        return Self(None);
        #[cfg(not(unix))]
        return Self(std::marker::PhantomData);
    }

    /// Waits for the next SIGHUP signal. Waits forever if the server does not handle SIGHUP.
    pub(crate) async fn next(&mut self) {
        #[cfg(unix)]
        if let Some(signal) = &mut self.0
            && signal.recv().await.is_some()
        {
            return;
        }
        pending::<()>().await;
    }
}

impl Signals {
    /// Installs the signal handlers. This function must be called in the context of a tokio runtime.
    #[cfg(unix)]
    pub(crate) fn new() -> io::Result<Self> {
        let interrupts = || signal(SignalKind::interrupt());
        let terminations = || signal(SignalKind::terminate());
        let (mut interrupt, mut terminate) = (interrupts()?, terminations()?);
        let stop = async move {
            tokio::select! {
                _ = interrupt.recv() => {}
                _ = terminate.recv() => {}
            }
        };
        let (mut interrupt, mut terminate) = (interrupts()?, terminations()?);
        let hurry = async move {
            let second = async {
                terminate.recv().await;
                terminate.recv().await;
            };
            tokio::select! {
                _ = interrupt.recv() => {}
                () = second => {}
            }
        };
        let hangups = Hangups(Some(signal(SignalKind::hangup())?));
        Ok(Self { stop: Box::pin(stop), hurry: Box::pin(hurry), hangups })
    }

    #[cfg(not(unix))]
    pub(crate) fn new() -> io::Result<Self> {
        // If the handler for Ctrl-C cannot be installed, the server stops immediately.
        let stop = async { drop(tokio::signal::ctrl_c().await) };
        let hurry = std::future::ready(());
        Ok(Self { stop: Box::pin(stop), hurry: Box::pin(hurry), hangups: Hangups::none() })
    }
}
