//! The primary as Redis Sentinel knows it.

use std::time::{Duration, Instant};

use super::super::hosts::{Hosts, first_usable};
use super::fault::fault;
use crate::redis::connection::{self, Access, Server};
use flakeid_protocol::store::Fault;
use flakeid_protocol::url::{ServerUrl, redact};

/// The port of a sentinel where the URL names none.
const PORT: u16 = 26379;

/// What a URL says about a service that sentinels watch:
/// `redis+sentinel://user:password@sentinel:port,sentinel:port/service/database`.
struct Service<'a> {
    /// Its name.
    name: String,
    /// The URL of the primary, before its address and after it.
    before: String,
    after: &'a str,
    /// The user and password of the sentinels themselves.
    user: Option<String>,
    password: Option<String>,
}

/// Asks one sentinel after the other for the primary, and connects to it. One that does not answer, or
/// whose primary has been demoted meanwhile, is passed over.
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
        // Half of the time is the primary's.
        let mut connection = connection::connect(shown, sentinel, share / 2)?;
        let mut ask = redis::cmd("SENTINEL");
        ask.arg("get-master-addr-by-name").arg(&service.name);
        let answer = ask.query(&mut connection).map_err(|error| fault(shown, &error))?;
        let answer: Option<(String, u16)> = answer;
        let Some((host, port)) = answer else {
            let unknown = format!("{shown}: the sentinel watches no service of this name");
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
                "the URL is not of the form \
                 {}://user:password@sentinel:port,sentinel:port/service/database",
                hosts.scheme
            )));
        }
        let (user, password) = (url.option("sentinel-user")?, url.option("sentinel-password")?);
        if user.is_some() && password.is_none() {
            return Err(url.reject("the option sentinel-user needs sentinel-password"));
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
