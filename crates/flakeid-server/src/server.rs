//! Listens for connections, serves them, and shuts the server down.

use std::future::{Future, pending};
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use tokio::runtime::{Builder, Runtime};
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};
use tracing::{info, warn};

use crate::connection::{self, Connection, Phase, Shared};
use crate::connections::Connections;
use crate::descriptors;
#[cfg(feature = "grpc")]
use crate::grpc;
use crate::listener::{BoundListener, Listener, Socket};
use crate::monitor::{log_forever, log_refusals};
use crate::pruning::prune_forever;
use crate::rate::Peer;
use crate::reload::reload_forever;
use crate::resp;
use crate::service::Service;
use crate::signals::{Hangups, Signals};
use crate::tls::TlsSettings;

/// The number of task polls after which a thread checks for new requests. A poll can take 0.1 ms, because a single poll
/// may generate 4,096 IDs. With tokio's default of 61 polls, a new request would wait for up to 6 ms.
const EVENT_INTERVAL: u32 = 8;

/// The largest number of simultaneous connections to the admin listener. Admin connections do not count towards
/// `max_connections`, so probes succeed even if all other connections are in use.
pub(crate) const MOST_ADMIN_CONNECTIONS: usize = 64;

/// The number of connections of trusted proxies, for each listener, whose PROXY headers the server reads at the same time.
/// The file descriptors of these connections come from the reserve for files, because the connections are not registered.
const MOST_UNNAMED: usize = 32;
/// The time within which a trusted proxy must send the PROXY header of a connection.
pub(crate) const HEADER_TIMEOUT: Duration = Duration::from_secs(5);

/// The options for a server's connections.
///
/// ```
/// use std::time::Duration;
///
/// use flakeid_server::ServeOptions;
///
/// let options = ServeOptions { max_connections: 100, ..ServeOptions::default() };
/// assert_eq!(options.idle_timeout, Duration::from_secs(30));
/// ```
#[derive(Clone, Debug)]
pub struct ServeOptions {
    /// The TLS settings, or `None` if connections are not encrypted.
    pub tls: Option<TlsSettings>,
    /// The address for Redis clients, or `None` if the server does not use the Redis protocol.
    pub resp: Option<Listener>,
    /// The address for gRPC, or `None` if the server does not serve gRPC.
    #[cfg(feature = "grpc")]
    pub grpc: Option<Listener>,
    /// The address of the admin listener, which serves health checks and metrics without TLS and does not require a
    /// token. If this field is `None`, only the public listener serves health checks and metrics.
    pub admin: Option<Listener>,
    /// The permissions of the Unix socket's file, from 0 to 0o777. `None` lets only the file's owner and group connect.
    pub unix_mode: Option<u32>,
    /// The largest number of simultaneous connections. At this limit, a new connection replaces a connection on which
    /// no request has been accepted yet, or a connection that has been idle for 5 s. If all connections are in use, the
    /// new connection waits until another connection ends. The server lowers the limit if the process is not allowed to
    /// open enough files.
    pub max_connections: usize,
    /// The largest number of simultaneous connections from one client address or, for IPv6, from
    /// one /64 network, or from one user of a Unix socket. `None` means half of `max_connections`.
    pub max_connections_per_client: Option<usize>,
    /// The maximum time to receive a request head, and the maximum time until the first accepted request on a new
    /// connection. An idle HTTP connection is also closed after this time. Idle connections of Redis and gRPC clients
    /// are kept open for 10 times as long.
    pub idle_timeout: Duration,
    /// The maximum time for which a client may stop reading while the server has data to send.
    pub write_timeout: Duration,
    /// The length of the first phase of a shutdown. During this phase, the server still serves all
    /// requests, but reports that it is not ready, so that load balancers can direct requests to
    /// other servers.
    pub drain: Duration,
    /// The maximum time, after the drain, for completing the requests in progress.
    pub shutdown_timeout: Duration,
}

