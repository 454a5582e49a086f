//! `flakeid serve`: serves IDs and leases over HTTP.

mod history;
mod leasing;
mod listeners;
mod opened;

use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::Args;
use flakeid_server::{
    Origins, ServeOptions, Server, Service, TlsFiles, TlsSettings, Tokens, TrustedProxies,
};

use crate::args::layout_arg::LayoutArg;
use crate::failure::{Failure, Outcome};
use crate::format::{duration, number};
use crate::logging::LogArgs;
use crate::store::{self, StoreUrl};
use leasing::Leasing;
use listeners::{
    announce, bind, check_exposure, grpc_listener, is_loopback, listener, tcp_listener,
};
use opened::{Opened, open_all};

/// Serves IDs over HTTP, and leases nodes to processes that generate their own IDs
///
/// The server leases nodes of each namespace from the store, and serves
///
///   POST /v1/NAMESPACE/ids?count=N     IDs as JSON; the Accept header can select one ID per line
///                                      (text/plain) or 8 bytes per ID (application/octet-stream)
///   POST /v1/NAMESPACE/leases          a leased node; renewed by PATCH, released by DELETE
///   GET  /v1/NAMESPACE/ids/ID          the fields of an ID; with /holder, the client that
///                                      generated the ID
///   GET  /v1/NAMESPACE/bounds          the smallest and the largest ID of a time range (from, to)
///   GET  /v1/NAMESPACE/layout          the layout of the IDs
///   GET  /livez /readyz /metrics /openapi.json, with --ui also /ui
///
/// Programs that use flakeid can lease nodes from the server in the same way as from a store, with
/// `--store http://localhost:7117`. The server itself leases nodes from the store in blocks, so it
/// requires a namespace with blocks. In an embedded store, the server creates the namespace with
/// blocks; in other stores, run `flakeid leases init --block-bits`. If the nodes of a namespace are
/// leased one by one, the server serves only IDs for that namespace.
///
/// The server loads the token file and the certificates again when they change, and on SIGHUP.
///
/// On SIGTERM, the server reports on /readyz that it is not ready, and still serves all requests for
/// the time that --drain sets. Then, or at once on Ctrl-C, the server completes the requests in
/// progress and releases its nodes.
#[derive(Args)]
#[command(after_long_help = EXAMPLES, verbatim_doc_comment)]
#[expect(clippy::struct_excessive_bools, reason = "each field is a flag of the command line")]
pub(crate) struct ServeArgs {
    #[command(flatten)]
    layout: LayoutArg,

    #[command(flatten)]
    store: StoreUrl,

    #[command(flatten)]
    log: LogArgs,

    /// Namespace to serve; can be repeated [default: default]
    #[arg(long = "namespace", value_name = "NS")]
    namespaces: Vec<String>,

    /// Address to listen on; port 0 selects any free port
    #[arg(long, value_name = "HOST:PORT", default_value = "127.0.0.1:7117")]
    listen: String,

    /// Unix socket to listen on, instead of an address
    #[arg(long, value_name = "PATH", conflicts_with = "listen")]
    unix: Option<PathBuf>,

    /// Permissions of the Unix socket, in octal [default: only its owner and group can connect]
    ///
    /// With 0666, every user of this host can connect. Each user then counts as one client.
    #[arg(long, hide_short_help = true, value_name = "MODE", requires = "unix")]
    unix_mode: Option<String>,

    /// Also serve Redis clients at this address
    ///
    /// The commands are INCR NAMESPACE and FLAKEID.NEXT NAMESPACE COUNT N. Port 0 selects any free port.
    #[arg(long, value_name = "HOST:PORT", conflicts_with = "no_ids")]
    resp: Option<String>,

    /// Also serve gRPC at this address
    ///
    /// The services are flakeid.v1.Ids, health and reflection. Port 0 selects any free port.
    #[arg(long, value_name = "HOST:PORT", conflicts_with = "no_ids", hide = cfg!(not(feature = "grpc")))]
    grpc: Option<String>,

