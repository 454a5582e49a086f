use std::path::PathBuf;

use tokio_postgres::{Client, Config, NoTls};
use tokio_postgres_rustls::MakeRustlsConnect;

use super::fault::{self, refusal};
use super::tls::{self, Verification};
use super::transaction::Postgres;
use crate::store::location::CONNECT_TIMEOUT;
use crate::store::sql::{Line, decoded, split_options};
use crate::store::{Fault, Location, Store};

/// Options that are passed on as they are.
const PASSED: [&str; 11] = [
    "user",
    "password",
    "dbname",
    "host",
    "hostaddr",
    "port",
    "options",
    "application_name",
    "target_session_attrs",
    "channel_binding",
    "sslnegotiation",
];

/// Connects to a server.
///
/// # Errors
/// [`Fault::Rejected`] for a bad URL, password, database or certificate; [`Fault::Unavailable`]
/// if the server is not there within the connection time-out.
pub(in crate::store) fn connect(url: &str) -> Result<Box<dyn Store>, Fault> {
    let place = Location::parse(url).map_or_else(|_| "store".into(), |at| at.to_string());
    let (config, verification) = read(&place, url)?;
    let line = Line::new(&place)?;
    let client = match verification {
        None => open(&line, &config, NoTls)?,
        Some(verification) => {
            let config_of_tls = tls::config(&place, &verification)?;
            open(&line, &config, MakeRustlsConnect::new(config_of_tls))?
        }
    };
    Ok(Box::new(Postgres::new(line, client)))
}

fn open<T>(line: &Line, config: &Config, tls: T) -> Result<Client, Fault>
where
    T: tokio_postgres::tls::MakeTlsConnect<tokio_postgres::Socket> + Send,
    T::Stream: Send + 'static,
    T::TlsConnect: Send,
    <T::TlsConnect as tokio_postgres::tls::TlsConnect<tokio_postgres::Socket>>::Future: Send,
{
    let opened = line.wait(CONNECT_TIMEOUT, config.connect(tls))?;
    let (client, connection) = opened.map_err(|error| refusal(line.place(), &error))?;
    line.run_along(async move {
        // Its end is seen by whoever asks next.
        let _ = connection.await;
    });
    Ok(client)
}

/// The driver's configuration, and what TLS is to verify if there is to be TLS.
fn read(place: &str, url: &str) -> Result<(Config, Option<Verification>), Fault> {
    let known: Vec<&str> = PASSED.into_iter().chain(["sslmode", "sslrootcert"]).collect();
    let (base, options) = split_options(place, url, &known)?;
    let (mut mode, mut root, mut passed) = ("prefer", None, Vec::new());
    for (name, value) in options {
        match name {
            "sslmode" => mode = value,
            "sslrootcert" => root = Some(decoded(value)),
            _ => passed.push(format!("{name}={value}")),
        }
    }
    let read: Result<Config, _> = format!("{base}?{}", passed.join("&")).parse();
    let mut config =
        read.map_err(|error| Fault::Rejected(format!("{place}: {}", fault::with_causes(&error))))?;
    // Each host of several gets its share of the time.
    let hosts = config.get_hosts().len().max(config.get_hostaddrs().len()).max(1);
    let share = CONNECT_TIMEOUT / u32::try_from(hosts).unwrap_or(u32::MAX);
    config.connect_timeout(share).tcp_user_timeout(CONNECT_TIMEOUT);
    if config.get_application_name().is_none() {
        config.application_name("flakeid");
    }
    let (ssl_mode, verification) = tls::mode(place, mode, root.map(PathBuf::from))?;
    config.ssl_mode(ssl_mode);
    Ok((config, verification))
}
