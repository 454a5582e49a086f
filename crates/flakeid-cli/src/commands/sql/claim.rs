//! Leases a node under a database's name and quarantines the node. The quarantine prevents other
//! holders from leasing the node. When the command is run again with the same name, it therefore
//! finds the same node.

use std::process;

use flakeid_core::{Clock, Error, ErrorKind, Layout, SystemClock, without_url};
use flakeid_protocol::operations::{Listing, Repair};
use flakeid_protocol::{Acquire, Identity, Namespace, Owner, Release, Row, State};
use flakeid_stores::fresh_token;

use crate::failure::Failure;
use crate::store::Connection;

/// The time in milliseconds after which the lease expires if this process ends before it
/// quarantines the node.
const TTL_MS: u64 = 30_000;

/// The prefix of the name under which a database owns its node in the namespace. The prefix prevents
/// processes from using the name by accident.
pub(crate) const DATABASE: &str = "database:";

/// The node on which a database generates IDs.
pub(super) struct DatabaseNode {
    pub(super) node: u64,
    /// The earliest tick in which the database may generate IDs. This limit also applies if the
    /// functions are already installed.
    pub(super) first_tick: u64,
    /// The earliest tick in which a database that has not generated any IDs yet may generate its
    /// first ID.
    pub(super) first_tick_of_new: u64,
    /// The names of the database and its namespace, for the header of the script.
    pub(super) origin: String,
}

/// A request for a database's own node in a namespace.
pub(super) struct Claim<'a> {
    connection: &'a mut Connection,
    /// The name under which the database owns its node in the namespace.
    owner: String,
    name: &'a str,
}

impl<'a> Claim<'a> {
    pub(super) fn new(connection: &'a mut Connection, name: &'a str) -> Result<Self, Error> {
        // The script contains the database's name, so the name must follow the same rules as the
        // name of a namespace.
        if Namespace::check_name(name).is_err() {
            let shown: String = without_url(name).chars().take(80).collect();
            let reason = format!("{shown:?} must have 1 to 64 characters from A-Z a-z 0-9 . _ -");
            return Err(Error::invalid_option("--name", &reason));
        }
        Ok(Self { connection, owner: format!("{DATABASE}{name}"), name })
    }

    /// Returns the layout of the namespace, which is also the layout of the database's IDs.
    pub(super) fn layout(&mut self) -> Result<Layout, Failure> {
        Ok(self.connection.list()?.namespace.layout)
    }

    /// Returns the node for the database's name. If the name has no node yet, leases a node for the
    /// name and quarantines the node.
    pub(super) fn node(&mut self) -> Result<DatabaseNode, Failure> {
        let listing = self.connection.list()?;
        if let Some(row) = self.quarantined(&listing) {
            // Another database may have used this name until now. That database issued no ID ahead
            // of its own clock, so the ticks of its IDs are at most twice `max_skew` ahead of the
            // store's clock.
            let skews = listing.namespace.bounds.max_skew_ms.saturating_mul(2);
            let latest = listing.now.saturating_add(i64::try_from(skews).unwrap_or(i64::MAX));
            let first_unused = listing.namespace.layout.tick_at(latest)? + 1;
            return Ok(self.database_node(&listing.namespace, row, first_unused));
        }
        let namespace = &listing.namespace;
        let (granted, release) = self.acquire(namespace)?;
        // Another process that runs this code for the same name also acquires a node before it
        // lists the rows. At least one of the two processes therefore finds the other process's
        // node.
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
            // If this process's lease has already ended and another process has leased the node,
            // the quarantine takes the node from that process. That process can then lease another
            // node, and no ID is generated twice.
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

    /// Leases a row with the shortest possible window, because this process generates no IDs in the
    /// window.
    fn acquire(&mut self, namespace: &Namespace) -> Result<(u64, Release), Failure> {
        let token = fresh_token();
        let grant = self.connection.acquire(&Acquire {
            block_bits: namespace.block_bits,
            identity: Identity::Name(self.owner.clone()),
            to: namespace.max_row(),
            rotation: flakeid_stores::user_rotation(),
            window_ms: namespace.layout.unit_ms().saturating_mul(2),
            ttl_ms: TTL_MS,
            owner: Owner {
                name: self.owner.clone(),
                host: flakeid_stores::host_name(),
                pid: process::id(),
            },
            ..Acquire::any_node(namespace.layout, token, SystemClock.unix_ms())
        })?;
        Ok((grant.node, Release { node: grant.node, token, used_until: grant.start }))
    }

    /// Builds the description of the database's node. `first_unused` is the first tick that no
    /// database with this name can have used.
    fn database_node(&self, namespace: &Namespace, row: &Row, first_unused: u64) -> DatabaseNode {
        let first_tick = row.fence.max(namespace.floor);
        DatabaseNode {
            // In a namespace with blocks, the row describes a block, and the database uses the
            // block's first node.
            node: row.node << namespace.block_bits,
            first_tick,
            first_tick_of_new: first_tick.max(first_unused),
            origin: format!(" of the database {} in the namespace {}", self.name, namespace.name),
        }
    }

    fn contested_error(&self, node: u64, process: &str) -> Failure {
        let text = format!(
            "{}: another process ({process}) is assigning node {node} to the database {}; run this command again",
            self.connection.name(),
            self.name
        );
        let hint = format!(
            "if no other process is assigning the node, an earlier process was interrupted: run `flakeid leases release {node}` first"
        );
        Failure::hinted(Error::new(ErrorKind::StoreRejected, &text, None), hint)
    }
}