    /// Also serve health checks and metrics at this address, without TLS and without a token
    ///
    /// The paths are /livez, /readyz and /metrics. Connections to this address do not count towards
    /// --max-connections, so probes succeed even when the server has reached that limit. Port 0 selects any free
    /// port.
    #[arg(long, hide_short_help = true, value_name = "HOST:PORT")]
    admin_listen: Option<String>,

    /// PEM file with the server certificate and intermediate certificates
    #[arg(long, value_name = "FILE", requires = "tls_key")]
    tls_cert: Option<PathBuf>,

    /// PEM file with the private key of the certificate
    #[arg(long, value_name = "FILE", requires = "tls_cert")]
    tls_key: Option<PathBuf>,

    /// PEM file with certificate authorities; clients must present a certificate issued by one of these authorities
    #[arg(long, value_name = "FILE", requires = "tls_cert")]
    client_ca: Option<PathBuf>,

    /// File with the tokens of clients, one per line; each client must send one of these tokens
    ///
    /// A line is `NAME SCOPES TOKEN`, or only TOKEN, which permits everything. The scopes are ids, leases, read and
    /// metrics, separated by commas; ids:orders permits only IDs of the namespace orders. A line with san:NAME instead
    /// of a token accepts client certificates that contain the DNS name, URI or email address NAME. Clients send a
    /// token in an `Authorization: Bearer TOKEN` header.
    #[arg(long, value_name = "FILE")]
    token_file: Option<PathBuf>,

    /// Origin whose web pages may send requests; can be repeated
    ///
    /// Write the origin as browsers send it: the scheme, the host, and the port unless it is the default port. The
    /// value * allows any origin.
    #[arg(long = "allow-origin", value_name = "ORIGIN")]
    allow_origins: Vec<String>,

    /// HTML file to serve at /ui; `cargo xtask page` builds a page that explains IDs
    #[arg(long, hide_short_help = true, value_name = "FILE")]
    ui: Option<PathBuf>,

    /// Allow connections from other hosts without TLS or authentication
    ///
    /// Without this option, a server that accepts connections from other hosts requires TLS and either tokens or
    /// client certificates. A server on a loopback address without tokens accepts only requests that name localhost
    /// or a loopback address in their Host header.
    #[arg(long)]
    insecure: bool,

    /// URL at which clients reach this particular server; required to lease nodes to other hosts
    #[arg(long, value_name = "URL")]
    advertise: Option<String>,

    /// Serve only IDs; for each namespace, lease one node in the same way as `flakeid next`
    #[arg(long, conflicts_with_all = ["advertise", "block_bits", "lease_window", "no_ids"])]
    no_leases: bool,

    /// Serve only leases
    #[arg(long)]
    no_ids: bool,

    /// Block size (2^BITS nodes) of a new namespace [default: depends on the layout, 4 for 10 node bits]
    #[arg(long, hide_short_help = true, value_name = "BITS", allow_hyphen_values = true)]
    block_bits: Option<String>,

    /// Time that a lease lasts without a renewal [default: 4s, or 2 ticks if longer]
    #[arg(long, hide_short_help = true, value_name = "TIME", allow_hyphen_values = true)]
    lease_window: Option<String>,

