//! A connection to the primary that Redis Sentinel reports.

use std::time::{Duration, Instant};

use super::super::hosts::{Hosts, first_usable};
use super::fault::fault;
use crate::redis::connection::{self, Access, Server};
use flakeid_protocol::store::Fault;
use flakeid_protocol::url::{ServerUrl, redact};

/// The default port of a sentinel.
const PORT: u16 = 26379;

/// The service that a sentinel URL names:
/// `redis+sentinel://user:password@sentinel:port,sentinel:port/service/database`.
struct Service<'a> {
    /// The name of the service.
    name: String,
    /// The part of the primary's URL before the primary's address.
    before: String,
    /// The part of the primary's URL after the primary's address.
    after: &'a str,
    /// The user name for connections to the sentinels.
    user: Option<String>,
    /// The password for connections to the sentinels.
    password: Option<String>,
}

/// Queries one sentinel after another for the primary, and connects to the primary. Skips sentinels that do not respond
/// or that report a former primary.
pub(super) fn connect(
    url: &ServerUrl<'_>,
    hosts: &Hosts<'_>,
    access: &Access,
) -> Result<Server, Fault> {
    let scheme = hosts.scheme.trim_end_matches("+sentinel");
    let service = Service::read(url, hosts, scheme)?;
    let place = |host: &&str| {
        let has_port = host.rsplit(']').next().is_some_and(|rest| rest.contains(':'));
        let host = if has_port { (*host).to_owned() } else { format!("{host}:{PORT}") };
        let info = access.info(&format!("{scheme}://{host}/"))?;
        let mut settings = info.redis_settings().clone();
        if let Some(user) = &service.user {
            settings = settings.set_username(user);
        }
        if let Some(password) = &service.password {
            settings = settings.set_password(password);
        }
        let shown = redact(&hosts.url(hosts.scheme, &host));
        Ok((shown, access.client(info.set_redis_settings(settings))?))
    };
    let places: Vec<_> = hosts.list.iter().map(place).collect::<Result<_, Fault>>()?;
    first_usable(&places, |(shown, sentinel), share| {
        let start = Instant::now();
        // Half of the time limit is reserved for the connection to the primary.
        let mut connection = connection::connect(shown, sentinel, share / 2)?;
        let mut ask = redis::cmd("SENTINEL");
        ask.arg("get-master-addr-by-name").arg(&service.name);
        let answer = ask.query(&mut connection).map_err(|error| fault(shown, &error))?;
        let answer: Option<(String, u16)> = answer;
        let Some((host, port)) = answer else {
            let unknown = format!(
                "{shown}: the sentinel does not monitor a service named {:?}; check the URL",
                service.name
            );
            return Err(Fault::Rejected(unknown));
        };
        let host = if host.contains(':') { format!("[{host}]") } else { host };
        let address = format!("{}{host}:{port}{}", service.before, service.after);
        let primary = access.client(access.info(&address)?)?;
        let left = share.saturating_sub(start.elapsed()).max(Duration::from_millis(1));
        access.open(&redact(&address), &primary, left)
    })
}

impl<'a> Service<'a> {
    fn read(url: &ServerUrl<'_>, hosts: &Hosts<'a>, scheme: &str) -> Result<Self, Fault> {
        let path = hosts.path.strip_prefix('/').unwrap_or_default();
        let at = path.find('/').unwrap_or(path.len());
        let (name, after) = path.split_at(at);
        let database = after.strip_prefix('/').unwrap_or("0");
        if name.is_empty() || name.contains(['#', '@']) || database.parse::<u32>().is_err() {
            return Err(url.reject(format_args!(
                "the URL does not have the form \
                 {}://user:password@sentinel:port,sentinel:port/service/database",
                hosts.scheme
            )));
        }
        let (user, password) = (url.option("sentinel-user")?, url.option("sentinel-password")?);
        if user.is_some() && password.is_none() {
            return Err(url.reject("the option sentinel-user requires sentinel-password"));
        }
        Ok(Self {
            name: url.decode("name of the service", name)?,
            before: format!("{scheme}://{}", hosts.user),
            after,
            user,
            password,
        })
    }
}
