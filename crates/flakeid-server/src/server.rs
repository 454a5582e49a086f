//! A server: listens, serves connections, and shuts down.

use std::future::Future;
use std::io;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use hyper_util::server::graceful::GracefulShutdown;
use tokio::runtime::{Builder, Runtime};
use tokio::sync::{Semaphore, watch};
use tokio::time::{sleep, timeout};

use crate::connection;
#[cfg(feature = "grpc")]
use crate::grpc;
use crate::listener::{BoundListener, Listener, Stream};
use crate::resp;
use crate::service::Service;
use crate::tls::TlsSettings;

/// The number of task polls after which a thread checks for new requests. A poll may generate 4,096
/// IDs, which takes a tenth of a millisecond. After 61 polls, tokio's default, other requests would
/// have waited for 6 ms.
const EVENT_INTERVAL: u32 = 8;

/// The options of a server for its connections.
#[derive(Clone, Debug)]
pub struct ServeOptions {
    /// The TLS settings; without them, connections are not encrypted.
    pub tls: Option<TlsSettings>,
    /// The address for Redis clients, if they are served.
    pub resp: Option<Listener>,
    /// The address for gRPC, if it is served.
    #[cfg(feature = "grpc")]
    pub grpc: Option<Listener>,
    /// The largest number of simultaneous connections; further ones wait until one ends.
    pub max_connections: usize,
    /// The longest time for a handshake and for the head of a request, and the longest time that a
    /// connection without a request is kept.
    pub idle_timeout: Duration,
    /// The longest time for requests in progress after the server begins to shut down.
    pub shutdown_timeout: Duration,
}

impl Default for ServeOptions {
    fn default() -> Self {
        Self {
            tls: None,
            resp: None,
            #[cfg(feature = "grpc")]
            grpc: None,
            max_connections: 10_000,
            idle_timeout: Duration::from_secs(30),
            shutdown_timeout: Duration::from_secs(10),
        }
    }
}

/// A service with its listeners.
pub struct Server {
    runtime: Runtime,
    bound: BoundListener,
    resp: Option<BoundListener>,
    #[cfg(feature = "grpc")]
    grpc: Option<BoundListener>,
    service: Arc<Service>,
    options: ServeOptions,
}

impl Server {
    /// Binds the addresses. Connections wait until the server runs.
    ///
    /// # Errors
    /// The system's error if an address cannot be bound, or if the threads cannot be started.
    pub fn bind(service: Service, listener: &Listener, options: ServeOptions) -> io::Result<Self> {
        let runtime = Builder::new_multi_thread()
            .thread_name("flakeid-serve")
            .enable_io()
            .enable_time()
            .event_interval(EVENT_INTERVAL)
            .build()?;
        let bound = runtime.block_on(BoundListener::new(listener))?;
        let bind = |listener: &Option<Listener>| match listener {
            Some(listener) => runtime.block_on(BoundListener::new(listener)).map(Some),
            None => Ok(None),
        };
        let resp = bind(&options.resp)?;
        #[cfg(feature = "grpc")]
        let grpc = bind(&options.grpc)?;
        Ok(Self {
            bound,
            resp,
            #[cfg(feature = "grpc")]
            grpc,
            runtime,
            service: Arc::new(service),
            options,
        })
    }

    /// Returns the address for Redis clients, if they are served.
    ///
    /// # Errors
    /// The system's error if the address cannot be read.
    pub fn resp_address(&self) -> io::Result<Option<Listener>> {
        self.resp.as_ref().map(BoundListener::address).transpose()
    }

    /// Returns the address for gRPC, if it is served.
    ///
    /// # Errors
    /// The system's error if the address cannot be read.
    #[cfg(feature = "grpc")]
    pub fn grpc_address(&self) -> io::Result<Option<Listener>> {
        self.grpc.as_ref().map(BoundListener::address).transpose()
    }

    /// Returns the server's address with the actual port.
    ///
    /// # Errors
    /// The system's error if the address cannot be read.
    pub fn address(&self) -> io::Result<Listener> {
        self.bound.address()
    }