    /// Time for which ended grants stay in the history, or `forever`
    ///
    /// `flakeid whois` reads the history. Once an hour, the server prunes the history of its namespaces, as `flakeid
    /// leases prune` does. The server then removes the grants that ended longer ago than this time. The latest grant of
    /// each node always remains.
    #[arg(
        long,
        hide_short_help = true,
        value_name = "TIME",
        default_value = "90d",
        allow_hyphen_values = true
    )]
    keep_history: String,

    /// Largest number of IDs per request
    ///
    /// Larger requests are rejected.
    #[arg(long, value_name = "N", default_value = "100000", allow_hyphen_values = true)]
    max_count: String,

    /// Largest number of IDs per second for one client address [default: no limit]
    ///
    /// In a single burst, a client can get as many IDs as the limit allows for one second. The server also accepts one
    /// larger request, but the client's next requests must then wait for a correspondingly longer time. For IPv6, all
    /// addresses in a /64 network count as one client. On a Unix socket, each user counts as one client.
    #[arg(long, hide_short_help = true, value_name = "N", allow_hyphen_values = true)]
    rate_limit: Option<String>,

    /// Largest number of requests per second for one client address [default: no limit]
    ///
    /// Health checks do not count towards this limit. Clients are distinguished in the same way as for --rate-limit.
    #[arg(long, hide_short_help = true, value_name = "N", allow_hyphen_values = true)]
    request_rate_limit: Option<String>,

    /// Largest number of leases per second that one client address can acquire
    ///
    /// In a single burst, a client can acquire up to 200 times this number of leases. Renewals do not count towards this
    /// limit. Clients are distinguished in the same way as for --rate-limit.
    #[arg(
        long,
        hide_short_help = true,
        value_name = "N",
        default_value = "10",
        allow_hyphen_values = true
    )]
    lease_rate_limit: String,

    /// Address or network of a proxy that names its clients, or user:UID on a Unix socket; can be repeated
    ///
    /// A request from this proxy counts as a request from the address that the proxy names in X-Forwarded-For. The
    /// header of other senders is ignored. Connections still count for the proxy, unless it uses --proxy-protocol.
    #[arg(long = "trusted-proxy", hide_short_help = true, value_name = "NETWORK")]
    trusted_proxies: Vec<String>,

    /// Require a header of the PROXY protocol, version 1 or 2, on each connection of a trusted proxy
    ///
    /// The connection then counts for the address that the header names. The server does not read such a header from
    /// other senders, or on the address of --admin-listen.
    #[arg(long, hide_short_help = true, requires = "trusted_proxies")]
    proxy_protocol: bool,

    /// Largest number of leases that one client address holds at the same time [default: 7/8 of all nodes]
    ///
    /// Clients are distinguished in the same way as for --rate-limit.
    #[arg(long, hide_short_help = true, value_name = "N", allow_hyphen_values = true)]
    max_leases_per_client: Option<String>,

    /// Longest time that a request waits for each group of 4,096 requested IDs
    #[arg(
        long,
        hide_short_help = true,
        value_name = "TIME",
        default_value = "1s",
        allow_hyphen_values = true
    )]
    max_wait: String,

    /// Largest number of simultaneous connections
    ///
    /// At this limit, a new connection replaces a connection on which no request has been accepted yet, or a connection
    /// that has been idle for 5 s. The server lowers the limit if the process is not allowed to open enough files.
    #[arg(
        long,
        hide_short_help = true,
        value_name = "N",
        default_value = "10000",
        allow_hyphen_values = true
    )]
    max_connections: String,

    /// Largest number of simultaneous connections from one client address [default: half of --max-connections]
    ///
    /// For IPv6, all addresses in a /64 network count as one client. On a Unix socket, each user counts as one client.
    #[arg(long, hide_short_help = true, value_name = "N", allow_hyphen_values = true)]
    max_connections_per_client: Option<String>,

    /// Time for which the server still serves all requests after it receives SIGTERM
    ///
    /// During this time, /readyz reports that the server is not ready, so load balancers can direct requests to other
    /// servers. Ctrl-C or a second SIGTERM ends this time early.
    #[arg(
        long,
        hide_short_help = true,
        value_name = "TIME",
        default_value = "5s",
        allow_hyphen_values = true
    )]
    drain: String,

    /// Longest time that the server waits for requests in progress once the --drain time has ended
    #[arg(
        long,
        hide_short_help = true,
        value_name = "TIME",
        default_value = "10s",
        allow_hyphen_values = true
    )]
    shutdown_timeout: String,
}

