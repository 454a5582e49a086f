//! The connection, and what concerns all namespaces.

use std::time::Duration;

use redis::{Connection, Script};

use super::super::optimistic::transact;
use super::cluster::Cluster;
use super::connection::Server;
use super::fault::fault;
use super::keys::Keys;
use flakeid_protocol::Namespace;
use flakeid_protocol::store::{Fault, Ledger, Store};

/// How long replicas may take to confirm a write.
const REPLICA_TIMEOUT: Duration = Duration::from_millis(1500);

/// A connection to Redis.
pub(super) struct RedisStore {
    pub connection: Connection,
    pub shown: String,
    /// The run that a transaction rests on, `run_id/master_replid`; empty if it is to be asked for.
    /// Failovers, and proxies in front of them, keep connections, so the connection may lead to
    /// another one by now: the commit compares it in the same step as everything else.
    pub run: String,
    /// How many replicas must confirm what is written.
    pub replicas: u32,
    /// How often the namespace had been changed when all rows were read.
    pub changes: String,
    pub scripts: Scripts,
    /// The other nodes, if the server is a node of a cluster, and the namespace whose node it is.
    pub cluster: Option<Cluster>,
    pub here: Option<String>,
}

pub(super) struct Scripts {
    pub head: Script,
    pub coldest: Script,
    pub unused: Script,
    pub commit: Script,
}

impl Scripts {
    fn new() -> Self {
        Self {
            head: Script::new(concat!(include_str!("run.lua"), include_str!("head.lua"))),
            coldest: Script::new(include_str!("coldest.lua")),
            unused: Script::new(include_str!("unused.lua")),
            commit: Script::new(concat!(include_str!("run.lua"), include_str!("commit.lua"))),
        }
    }
}

impl RedisStore {
    pub(super) fn new(server: Server, replicas: u32, cluster: Option<Cluster>) -> Self {
        Self {
            connection: server.connection,
            shown: server.shown,
            run: String::new(),
            replicas,
            changes: String::new(),
            scripts: Scripts::new(),
            cluster,
            here: None,
        }
    }

    /// Connects to the node that has a namespace's keys, if this is another one.
    fn go_to(&mut self, namespace: &str) -> Result<(), Fault> {
        let Some(cluster) = &self.cluster else { return Ok(()) };
        if self.here.as_deref() == Some(namespace) {
            return Ok(());
        }
        let owner = cluster.owner(&self.shown, &mut self.connection, namespace)?;
        (self.connection, self.shown) = (owner.connection, owner.shown);
        self.run.clear();
        self.here = Some(namespace.to_owned());
        Ok(())
    }

    /// Waits until the replicas have what this connection wrote.
    pub(super) fn wait_for_replicas(&mut self) -> Result<(), Fault> {
        if self.replicas == 0 {
            return Ok(());
        }
        let mut wait = redis::cmd("WAIT");
        wait.arg(self.replicas).arg(REPLICA_TIMEOUT.as_millis() as u64);
        // Even a refusal comes too late to undo the write.
        let unconfirmed = |error| Fault::Unavailable(fault(&self.shown, &error).to_string());
        let have: u32 = wait.query(&mut self.connection).map_err(unconfirmed)?;
        if have >= self.replicas {
            return Ok(());
        }
        Err(Fault::Unavailable(format!(
            "{}: {have} of {} replicas confirmed the write in time",
            self.shown, self.replicas
        )))
    }
}

/// The names of the namespaces that a server has.
fn scan(shown: &str, connection: &mut Connection) -> Result<Vec<String>, Fault> {
    let mut names = Vec::new();
    let mut cursor = 0_u64;
    loop {
        let mut scan = redis::cmd("SCAN");
        scan.arg(cursor).arg("MATCH").arg(format!("{}*}}", Keys::PREFIX));
        scan.arg("COUNT").arg(1000);
        let (next, keys): (u64, Vec<String>) =
            scan.query(connection).map_err(|error| fault(shown, &error))?;
        let name = |key: &String| {
            let name = key.strip_prefix(Keys::PREFIX)?.strip_suffix('}')?;
            Namespace::check_name(name).is_ok().then(|| name.to_owned())
        };
        names.extend(keys.iter().filter_map(name));
        cursor = next;
        if cursor == 0 {
            return Ok(names);
        }
    }
}

impl Store for RedisStore {
    fn transact(
        &mut self,
        namespace: &str,
        work: &mut dyn FnMut(&mut dyn Ledger) -> Result<(), Fault>,
    ) -> Result<(), Fault> {
        self.go_to(namespace)?;
        let shown = self.shown.clone();
        let outcome = transact(self, &shown, namespace, work);
        if outcome.is_err() {
            // The keys may be on another node now.
            self.here = None;
        }
        outcome
    }

    fn prepare(&mut self) -> Result<(), Fault> {
        Ok(())
    }

    fn namespaces(&mut self) -> Result<Vec<String>, Fault> {
        let mut names = Vec::new();
        match &self.cluster {
            None => names = scan(&self.shown, &mut self.connection)?,
            Some(cluster) => {
                for mut primary in cluster.primaries(&self.shown, &mut self.connection)? {
                    names.extend(scan(&primary.shown, &mut primary.connection)?);
                }
            }
        }
        names.sort();
        // A scan may return a key twice.
        names.dedup();
        Ok(names)
    }
}