impl Default for ServeOptions {
    fn default() -> Self {
        Self {
            tls: None,
            resp: None,
            #[cfg(feature = "grpc")]
            grpc: None,
            admin: None,
            unix_mode: None,
            max_connections: 10_000,
            max_connections_per_client: None,
            idle_timeout: Duration::from_secs(30),
            write_timeout: Duration::from_secs(10),
            drain: Duration::from_secs(5),
            shutdown_timeout: Duration::from_secs(10),
        }
    }
}

/// A service with its listeners.
///
/// ```
/// use std::collections::BTreeMap;
///
/// use flakeid_core::{Generator, Layout};
/// use flakeid_server::{Listener, ServeOptions, Server, Service};
///
/// let orders = Generator::new(Layout::TWITTER, 7)?;
/// let service = Service::new(BTreeMap::from([("orders".into(), orders)]));
/// let listener = Listener::Tcp("127.0.0.1:0".parse()?);
/// let options = ServeOptions { drain: std::time::Duration::ZERO, ..ServeOptions::default() };
/// let server = Server::bind(service, &listener, options)?;
/// println!("listens on {}", server.address()?);
/// server.run(std::future::ready(()));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Server {
    runtime: Runtime,
    bound: BoundListener,
    resp: Option<BoundListener>,
    #[cfg(feature = "grpc")]
    grpc: Option<BoundListener>,
    admin: Option<BoundListener>,
    service: Arc<Service>,
    connections: Arc<Connections>,
    options: ServeOptions,
}

impl Server {
    /// Binds the addresses of all listeners. New connections wait until the server runs.
    ///
    /// # Errors
    /// An I/O error if an address cannot be bound, or if the threads cannot be started.
    pub fn bind(
        mut service: Service,
        listener: &Listener,
        mut options: ServeOptions,
    ) -> io::Result<Self> {
        let runtime = Builder::new_multi_thread()
            .thread_name("flakeid-serve")
            .enable_io()
            .enable_time()
            .event_interval(EVENT_INTERVAL)
            .build()?;
        let bound = runtime.block_on(BoundListener::new(listener, options.unix_mode))?;
        // The listeners are removed from the options, because a socket that is already bound stays open while the
        // options contain its listener.
        let bind = |listener: Option<Listener>| match listener {
            Some(listener) => runtime.block_on(BoundListener::new(&listener, None)).map(Some),
            None => Ok(None),
        };
        let resp = bind(options.resp.take())?;
        #[cfg(feature = "grpc")]
        let grpc = bind(options.grpc.take())?;
        let admin = bind(options.admin.take())?;
        let wanted = options.max_connections;
        options.max_connections = descriptors::most_connections(wanted)?;
        if options.max_connections < wanted {
            warn!(
                max_connections = options.max_connections,
                wanted,
                "the process is not allowed to open enough files; raise the limit with ulimit -n"
            );
        }
        let per_client = options.max_connections_per_client.unwrap_or(options.max_connections / 2);
        info!(
            max_connections = options.max_connections,
            max_connections_per_client = per_client,
            idle_timeout = ?options.idle_timeout,
            write_timeout = ?options.write_timeout,
            drain = ?options.drain,
            shutdown_timeout = ?options.shutdown_timeout,
            tls = options.tls.is_some(),
            tokens = service.requires_tokens(),
            "starting"
        );
        let connections = Arc::new(Connections::new(options.max_connections, per_client));
        service.watch_connections(&connections, options.tls.clone());
        Ok(Self {
            bound,
            resp,
            #[cfg(feature = "grpc")]
            grpc,
            admin,
            runtime,
            service: Arc::new(service),
            connections,
            options,
        })
    }

    /// Returns the address for Redis clients, or `None` if the server does not use the Redis
    /// protocol.
    ///
    /// # Errors
    /// An I/O error if the address cannot be read.
    pub fn resp_address(&self) -> io::Result<Option<Listener>> {
        self.resp.as_ref().map(BoundListener::address).transpose()
    }

    /// Returns the address for gRPC, or `None` if the server does not serve gRPC.
    ///
    /// # Errors
    /// An I/O error if the address cannot be read.
    #[cfg(feature = "grpc")]
    pub fn grpc_address(&self) -> io::Result<Option<Listener>> {
        self.grpc.as_ref().map(BoundListener::address).transpose()
    }