    /// Serves until `stop` is ready. Then it accepts no more connections, closes idle ones, gives
    /// the others `shutdown_timeout` for their requests, and releases leased nodes.
    pub fn run(self, stop: impl Future<Output = ()>) {
        #[cfg(feature = "grpc")]
        let grpc = self.grpc;
        let Self { runtime, bound, resp, service, options, .. } = self;
        runtime.block_on(async {
            let graceful = GracefulShutdown::new();
            let (ending, is_ending) = watch::channel(false);
            let permits = Arc::new(Semaphore::new(options.max_connections));
            let (tls, idle_timeout) = (&options.tls, options.idle_timeout);
            let http = accept(&bound, &service, &permits, |stream, peer| {
                let (service, watcher) = (Arc::clone(&service), graceful.watcher());
                let is_ending = is_ending.clone();
                connection::serve(
                    stream,
                    peer,
                    tls.clone(),
                    service,
                    watcher,
                    is_ending,
                    idle_timeout,
                )
            });
            let redis = async {
                let Some(bound) = &resp else { return std::future::pending().await };
                let serve = |stream, peer| {
                    let (service, is_ending) = (Arc::clone(&service), is_ending.clone());
                    resp::serve(stream, peer, tls.clone(), service, is_ending, idle_timeout)
                };
                accept(bound, &service, &permits, serve).await;
            };
            #[cfg(feature = "grpc")]
            let calls = async {
                let Some(bound) = &grpc else { return std::future::pending().await };
                let services = Arc::new(grpc::Services::new(&service, &is_ending));
                let tls = tls.as_ref().map(TlsSettings::for_http2);
                let serve = |stream, peer| {
                    grpc::serve(stream, peer, tls.clone(), Arc::clone(&services), idle_timeout)
                };
                accept(bound, &service, &permits, serve).await;
            };
            #[cfg(not(feature = "grpc"))]
            let calls = std::future::pending::<()>();
            tokio::select! {
                () = http => {}
                () = redis => {}
                () = calls => {}
                () = stop => {}
            }
            #[cfg(feature = "grpc")]
            drop(grpc);
            drop((bound, resp, is_ending));
            ending.send_replace(true);
            let ended = async { tokio::join!(graceful.shutdown(), ending.closed()) };
            drop(timeout(options.shutdown_timeout, ended).await);
        });
        runtime.shutdown_timeout(Duration::from_secs(1));
        service.close();
    }

    /// Serves until the process receives Ctrl-C or SIGTERM.
    ///
    /// # Errors
    /// The system's error if signals cannot be received.
    pub fn run_until_signal(self) -> io::Result<()> {
        let termination = self.termination()?;
        self.run(termination);
        Ok(())
    }

    /// Returns a future that waits for Ctrl-C or SIGTERM. From this call on, these signals do not
    /// kill the process.
    ///
    /// # Errors
    /// The system's error if signals cannot be received.
    pub fn termination(&self) -> io::Result<impl Future<Output = ()> + use<>> {
        let _entered = self.runtime.enter();
        signals()
    }
}

/// Accepts connections forever, and calls `serve` for each.
async fn accept<F>(
    bound: &BoundListener,
    service: &Service,
    permits: &Arc<Semaphore>,
    serve: impl Fn(Box<dyn Stream>, Option<IpAddr>) -> F,
) where
    F: Future<Output = ()> + Send + 'static,
{
    loop {
        // The semaphore is never closed.
        let Ok(permit) = Arc::clone(permits).acquire_owned().await else { return };
        let Ok((stream, peer)) = bound.accept().await else {
            // If, for example, no file descriptor is free, other connections will end at some time.
            service.count_accept_failure();
            sleep(Duration::from_millis(50)).await;
            continue;
        };
        let served = serve(stream, peer);
        tokio::spawn(async move {
            served.await;
            drop(permit);
        });
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
        // If Ctrl-C cannot be received, the process can only be killed.
        drop(tokio::signal::ctrl_c().await);
    })
}
