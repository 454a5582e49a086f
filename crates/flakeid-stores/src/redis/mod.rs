//! Redis 5 or later, or Valkey: `redis://[user:password@]host[:port][,host…][/database]`, `rediss://`
//! with TLS. Options: `tls-ca`, `tls-cert`, `tls-key` (PEM files), `replicas` (see below). Of several hosts
//! the first that is a primary is taken.
//!
//! With Redis Sentinel `redis+sentinel://[user:password@]sentinel[:port][,sentinel…]/service[/database]`,
//! `rediss+sentinel://` with TLS to sentinels and servers. User and password are the servers'; the
//! sentinels' own, if they have any, are the options `sentinel-user` and `sentinel-password`. The
//! first sentinel that knows a server which is a primary decides.
//!
//! With Redis Cluster name some of the nodes, `redis://[user:password@]node[:port][,node…]`: the node that
//! has a namespace's keys is asked for, and must be reachable at the address that it announces. A
//! namespace that is moved to another node counts as restored there.
//!
//! Each server, or sentinel with its server, gets its share of the connection time-out, 2 s, so one that
//! hangs does not keep the next from being tried.
//!
//! - Each namespace is six keys, `flakeid:{namespace}` and the like: one hash slot of a cluster.
//!   No key has a time to live, and a server that evicts keys is refused.
//! - A namespace that is missing is an error: a server that lost everything must not grant.
//! - Each run of the server counts as another store, because Redis may forget the last second. One
//!   that keeps neither an append-only file nor snapshots forgets the namespaces too.
//! - An incarnation is one run of the server on its data: `run_id/master_replid`, compared in the
//!   step that writes. So a failover, on the same connection or behind a proxy that keeps
//!   connections, does not go unnoticed even in the middle of a transaction.
//! - Redis chooses a new `master_replid` for every server that becomes the primary, so one that was
//!   demoted and promoted again without a restart is another store. It also chooses one when the
//!   first replica is attached (or `redis-cli --rdb` connects), and when the last one has been gone
//!   for `repl-backlog-ttl` (an hour unless set; 0 is never). Then, too, nothing is granted for
//!   15 s with the default bounds: attach the first replica before the fleet starts.
//!
//! # Failover
//! A replica that takes over is another store: it grants nothing for a while, and then nothing below
//! what was granted before. But a primary that was cut off from its replicas goes on granting until it learns of the new one, and
//! then both grant the same ticks. With `replicas=n` nothing is granted while fewer than `n`
//! replicas follow, and nothing counts as written until `n` have confirmed it (`WAIT`). Use that
//! wherever there is automatic failover, and choose `n` so that **2`n` is at least the number of
//! all replicas**, those of replicas included: then no two primaries have `n` each. A primary with
//! more replicas than that is refused when a connection to it is made. Replicas that are attached
//! later, or to other replicas, are not seen: count them yourself.
//!
//! `WAIT` counts replicas; it does not fence a primary off. The same ticks can still be granted
//! twice if a replica that has followed the new primary is made to follow the old one again while
//! that one still grants, or if a proxy moves a client's connection to another server between a
//! write and its `WAIT`.
//!
//! # Not noticed
//! So whoever runs the server has to exclude it, besides what [no store notices](super):
//!
//! - two primaries without `replicas`, or with too few (see above), and clients that return to an
//!   old primary that was neither demoted nor stopped while a replica of it was the primary;
//! - older data put back while the server runs on: `RESTORE`, `SWAPDB`, tools that pipe a snapshot
//!   into a running server.

mod cluster;
mod connection;
mod fault;
mod keys;
mod sentinel;
mod store;
mod transaction;

use super::hosts::{Hosts, first_usable};
use cluster::Cluster;
use connection::Access;
use flakeid_protocol::store::{Fault, Store};
use flakeid_protocol::url::{ServerUrl, redact};
use store::RedisStore;

const OPTIONS: [&str; 6] =
    ["tls-ca", "tls-cert", "tls-key", "replicas", "sentinel-user", "sentinel-password"];

/// Connects to the primary, and refuses a server that would forget.
///
/// # Errors
/// [`Fault::Rejected`] for a bad URL, password or certificate, and for a server that would forget;
/// [`Fault::Unavailable`] if no primary is found within the connection time-out.
pub(super) fn connect(url: &str) -> Result<Box<dyn Store>, Fault> {
    let url = ServerUrl::parse(url, &OPTIONS)?;
    let hosts = Hosts::parse(url.base);
    let access = Access::read(&url, hosts.scheme.starts_with("rediss"))?;
    let replicas = access.replicas;
    if hosts.scheme.ends_with("+sentinel") {
        let server = sentinel::connect(&url, &hosts, &access)?;
        return Ok(Box::new(RedisStore::new(server, replicas, None)));
    }
    if url.options.iter().any(|(name, _)| name.starts_with("sentinel-")) {
        return Err(url.reject("the options for sentinels need redis+sentinel://"));
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