    /// Returns the address on which the server listens. If port 0 was configured, the address
    /// contains the actual port.
    ///
    /// # Errors
    /// An I/O error if the address cannot be read.
    pub fn address(&self) -> io::Result<Listener> {
        self.bound.address()
    }

    /// Returns the address for health checks and metrics, or `None` if the server has no admin listener.
    ///
    /// # Errors
    /// An I/O error if the address cannot be read.
    pub fn admin_address(&self) -> io::Result<Option<Listener>> {
        self.admin.as_ref().map(BoundListener::address).transpose()
    }

    /// Returns the limit on simultaneous connections. The limit is lower than the configured limit if the process is
    /// not allowed to open enough files.
    #[must_use]
    pub const fn max_connections(&self) -> usize {
        self.options.max_connections
    }

    /// Serves requests until the future `stop` completes. The server then drains for the time
    /// [`drain`](ServeOptions::drain): it reports that it is not ready, but still serves all requests. After the drain,
    /// the server stops accepting connections and closes idle connections. The remaining connections have the time
    /// [`shutdown_timeout`](ServeOptions::shutdown_timeout) to complete their requests. Finally, the server releases
    /// its leased nodes.
    pub fn run(self, stop: impl Future<Output = ()>) {
        self.run_until(stop, pending(), Hangups::none());
    }

    /// Serves requests until the process receives Ctrl-C or SIGTERM; see [`run_with`](Self::run_with).
    ///
    /// # Errors
    /// An I/O error if signals cannot be received.
    pub fn run_until_signal(self) -> io::Result<()> {
        let signals = self.signals()?;
        self.run_with(signals);
        Ok(())
    }

    /// Starts handling the signals that are sent to this process. After this call, Ctrl-C, SIGTERM and SIGHUP no longer
    /// kill the process.
    ///
    /// # Errors
    /// An I/O error if signals cannot be received.
    pub fn signals(&self) -> io::Result<Signals> {
        let _entered = self.runtime.enter();
        Signals::new()
    }

    /// Serves requests until the process receives Ctrl-C or SIGTERM. After SIGTERM, the server drains, as described for
    /// [`run`](Self::run). Ctrl-C or a second SIGTERM skips the rest of the drain. On SIGHUP, the server loads its
    /// tokens and certificates again.
    pub fn run_with(self, signals: Signals) {
        let Signals { stop, hurry, hangups } = signals;
        self.run_until(stop, hurry, hangups);
    }

