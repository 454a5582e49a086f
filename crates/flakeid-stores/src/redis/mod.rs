//! A store in Redis 5 or later, or in Valkey. The URL is `redis://[user:password@]host[:port][,host…][/database]`, or
//! `rediss://` with TLS. The options are `tls-ca`, `tls-cert` and `tls-key` (PEM files), and `replicas` (see the
//! section *Failover*). If the URL names several hosts, flakeid uses the first host that is a primary.
//!
//! With Redis Sentinel, the URL is `redis+sentinel://[user:password@]sentinel[:port][,sentinel…]/service[/database]`,
//! or `rediss+sentinel://` with TLS to sentinels and servers. The user and password in the URL are for the servers. If
//! the sentinels require credentials, set these credentials with the options `sentinel-user` and `sentinel-password`.
//! flakeid uses the first reported server that is a primary.
//!
//! With Redis Cluster, name some of the cluster's nodes in the URL: `redis://[user:password@]node[:port][,node…]`.
//! flakeid connects to the node that stores a namespace's keys. This node must be reachable at the address that it
//! announces. A namespace that was moved to another node counts as restored.
//!
//! The connection timeout of 2 s is divided equally among the servers, or among the sentinels with their servers. A
//! server that hangs therefore does not prevent flakeid from trying the next server.
//!
//! - Each namespace has six keys: `flakeid:{namespace}`, and five keys that begin with this string. All six keys are in
//!   one hash slot of a cluster. The keys have no time to live, and a server that evicts keys is refused.
//! - A missing namespace is an error, because a server that has lost all data must not grant nodes.
//! - Each run of the server counts as a different store, because Redis may lose the last second of writes. A server
//!   without an append-only file and without snapshots also loses the namespaces.
//! - An incarnation is one run of the server on its data, recorded as `run_id/master_replid`. The script that writes
//!   compares the incarnation. A failover is therefore detected even in the middle of a transaction, on the same
//!   connection or behind a proxy that keeps connections open.
//! - Redis chooses a new `master_replid` for every server that becomes the primary. A server that was demoted and
//!   promoted again without a restart therefore counts as a different store. Redis also chooses a new `master_replid`
//!   when the first replica (or `redis-cli --rdb`) connects, and when the last replica has been gone for
//!   `repl-backlog-ttl` (an hour by default; 0 means never). In these cases, too, the store grants nothing for 15 s
//!   with the default bounds, so attach the first replica before the clients start.
//!
//! # Failover
//! A replica that is promoted counts as a different store: it grants nothing for a while, and then no ticks below the
//! earlier grants. However, a primary that was cut off from its replicas continues to grant nodes until it is demoted.
//! In the meantime, both primaries may grant the same ticks. With `replicas=n`, a primary grants nothing while fewer
//! than `n` replicas follow it, and a write counts only after `n` replicas have confirmed it (`WAIT`). Use this option
//! wherever failover is automatic. Choose `n` so that **2`n` is at least the number of all replicas**, including the
//! replicas of replicas. Two primaries then cannot have `n` replicas each. A primary with more replicas is refused when
//! a client connects. Replicas that are attached later, or that are attached to other replicas, are not detected, so
//! include these replicas when you choose `n`.
//!
//! `WAIT` counts replicas, but does not prevent an old primary from granting nodes. The same ticks can still be granted
//! twice if a replica that has followed the new primary is made to follow the old primary again while the old primary
//! still grants nodes, or if a proxy moves a client's connection to another server between a write and its `WAIT`.
//!
//! # Not detected
//! The operator of the server must prevent the following cases, in addition to the cases that [no store
//! detects](flakeid_protocol::store):
//!
//! - Two primaries exist at the same time, without the option `replicas` or with a value that is too small.
//! - Clients return to an old primary that was neither demoted nor stopped while one of its replicas was the primary.
//! - Older data is put back while the server keeps running: by `RESTORE`, by `SWAPDB`, or by tools that pipe a snapshot
//!   into a running server.

mod cluster;
mod connection;
mod fault;
mod keys;
mod sentinel;
mod store;
mod transaction;

use super::hosts::{Hosts, first_usable};
use crate::backend::{Backend, Connect};
use cluster::Cluster;
use connection::Access;
use flakeid_protocol::store::{Fault, Store};
use flakeid_protocol::url::{ServerUrl, redact};
use store::RedisStore;

const OPTIONS: [&str; 6] =
    ["tls-ca", "tls-cert", "tls-key", "replicas", "sentinel-user", "sentinel-password"];

pub(super) static BACKEND: Backend = Backend {
    forms: &["redis://", "redis+sentinel://"],
    connect: Connect::Store(|place| connect(place.url)),
    file: None,
    documents: None,
};

/// Connects to the primary. Refuses a server that may lose leases.
///
/// # Errors
/// [`Fault::Rejected`] for an invalid URL, password or certificate, and for a server that may lose leases;
/// [`Fault::Unavailable`] if no primary is found within the connection timeout.
fn connect(url: &str) -> Result<Box<dyn Store>, Fault> {
    let url = ServerUrl::parse(url, &OPTIONS)?;
    let hosts = Hosts::parse(url.base);
    let access = Access::read(&url, hosts.scheme.starts_with("rediss"))?;
    let replicas = access.replicas;
    if hosts.scheme.ends_with("+sentinel") {
        let server = sentinel::connect(&url, &hosts, &access)?;
        return Ok(Box::new(RedisStore::new(server, replicas, None)));
    }
    if url.options.iter().any(|(name, _)| name.starts_with("sentinel-")) {
        return Err(url.reject(
            "the options sentinel-user and sentinel-password require a redis+sentinel:// URL",
        ));
    }
    let place = |host: &&str| {
        let address = hosts.url(hosts.scheme, host);
        Ok((redact(&address), access.client(access.info(&address)?)?))
    };
    let places: Vec<_> = hosts.list.iter().map(place).collect::<Result<_, Fault>>()?;
    let server = first_usable(&places, |(shown, client), share| access.open(shown, client, share))?;
    let cluster = server.is_cluster.then(|| {
        let before = format!("{}://{}", hosts.scheme, hosts.user);
        Cluster { access, before, after: hosts.path.to_owned() }
    });
    Ok(Box::new(RedisStore::new(server, replicas, cluster)))
}
