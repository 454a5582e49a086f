//! Leases a node for a database under the database's name and quarantines it. So no other holder is
//! granted the node, and a second run finds it again.

use std::process;

use flakeid_core::{Clock, Error, ErrorKind, Layout, SystemClock};
use flakeid_protocol::operations::{Listing, Repair};
use flakeid_protocol::{Acquire, Identity, Namespace, Owner, Release, Row, State};
use flakeid_stores::fresh_token;

use crate::failure::Failure;
use crate::store::Connection;

/// The time that the lease lasts if this process ends before it quarantines the node, in
/// milliseconds.
const TTL_MS: u64 = 30_000;

/// The node on which a database generates IDs.
pub(super) struct DatabaseNode {
    pub(super) node: u64,
    /// The first tick of new IDs, even if the functions are already installed.
    pub(super) first_tick: u64,
    /// The first tick of new IDs in a database that has not generated any yet.
    pub(super) first_tick_of_new: u64,
    /// The database and its namespace, for the header of the script.
    pub(super) origin: String,
}

/// A request for a database's own node in a namespace.
pub(super) struct Claim<'a> {
    connection: &'a mut Connection,
    /// The owner name of the database in the namespace; its prefix prevents processes from using it
    /// by accident.
    owner: String,
    name: &'a str,
}

impl<'a> Claim<'a> {
    pub(super) fn new(connection: &'a mut Connection, name: &'a str) -> Result<Self, Error> {
        // The name has the same characters as a namespace, because the script contains it too.
        if Namespace::check_name(name).is_err() {
            let shown: String = name.chars().take(80).collect();
            let reason = format!("{shown:?} must be 1 to 64 of A-Z a-z 0-9 . _ -");
            return Err(Error::invalid_option("--name", &reason));
        }
        Ok(Self { connection, owner: format!("database:{name}"), name })
    }

    /// Returns the layout of the namespace, which is also that of the database.
    pub(super) fn layout(&mut self) -> Result<Layout, Failure> {
        Ok(self.connection.list()?.namespace.layout)
    }

    /// Returns the node of this name, and leases and quarantines one if the name has none yet.
    pub(super) fn node(&mut self) -> Result<DatabaseNode, Failure> {
        let listing = self.connection.list()?;
        if let Some(row) = self.quarantined(&listing) {
            // Another database may have had this name until now. It issued no ID later than its own
            // clock.
            let skews = listing.namespace.bounds.max_skew_ms.saturating_mul(2);
            let latest = listing.now.saturating_add(i64::try_from(skews).unwrap_or(i64::MAX));
            let first_unused = listing.namespace.layout.tick_at(latest)? + 1;
            return Ok(self.database_node(&listing.namespace, row, first_unused));
        }
        let namespace = &listing.namespace;
        let (granted, release) = self.acquire(namespace)?;
        // Another process that runs this for the same name also acquires before it lists, so one of
        // the two sees the other.
        let others = self.connection.list()?;
        if let Some(row) = self.quarantined(&others) {
            let node = self.database_node(namespace, row, 0);
            self.connection.release(&release)?;
            return Ok(node);
        }
        let is_other = |row: &&Row| row.node != granted && self.is_ours(row);
        if let Some(row) = others.rows.iter().filter(is_other).find(|row| row.state == State::Held)
        {
            let process = format!("{} of {}", row.owner.pid, row.owner.host);
            self.connection.release(&release)?;
            return Err(self.contested_error(row.node, &process));
        }
        match self.connection.repair(granted, Repair::Quarantine)? {
            Some(row) if self.is_ours(&row) => Ok(self.database_node(namespace, &row, 0)),
            // This process's lease ended before, and another process has the node. It then loses
            // the node, which is safe.
            _ => {
                self.connection.repair(granted, Repair::Lift)?;
                Err(self.contested_error(granted, "unknown"))
            }
        }
    }

    fn is_ours(&self, row: &Row) -> bool {
        row.owner.name == self.owner
    }

    fn quarantined<'l>(&self, listing: &'l Listing) -> Option<&'l Row> {
        listing.rows.iter().find(|row| row.state == State::Quarantined && self.is_ours(row))
    }

    /// Leases a row with the shortest possible window, because none of its ticks are used.
    fn acquire(&mut self, namespace: &Namespace) -> Result<(u64, Release), Failure> {
        let token = fresh_token();
        let grant = self.connection.acquire(&Acquire {
            layout: namespace.layout,
            block_bits: namespace.block_bits,
            identity: Identity::Name(self.owner.clone()),
            from: 0,
            to: namespace.max_row(),
            rotation: flakeid_stores::machine_rotation(),
            reuse: true,
            token,
            window_ms: namespace.layout.unit_ms().saturating_mul(2),
            ttl_ms: TTL_MS,
            now: SystemClock.unix_ms(),
            waited_ms: 0,
            after: 0,
            owner: Owner {
                name: self.owner.clone(),
                host: flakeid_stores::host_name(),
                pid: process::id(),
            },
        })?;
        Ok((grant.node, Release { node: grant.node, token, used_until: grant.start }))
    }

    /// Builds the result. `first_unused` is the first tick that no database of this name can have
    /// used.
    fn database_node(&self, namespace: &Namespace, row: &Row, first_unused: u64) -> DatabaseNode {
        let first_tick = row.fence.max(namespace.floor);
        DatabaseNode {
            // The database uses the first node of a block that brokers would lease.
            node: row.node << namespace.block_bits,
            first_tick,
            first_tick_of_new: first_tick.max(first_unused),
            origin: format!(" of the database {} in the namespace {}", self.name, namespace.name),
        }
    }

    fn contested_error(&self, node: u64, process: &str) -> Failure {
        let text = format!(
            "{}: another process ({process}) is assigning node {node} to the database {}: run this command again",
            self.connection.name(),
            self.name
        );
        let hint = format!(
            "if no other process is running it, an earlier one was interrupted: run `flakeid leases release {node}` first"
        );
        Failure::hinted(Error::new(ErrorKind::StoreRejected, &text, None), hint)
    }
}
