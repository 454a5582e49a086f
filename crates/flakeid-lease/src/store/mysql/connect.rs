use std::path::Path;

use mysql_async::{Conn, DriverError, Error, Opts, OptsBuilder, SslOpts};
use rustls::RootCertStore;

use super::fault::refusal;
use super::transaction::{Mysql, session};
use crate::store::location::CONNECT_TIMEOUT;
use crate::store::sql::{Line, added, decoded, native, ring_by_default, split_options};
use crate::store::{Fault, Location, Store};

/// Connects to a server.
///
/// # Errors
/// [`Fault::Rejected`] for a bad URL, password, database or certificate; [`Fault::Unavailable`]
/// if the server is not there within the connection time-out.
pub(in crate::store) fn connect(url: &str) -> Result<Box<dyn Store>, Fault> {
    let place = Location::parse(url).map_or_else(|_| "store".into(), |at| at.to_string());
    let wish = read(&place, url)?;
    let line = Line::new(&place)?;
    let opened = match open(&line, wish.opts.clone().ssl_opts(wish.tls))? {
        Err(Error::Driver(DriverError::NoClientSslFlagFromServer)) if wish.may_be_plain => {
            open(&line, wish.opts.ssl_opts(None))?
        }
        opened => opened,
    };
    let mut conn = opened.map_err(|error| refusal(&place, &error))?;
    let is_mariadb = session(&line, &mut conn)?;
    Ok(Box::new(Mysql::new(line, conn, is_mariadb)))
}

fn open(line: &Line, opts: OptsBuilder) -> Result<Result<Conn, Error>, Fault> {
    line.wait(CONNECT_TIMEOUT, Conn::new(opts))
}

/// What a URL asks for.
struct Wish {
    opts: OptsBuilder,
    tls: Option<SslOpts>,
    may_be_plain: bool,
}

fn read(place: &str, url: &str) -> Result<Wish, Fault> {
    let (base, options) = split_options(place, url, &["socket", "ssl-mode", "ssl-ca"])?;
    let (mut socket, mut mode, mut ca) = (None, "preferred".to_owned(), None);
    for (name, value) in options {
        match name {
            "socket" => socket = Some(decoded(value)),
            "ssl-mode" => mode = value.to_ascii_lowercase(),
            _ => ca = Some(decoded(value)),
        }
    }
    let address = base.split_once("://").map_or(base, |(_, address)| address);
    // The driver's own words may quote the URL.
    let opts = Opts::from_url(&format!("mysql://{address}")).map_err(|_| {
        Fault::Rejected(format!(
            "{place}: not of the form mysql://user:password@host:port/database"
        ))
    })?;
    if opts.db_name().is_none_or(str::is_empty) {
        return Err(Fault::Rejected(format!("{place}: the URL names no database")));
    }
    let opts = OptsBuilder::from_opts(opts)
        // Otherwise a connection to this host is made anew through the socket that it names.
        .prefer_socket(false)
        .socket(socket)
        // Rows that are written as they were count as written.
        .client_found_rows(true)
        .tcp_keepalive(Some(CONNECT_TIMEOUT));
    let tls = tls(place, &mode, ca.as_deref().map(Path::new))?;
    Ok(Wish { opts, tls, may_be_plain: mode == "preferred" })
}

/// What the client programs' options ask for; `None` is no TLS.
fn tls(place: &str, mode: &str, ca: Option<&Path>) -> Result<Option<SslOpts>, Fault> {
    let verifies = match mode {
        "disabled" | "preferred" | "required" => false,
        "verify_identity" => true,
        _ => {
            return Err(Fault::Rejected(format!(
                "{place}: ssl-mode must be disabled, preferred, required or verify_identity"
            )));
        }
    };
    if ca.is_some() && !verifies {
        return Err(Fault::Rejected(format!("{place}: ssl-ca needs ssl-mode=verify_identity")));
    }
    if mode == "disabled" {
        return Ok(None);
    }
    ring_by_default();
    let options = SslOpts::default();
    if !verifies {
        return Ok(Some(options.with_danger_accept_invalid_certs(true)));
    }
    let certs = match ca {
        Some(file) => added(place, "ssl-ca", file)?,
        None => native(place)?,
    };
    // The driver fails on the first that it cannot read; systems ship such.
    let sound = certs.into_iter().filter(|cert| RootCertStore::empty().add(cert.clone()).is_ok());
    let sound: Vec<_> = sound.map(|cert| cert.to_vec().into()).collect();
    if sound.is_empty() {
        return Err(Fault::Rejected(format!("{place}: no certificate to trust can be read")));
    }
    Ok(Some(options.with_disable_built_in_roots(true).with_root_certs(sound)))
}