// The tests run every example line that begins with `flakeid`.
const EXAMPLES: &str = "\
Examples:
  flakeid serve --store sqlite://served.db
  flakeid serve --store sqlite://served.db --namespace orders --namespace invoices
  flakeid serve --store sqlite://served.db --unix flakeid.sock
  flakeid serve --store sqlite://served.db --no-ids
  flakeid serve --store sqlite://served.db --resp 127.0.0.1:7118

  curl -X POST localhost:7117/v1/default/ids?count=3
  curl -X POST -H 'Accept: text/plain' localhost:7117/v1/default/ids";

const MOST_COUNT: u64 = 1 << 32;
const MOST_CONNECTIONS: u64 = 1 << 20;

pub(crate) fn run(args: &ServeArgs) -> Outcome {
    let layout = args.layout.resolve()?;
    let listener = listener(args.unix.as_deref(), &args.listen)?;
    let resp = args.resp.as_deref().map(|text| tcp_listener("resp", text)).transpose()?;
    let grpc = args.grpc.as_deref().map(grpc_listener).transpose()?;
    let admin = args.admin_listen.as_deref();
    let admin = admin.map(|text| tcp_listener("admin-listen", text)).transpose()?;
    let tokens = args.token_file.as_deref().map(Tokens::load).transpose()?;
    let mut origins = Origins::default();
    args.allow_origins.iter().try_for_each(|origin| origins.allow(origin))?;
    let proxies = proxies(args)?;
    let tls = tls(args)?;
    let verifies = tokens.is_some() || tls.as_ref().is_some_and(TlsSettings::verifies_clients);
    let listeners = [("listen", Some(&listener)), ("resp", resp.as_ref()), ("grpc", grpc.as_ref())];
    for (name, listener) in listeners {
        if let Some(listener) = listener {
            check_exposure(name, listener, tls.is_some() && verifies, args.insecure)?;
        }
    }
    let max_count = number::parse("max-count", &args.max_count, 1, MOST_COUNT)?;
    let limits = ClientLimits::parse(args)?;
    let max_wait = duration::parse("max-wait", &args.max_wait)?;
    let most = number::parse("max-connections", &args.max_connections, 1, MOST_CONNECTIONS)?;
    let per_client = args.max_connections_per_client.as_deref();
    let per_client = per_client
        .map(|text| number::parse("max-connections-per-client", text, 1, most))
        .transpose()?;
    let drain = duration::parse("drain", &args.drain)?;
    let timeout = duration::parse("shutdown-timeout", &args.shutdown_timeout)?;
    let keep_history = history::parse(&args.keep_history)?;
    let mut options = ServeOptions {
        tls,
        unix_mode: args.unix_mode.as_deref().map(listeners::mode).transpose()?,
        max_connections: most as usize,
        max_connections_per_client: per_client.map(|most| most as usize),
        drain: Duration::from_millis(drain),
        shutdown_timeout: Duration::from_millis(timeout),
        ..ServeOptions::default()
    };
    let page = args.ui.as_deref().map(page).transpose()?;
    let names = match args.namespaces.as_slice() {
        [] => vec![store::default_namespace()?],
        names => names.iter().map(|name| store::checked(name)).collect::<Result<_, _>>()?,
    };
    let location = args.store.location()?;
    args.log.start();
    let scheme = if options.tls.is_some() { "https" } else { "http" };
    // The address is bound before nodes are leased, so that a second server on the same address leases no nodes.
    let listener = bind(listener)?;
    options.resp = resp.map(bind).transpose()?;
    options.admin = admin.map(bind).transpose()?;
    #[cfg(feature = "grpc")]
    {
        options.grpc = grpc.map(bind).transpose()?;
    }
    let leasing = if args.no_leases {
        None
    } else {
        Some(Leasing {
            address: leasing::address(args.advertise.as_deref(), &listener, scheme)?,
            block_bits: leasing::block_bits(args.block_bits.as_deref())?,
            window_ms: leasing::window_ms(args.lease_window.as_deref())?,
            location: location.clone(),
            layout,
        })
    };
    let Opened { generators, brokers, descriptions } =
        open_all(&names, leasing.as_ref(), &location, layout, !args.no_ids)?;
    let mut service = Service::new(generators)
        .brokers(brokers)
        .max_count(max_count)
        .max_wait(Duration::from_millis(max_wait))
        .tokens(tokens.unwrap_or_default())
        .origins(origins)
        .trusted_proxies(proxies);
    service = limits.apply(service);
    if args.log.logs_access() {
        service = service.access_log();
    }
    if let Some(pruning) = history::pruning(keep_history, &names, &location) {
        service = service.prune_history(pruning);
    }
    if let Some(html) = page {
        service = service.page(html);
    }
    if is_loopback(&listener)? && !verifies && !args.insecure {
        service = service.loopback_names_only();
    }
    let server = Server::bind(service, &listener, options)
        .map_err(|error| Failure::io(format!("cannot listen on {listener}"), error))?;
    // Signal handlers are installed before the address is printed, so that a process that reads the address can stop
    // the server gracefully.
    let signals =
        server.signals().map_err(|error| Failure::io("cannot wait for signals", error))?;
    announce(&server, scheme, args.ui.is_some(), &names, &descriptions)?;
    // The server closes its own socket when the drain period ends, but this copy of the socket would keep the address
    // open.
    drop(listener);
    server.run_with(signals);
    Ok(())
}

