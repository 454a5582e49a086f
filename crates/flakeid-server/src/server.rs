//! A server: a service, an address, and an end.

use std::future::Future;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use hyper_util::server::graceful::GracefulShutdown;
use tokio::runtime::{Builder, Runtime};
use tokio::sync::Semaphore;
use tokio::time::{sleep, timeout};

use crate::connection;
use crate::listener::{BoundListener, Listener};
use crate::service::Service;
use crate::tls::TlsSettings;

/// After how many polls of tasks a thread looks for new requests. A poll may generate 4,096 IDs, which
/// takes a tenth of a millisecond; after 61 of them, tokio's default, others would have waited for 6 ms.
const EVENT_INTERVAL: u32 = 8;

/// How a server treats connections.
#[derive(Clone, Debug)]
pub struct ServeOptions {
    /// Without it, connections are in the clear.
    pub tls: Option<TlsSettings>,
    /// How many connections are served at a time; others wait until one ends.
    pub max_connections: usize,
    /// How long a client may take for a handshake and for the head of a request, and how long a
    /// connection without a request is kept.
    pub idle_timeout: Duration,
    /// For how long requests may go on once the server is to end.
    pub shutdown_timeout: Duration,
}

impl Default for ServeOptions {
    fn default() -> Self {
        Self {
            tls: None,
            max_connections: 10_000,
            idle_timeout: Duration::from_secs(30),
            shutdown_timeout: Duration::from_secs(10),
        }
    }
}

/// A service that listens.
pub struct Server {
    runtime: Runtime,
    bound: BoundListener,
    service: Arc<Service>,
    options: ServeOptions,
}

impl Server {
    /// Listens. Connections wait until the server runs.
    ///
    /// # Errors
    /// If the address cannot be had, or the threads.
    pub fn bind(service: Service, listener: &Listener, options: ServeOptions) -> io::Result<Self> {
        let runtime = Builder::new_multi_thread()
            .thread_name("flakeid-serve")
            .enable_io()
            .enable_time()
            .event_interval(EVENT_INTERVAL)
            .build()?;
        let bound = runtime.block_on(BoundListener::new(listener))?;
        Ok(Self { runtime, bound, service: Arc::new(service), options })
    }

    /// Where it listens, with the port that it was given.
    ///
    /// # Errors
    /// If the system does not tell.
    pub fn address(&self) -> io::Result<Listener> {
        self.bound.address()
    }

    /// Serves until `stop` is ready; then no more connections are accepted, those that are idle end,
    /// the others have `shutdown_timeout` for their requests, and leased nodes are given back.
    pub fn run(self, stop: impl Future<Output = ()>) {
        let Self { runtime, bound, service, options } = self;
        runtime.block_on(async {
            let graceful = GracefulShutdown::new();
            accept(&bound, &service, &options, &graceful, stop).await;
            drop(bound);
            drop(timeout(options.shutdown_timeout, graceful.shutdown()).await);
        });
        runtime.shutdown_timeout(Duration::from_secs(1));
        service.close();
    }

    /// Serves until the process is asked to end: by Ctrl-C or SIGTERM.
    ///
    /// # Errors
    /// If signals cannot be heard.
    pub fn run_until_signal(self) -> io::Result<()> {
        let entered = self.runtime.enter();
        let stop = signals()?;
        drop(entered);
        self.run(stop);
        Ok(())
    }
}

async fn accept(
    bound: &BoundListener,
    service: &Arc<Service>,
    options: &ServeOptions,
    graceful: &GracefulShutdown,
    stop: impl Future<Output = ()>,
) {
    let permits = Arc::new(Semaphore::new(options.max_connections));
    let connections = async {
        loop {
            // The semaphore is never closed.
            let Ok(permit) = Arc::clone(&permits).acquire_owned().await else { return };
            let Ok(stream) = bound.accept().await else {
                // Out of file descriptors, say: other connections end some time.
                service.count_accept_failure();
                sleep(Duration::from_millis(50)).await;
                continue;
            };
            let (service, watcher) = (Arc::clone(service), graceful.watcher());
            let (tls, idle_timeout) = (options.tls.clone(), options.idle_timeout);
            tokio::spawn(async move {
                connection::serve(stream, tls, service, watcher, idle_timeout).await;
                drop(permit);
            });
        }
    };
    tokio::select! {
        () = connections => {}
        () = stop => {}
    }
}

#[cfg(unix)]
fn signals() -> io::Result<impl Future<Output = ()>> {
    use tokio::signal::unix::{SignalKind, signal};
    let mut terminate = signal(SignalKind::terminate())?;
    let mut interrupt = signal(SignalKind::interrupt())?;
    Ok(async move {
        tokio::select! {
            _ = terminate.recv() => {}
            _ = interrupt.recv() => {}
        }
    })
}

#[cfg(not(unix))]
fn signals() -> io::Result<impl Future<Output = ()>> {
    Ok(async {
        // Without it there is no way to end but to be killed.
        drop(tokio::signal::ctrl_c().await);
    })
}
