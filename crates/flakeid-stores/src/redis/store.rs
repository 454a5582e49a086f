//! A connection to Redis that runs transactions and lists the namespaces.

use std::time::Duration;

use redis::{Connection, Script};

use super::super::optimistic::transact;
use super::cluster::Cluster;
use super::connection::Server;
use super::fault::fault;
use super::keys::Keys;
use flakeid_protocol::Namespace;
use flakeid_protocol::store::{Fault, Ledger, Store};

/// The longest time that replicas may take to confirm a write.
const REPLICA_TIMEOUT: Duration = Duration::from_millis(1500);

/// A connection to Redis.
pub(super) struct RedisStore {
    pub connection: Connection,
    pub shown: String,
    /// The server's run during which a transaction reads, in the form `run_id/master_replid`. Empty if the run has not
    /// been read yet. After a failover, or behind a proxy, the same connection may lead to another run. The commit
    /// therefore checks the run in the same atomic step as the transaction's other checks and its writes.
    pub run: String,
    /// The number of replicas that must confirm a write.
    pub replicas: u32,
    /// The number of changes to the namespace at the time when all its rows were read.
    pub changes: String,
    pub scripts: Scripts,
    /// The cluster to which the server belongs; `None` if the server is not a node of a cluster.
    pub cluster: Option<Cluster>,
    /// A namespace whose keys are known to be on the connected cluster node.
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

    /// Connects to the node that stores a namespace's keys, unless the current connection already leads to that node.
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

    /// Waits until enough replicas have confirmed the writes on this connection.
    pub(super) fn wait_for_replicas(&mut self) -> Result<(), Fault> {
        if self.replicas == 0 {
            return Ok(());
        }
        let mut wait = redis::cmd("WAIT");
        wait.arg(self.replicas).arg(REPLICA_TIMEOUT.as_millis() as u64);
        // Even if the server rejects WAIT, the outcome of the transaction is unknown, because the server has already
        // executed the write.
        let unconfirmed = |error| Fault::Unavailable(fault(&self.shown, &error).to_string());
        let have: u32 = wait.query(&mut self.connection).map_err(unconfirmed)?;
        if have >= self.replicas {
            return Ok(());
        }
        Err(Fault::Unavailable(format!(
            "{}: only {have} of {} required replicas confirmed the write in time",
            self.shown, self.replicas
        )))
    }
}

/// Returns the names of the namespaces on a server.
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
            // The namespace's keys may have been moved to another cluster node, so the next transaction looks up the
            // node again.
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
        // A scan may return the same key twice, so duplicates are removed.
        names.dedup();
        Ok(names)
    }
}
