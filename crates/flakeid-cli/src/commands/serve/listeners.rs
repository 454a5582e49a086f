//! The addresses on which the server listens, and a check that addresses reachable from other hosts
//! are protected.

use std::io::{self, Write};
use std::net::{SocketAddr, ToSocketAddrs};
use std::path::Path;

use flakeid_core::Error;
use flakeid_server::{Listener, Server};

use crate::failure::{Failure, Outcome};
use crate::format::DIM;
use crate::terminal;

/// Returns the listener for the Unix socket, if there is one, and otherwise for the address.
pub(super) fn listener(unix: Option<&Path>, address: &str) -> Result<Listener, Failure> {
    match unix {
        Some(path) => Ok(Listener::Unix(path.to_owned())),
        None => tcp_listener("listen", address),
    }
}

/// Parses the permissions of the Unix socket.
pub(super) fn mode(text: &str) -> Result<u32, Failure> {
    let is_octal = text.bytes().all(|digit| (b'0'..=b'7').contains(&digit));
    match u32::from_str_radix(text, 8) {
        Ok(mode) if is_octal && mode <= 0o777 => Ok(mode),
        _ => {
            let reason = format!("{text:?} is not an octal number from 0 to 0777, such as 0660");
            Err(Error::invalid_option("unix-mode", &reason).into())
        }
    }
}

pub(super) fn tcp_listener(name: &'static str, text: &str) -> Result<Listener, Failure> {
    let unknown = |error: io::Error| {
        let reason = format!("{text:?} is not HOST:PORT, such as 127.0.0.1:7117: {error}");
        Failure::from(Error::invalid_option(name, &reason))
    };
    let mut addresses = text.to_socket_addrs().map_err(unknown)?;
    let address: Option<SocketAddr> = addresses.next();
    address.map(Listener::Tcp).ok_or_else(|| unknown(io::ErrorKind::NotFound.into()))
}

pub(super) fn grpc_listener(text: &str) -> Result<Listener, Failure> {
    if cfg!(feature = "grpc") {
        return tcp_listener("grpc", text);
    }
    let reason = "this flakeid was built without gRPC; to build it, run cargo install --locked --features grpc \
                  flakeid-cli";
    Err(Error::invalid_option("grpc", reason).into())
}

pub(super) fn bind(listener: Listener) -> Result<Listener, Failure> {
    match listener {
        Listener::Tcp(address) => Listener::bound(address)
            .map_err(|error| Failure::io(format!("cannot listen on {address}"), error)),
        listener => Ok(listener),
    }
}

/// Whether a listener accepts TCP connections only from this host.
pub(super) fn is_loopback(listener: &Listener) -> Result<bool, Failure> {
    let address = listener.tcp_address();
    let address = address.map_err(|error| {
        Failure::io("cannot determine the listening address for `--listen`", error)
    })?;
    Ok(address.is_some_and(|address| address.ip().is_loopback()))
}

/// Checks that a server that is reachable from other hosts uses TLS and authenticates its clients,
/// unless `--insecure` is set.
pub(super) fn check_exposure(
    name: &'static str,
    listener: &Listener,
    is_guarded: bool,
    insecure: bool,
) -> Result<(), Failure> {
    let is_local = match listener {
        Listener::Tcp(address) => address.ip().is_loopback(),
        _ => true,
    };
    if is_local || is_guarded || insecure {
        return Ok(());
    }
    let reason = format!(
        "{listener} can be reached from other hosts: give --tls-cert and --tls-key, and --token-file \
         or --client-ca, or allow this with --insecure"
    );
    Err(Error::invalid_option(name, &reason).into())
}

/// Prints the server's addresses. If the output is not a terminal, each address is on its own line,
/// so that a script can wait for the addresses.
pub(super) fn announce(
    server: &Server,
    scheme: &str,
    has_page: bool,
    names: &[String],
    descriptions: &[String],
) -> Outcome {
    let address = server.address().map_err(|error| {
        Failure::io("cannot determine the listening address for `--listen`", error)
    })?;
    let url = match &address {
        Listener::Unix(path) => format!("{scheme}+unix:{}", path.display()),
        address => format!("{scheme}://{address}"),
    };
    let resp = server
        .resp_address()
        .map_err(|error| Failure::io("cannot determine the listening address for `--resp`", error))?
        .map(|address| {
            format!("{}://{address}", if scheme == "https" { "rediss" } else { "redis" })
        });
    #[cfg(feature = "grpc")]
    let grpc = server
        .grpc_address()
        .map_err(|error| Failure::io("cannot determine the listening address for `--grpc`", error))?
        .map(|address| format!("{}://{address}", if scheme == "https" { "grpcs" } else { "grpc" }));
    #[cfg(not(feature = "grpc"))]
    let grpc: Option<String> = None;
    let admin = server
        .admin_address()
        .map_err(|error| {
            Failure::io("cannot determine the listening address for `--admin-listen`", error)
        })?
        .map(|address| format!("http://{address}"));
    let mut out = terminal::stream();
    if terminal::is_terminal() {
        writeln!(out, "{url} serves {}", descriptions.join(", "))?;
        if let Some(resp) = &resp {
            writeln!(out, "{resp} serves Redis clients")?;
        }
        if let Some(grpc) = &grpc {
            writeln!(out, "{grpc} serves gRPC")?;
        }
        if let Some(admin) = &admin {
            writeln!(out, "{admin} serves health checks and metrics")?;
        }
        if has_page && !matches!(address, Listener::Unix(_)) {
            writeln!(out, "{url}/ui explains IDs")?;
        }
        let first = names.first().map_or("default", String::as_str);
        match &address {
            Listener::Unix(path) => {
                let path = path.display();
                let ids = format!("{scheme}://localhost/v1/{first}/ids?count=3");
                writeln!(out, "{DIM}try: curl --unix-socket {path} -X POST {ids}{DIM:#}")?;
            }
            _ => {
                writeln!(out, "{DIM}try: curl -X POST {url}/v1/{first}/ids?count=3{DIM:#}")?;
            }
        }
    } else {
        writeln!(out, "{url}")?;
        for other in resp.iter().chain(&grpc).chain(&admin) {
            writeln!(out, "{other}")?;
        }
    }
    out.flush()?;
    Ok(())
}
