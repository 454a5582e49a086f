use std::sync::Arc;
use std::time::Instant;

use serde_json::{Value, json};
use ureq::Agent;
use ureq::tls::{Certificate, ClientCert, PemItem, PrivateKey, RootCerts, TlsConfig};
use ureq::unversioned::resolver::DefaultResolver;

use super::super::location::{ANSWER_TIMEOUT, CONNECT_TIMEOUT};
use super::super::optimistic::{Options, decoded, transact};
use super::super::{Fault, Ledger, Store};
use super::gateway::Gateway;
use super::keys;
use super::pin::{Pin, PinnedConnector};
use super::shelf::Member;
use crate::protocol::Namespace;

/// Connects to the first member that answers.
pub(in super::super) fn connect(url: &str) -> Result<Box<dyn Store>, Fault> {
    let options = Options::of(url, &["tls-ca", "tls-cert", "tls-key"])?;
    let (scheme, rest) = options.bare.split_once("://").unwrap_or_default();
    let (user, hosts) = match rest.rsplit_once('@') {
        None => (None, rest),
        Some((user, hosts)) => {
            let (name, password) = user.split_once(':').unwrap_or((user, ""));
            (Some((decoded("user", name)?, decoded("password", password)?)), hosts)
        }
    };
    let hosts = hosts.strip_suffix('/').unwrap_or(hosts);
    if hosts.is_empty() || hosts.contains(['/', '#']) {
        return Err(Fault::Rejected(
            "an etcd URL is etcd://[user:password@]host:port[,host:port…]/".into(),
        ));
    }
    let (scheme, tls) = match scheme {
        "etcds" => ("https", Some(tls(&options)?)),
        _ => ("http", None),
    };
    let mut faults = Vec::new();
    let hosts: Vec<&str> = hosts.split(',').collect();
    // Each of several gets its share of the time.
    let patience = CONNECT_TIMEOUT / u32::try_from(hosts.len()).unwrap_or(u32::MAX);
    for host in hosts {
        let base = format!("{scheme}://{host}");
        let (pin, user) = (Pin::default(), user.clone());
        let agent = agent(tls.clone(), pin.clone());
        let mut gateway = Gateway { agent, pin, patience, base, user, token: None };
        match greeted(&mut gateway) {
            Ok(()) => return Ok(Box::new(Member::new(gateway))),
            Err(Fault::Unavailable(text)) => faults.push(text),
            Err(fault) => return Err(fault),
        }
    }
    Err(Fault::Unavailable(faults.join("; ")))
}

/// Logs in and sees whether the member answers, both within the gateway's patience, which is the
/// usual one afterwards.
fn greeted(gateway: &mut Gateway) -> Result<(), Fault> {
    let start = Instant::now();
    gateway.authenticate()?;
    gateway.patience = gateway.patience.saturating_sub(start.elapsed());
    gateway.call("/v3/maintenance/status", &json!({}))?;
    gateway.patience = ANSWER_TIMEOUT;
    Ok(())
}

fn agent(tls: Option<TlsConfig>, pin: Pin) -> Agent {
    let mut config = Agent::config_builder()
        .timeout_connect(Some(CONNECT_TIMEOUT))
        .http_status_as_error(false)
        .max_redirects(0)
        // A proxy of the environment is for the Internet.
        .proxy(None);
    if let Some(tls) = tls {
        config = config.tls_config(tls);
    }
    Agent::with_parts(config.build(), PinnedConnector::new(pin), DefaultResolver::default())
}

fn tls(options: &Options) -> Result<TlsConfig, Fault> {
    let roots = if let Some(pem) = options.file("tls-ca")? {
        certificates("tls-ca", &pem)?
    } else {
        let native = rustls_native_certs::load_native_certs().certs;
        native.iter().map(|root| Certificate::from_der(root).to_owned()).collect()
    };
    if roots.is_empty() {
        return Err(Fault::Rejected("no certificate authority is known: use tls-ca".into()));
    }
    let client = match (options.file("tls-cert")?, options.file("tls-key")?) {
        (Some(chain), Some(key)) => {
            let chain = certificates("tls-cert", &chain)?;
            let key = PrivateKey::from_pem(&key)
                .map_err(|error| Fault::Rejected(format!("the store's option tls-key: {error}")))?;
            Some(ClientCert::new_with_certs(&chain, key))
        }
        (None, None) => None,
        _ => return Err(Fault::Rejected("tls-cert and tls-key go together".into())),
    };
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    Ok(TlsConfig::builder()
        .root_certs(RootCerts::new_with_certs(&roots))
        .client_cert(client)
        .unversioned_rustls_crypto_provider(provider)
        .build())
}

fn certificates(option: &str, pem: &[u8]) -> Result<Vec<Certificate<'static>>, Fault> {
    let mut found = Vec::new();
    for item in ureq::tls::parse_pem(pem) {
        match item {
            Ok(PemItem::Certificate(certificate)) => found.push(certificate),
            Ok(_) => {}
            Err(error) => {
                return Err(Fault::Rejected(format!("the store's option {option}: {error}")));
            }
        }
    }
    if found.is_empty() {
        return Err(Fault::Rejected(format!("the store's option {option}: no certificate in it")));
    }
    Ok(found)
}

impl Store for Member {
    fn transact(
        &mut self,
        namespace: &str,
        work: &mut dyn FnMut(&mut dyn Ledger) -> Result<(), Fault>,
    ) -> Result<(), Fault> {
        let settled = transact(self, namespace, work);
        self.unpin();
        settled
    }

    fn prepare(&mut self) -> Result<(), Fault> {
        Ok(())
    }

    fn namespaces(&mut self) -> Result<Vec<String>, Fault> {
        let mut names = Vec::new();
        let mut from = keys::ROOT.to_owned();
        let end = keys::end(keys::ROOT);
        // From each name to the next, because there are many keys under each.
        loop {
            let mut first = keys::range(&from, Some(&end));
            first["limit"] = json!(1);
            first["keys_only"] = json!(true);
            let found = self.range(&first)?;
            let Some(found) = found["kvs"].get(0) else { return Ok(names) };
            let key = keys::decoded(&found["key"])?;
            let name = key.split('/').nth(2).unwrap_or_default();
            let kept = self.range(&keys::range(&keys::namespace(name), None))?;
            if kept["kvs"].get(0).is_some_and(Value::is_object)
                && Namespace::check_name(name).is_ok()
            {
                names.push(name.to_owned());
            }
            from = keys::end(&format!("{}{name}/", keys::ROOT));
        }
    }
}