/// The limits of each client: leases, requests and IDs per second, and leases at the same time.
struct ClientLimits {
    leases: u64,
    requests: Option<u64>,
    ids: Option<u64>,
    held: Option<u64>,
}

impl ClientLimits {
    fn parse(args: &ServeArgs) -> Result<Self, Failure> {
        let limit = |name, text: &str| number::parse(name, text, 1, MOST_COUNT);
        let optional =
            |name, text: &Option<String>| text.as_deref().map(|text| limit(name, text)).transpose();
        Ok(Self {
            leases: limit("lease-rate-limit", &args.lease_rate_limit)?,
            requests: optional("request-rate-limit", &args.request_rate_limit)?,
            ids: optional("rate-limit", &args.rate_limit)?,
            held: optional("max-leases-per-client", &args.max_leases_per_client)?,
        })
    }

    fn apply(&self, service: Service) -> Service {
        let mut service = service.lease_rate_limit(self.leases);
        if let Some(requests_per_second) = self.requests {
            service = service.request_rate_limit(requests_per_second);
        }
        if let Some(ids_per_second) = self.ids {
            service = service.rate_limit(ids_per_second);
        }
        if let Some(leases) = self.held {
            service = service.max_leases_per_client(leases);
        }
        service
    }
}

fn proxies(args: &ServeArgs) -> Result<TrustedProxies, Failure> {
    let mut proxies = TrustedProxies::default();
    args.trusted_proxies.iter().try_for_each(|network| proxies.trust(network))?;
    Ok(if args.proxy_protocol { proxies.with_proxy_protocol() } else { proxies })
}

fn page(path: &Path) -> Result<String, Failure> {
    std::fs::read_to_string(path)
        .map_err(|error| Failure::io(format!("cannot read --ui {}", path.display()), error))
}

fn tls(args: &ServeArgs) -> Result<Option<TlsSettings>, Failure> {
    let (Some(certificate), Some(key)) = (&args.tls_cert, &args.tls_key) else { return Ok(None) };
    let client_authorities = args.client_ca.clone();
    let files = TlsFiles { certificate: certificate.clone(), key: key.clone(), client_authorities };
    Ok(Some(TlsSettings::load(&files)?))
}