    fn run_until(
        self,
        stop: impl Future<Output = ()>,
        hurry: impl Future<Output = ()>,
        hangups: Hangups,
    ) {
        #[cfg(feature = "grpc")]
        let grpc = self.grpc;
        let Self { runtime, bound, resp, admin, service, connections, options, .. } = self;
        runtime.block_on(async {
            let (phase, phases) = watch::channel(Phase::Serving);
            let shared = Shared {
                service: Arc::clone(&service),
                tls: options.tls.clone(),
                phases,
                idle_timeout: options.idle_timeout,
                #[cfg(feature = "grpc")]
                write_timeout: options.write_timeout,
                is_admin: false,
            };
            let accept = |listener, name| Accepting {
                listener,
                name,
                service: &service,
                connections: Arc::clone(&connections),
                write_timeout: options.write_timeout,
                is_admin: false,
            };
            let http = accept(Some(bound), "http")
                .run(|connection| Box::pin(connection::serve(connection, shared.clone())));
            let redis = accept(resp, "resp")
                .run(|connection| Box::pin(resp::serve(connection, shared.clone())));
            #[cfg(feature = "grpc")]
            let calls = async {
                let services = Arc::new(grpc::Services::new(&service, &shared.phases));
                let tls = shared.tls.as_ref().map(TlsSettings::for_http2);
                let shared = Shared { tls, ..shared.clone() };
                let serve = |connection| -> Served {
                    Box::pin(grpc::serve(connection, shared.clone(), Arc::clone(&services)))
                };
                accept(grpc, "grpc").run(serve).await;
            };
            #[cfg(not(feature = "grpc"))]
            let calls = pending::<()>();
            let admin = async {
                let connections = Connections::new(MOST_ADMIN_CONNECTIONS, MOST_ADMIN_CONNECTIONS);
                let connections = Arc::new(connections);
                let shared = Shared { tls: None, is_admin: true, ..shared.clone() };
                let accepting = accept(admin, "admin");
                Accepting { connections, is_admin: true, ..accepting }
                    .run(|connection| Box::pin(connection::serve(connection, shared.clone())))
                    .await;
            };
            let reloading = reload_forever(Arc::clone(&service), options.tls.clone(), hangups);
            let reloading = tokio::spawn(reloading);
            let logging = tokio::spawn(log_forever(Arc::clone(&service), options.tls.clone()));
            let pruning = tokio::spawn(prune_forever(Arc::clone(&service)));
            let mut serving = Box::pin(async { tokio::join!(http, redis, calls, admin) });
            tokio::select! {
                _ = &mut serving => {}
                () = stop => {}
            }
            service.begin_drain(options.drain);
            let drain = async {
                for next in [Phase::Draining, Phase::Leaving] {
                    phase.send_replace(next);
                    sleep(options.drain / 2).await;
                }
            };
            tokio::select! {
                _ = &mut serving => {}
                () = drain => {}
                () = hurry => {}
            }
            // Dropping `serving` also closes the listeners.
            drop(serving);
            reloading.abort();
            logging.abort();
            pruning.abort();
            log_refusals(&service);
            info!(connections = connections.len(), "closing connections");
            phase.send_replace(Phase::Closing);
            drop(timeout(options.shutdown_timeout, connections.all_ended()).await);
        });
        runtime.shutdown_timeout(Duration::from_secs(1));
        match service.close() {
            (0, 0) => info!("stopped and released all nodes"),
            (nodes, blocks) => warn!(nodes, blocks, "stopped without releasing all nodes"),
        }
    }
}

/// A task that serves one connection.
type Served = Pin<Box<dyn Future<Output = ()> + Send>>;

/// A listener, and the data that is required to accept its connections.
struct Accepting<'a> {
    /// The listener, or `None` if the server does not serve the listener's protocol.
    listener: Option<BoundListener>,
    name: &'static str,
    service: &'a Service,
    connections: Arc<Connections>,
    write_timeout: Duration,
    is_admin: bool,
}

impl Accepting<'_> {
    /// Accepts connections forever, and calls `serve` for each connection.
    async fn run(self, serve: impl Fn(Connection) -> Served) {
        let Some(listener) = &self.listener else { return pending().await };
        // The connections of trusted proxies whose clients are not known yet.
        let mut unnamed = JoinSet::new();
        loop {
            tokio::select! {
                accepted = listener.accept(), if unnamed.len() < MOST_UNNAMED => match accepted {
                    Ok((socket, peer)) if !self.is_admin && self.service.proxies.sends_header(peer) => {
                        unnamed.spawn(timeout(HEADER_TIMEOUT, socket.named(peer)));
                    }
                    Ok((socket, peer)) => self.begin(socket, peer, &serve).await,
                    Err(_) => {
                        // Accepting a connection fails if no file descriptor is free. The server then pauses, so that
                        // other connections can end and free their descriptors.
                        self.service.count_accept_failure();
                        sleep(Duration::from_millis(50)).await;
                    }
                },
                Some(named) = unnamed.join_next() => match named {
                    Ok(Ok(Ok((socket, peer)))) => self.begin(socket, peer, &serve).await,
                    _ => self.service.count_refused_connection("proxy_header"),
                },
            }
        }
    }

    /// Registers a connection, and starts to serve it.
    async fn begin(
        &self,
        socket: Socket,
        peer: Option<Peer>,
        serve: &impl Fn(Connection) -> Served,
    ) {
        let Some(slot) = self.connections.enter(self.name, peer).await else {
            return self.service.count_refused_connection("too_many_connections");
        };
        let stream = socket.watched(&slot.state, self.write_timeout);
        let names = Arc::default();
        tokio::spawn(serve(Connection { stream, peer, names, slot }));
    }
}
