//! The node that a database gets from a namespace: leased under the database's name, and then quarantined, so that
//! it is granted to nobody else, and a second run finds it again.

use std::process;

use flakeid_core::{Clock, Error, ErrorKind, Layout, SystemClock};
use flakeid_protocol::operations::{Listing, Repair};
use flakeid_protocol::{Acquire, Identity, Namespace, Owner, Release, Row, State};
use flakeid_stores::fresh_token;

use crate::failure::Failure;
use crate::store::Connection;

/// For how long the lease lasts if this process ends before the node is quarantined.
const TTL_MS: u64 = 30_000;

/// The node on which a database generates.
pub(super) struct DatabaseNode {
    pub(super) node: u64,
    /// No ID of an earlier tick is generated, even if the functions are installed already.
    pub(super) first_tick: u64,
    /// The same for a database that has generated nothing yet.
    pub(super) first_tick_of_new: u64,
    /// For the header: whose node it is.
    pub(super) of: String,
}

/// A namespace and its node for a database.
pub(super) struct Claim<'a> {
    connection: &'a mut Connection,
    /// The database's name as the namespace shows it, which no process gives itself by accident.
    owner: String,
    name: &'a str,
}

impl<'a> Claim<'a> {
    pub(super) fn new(connection: &'a mut Connection, name: &'a str) -> Result<Self, Error> {
        // The same characters, because the name stands in the script too.
        if Namespace::check_name(name).is_err() {
            let shown: String = name.chars().take(80).collect();
            let reason = format!("{shown:?} must be 1 to 64 of A-Z a-z 0-9 . _ -");
            return Err(Error::invalid_option("--name", &reason));
        }
        Ok(Self { connection, owner: format!("database:{name}"), name })
    }

    /// The layout of the namespace, which is that of the database.
    pub(super) fn layout(&mut self) -> Result<Layout, Failure> {
        Ok(self.connection.list()?.namespace.layout)
    }

    /// The node that the name has, or one that it gets now.
    pub(super) fn node(&mut self) -> Result<DatabaseNode, Failure> {
        let listing = self.connection.list()?;
        if let Some(row) = self.quarantined(&listing) {
            // Another database may have had the name until now. It issued nothing later than its clock.
            let skews = listing.namespace.bounds.max_skew_ms.saturating_mul(2);
            let latest = listing.now.saturating_add(i64::try_from(skews).unwrap_or(i64::MAX));
            let unused = listing.namespace.layout.tick_at(latest)? + 1;
            return Ok(self.database_node(&listing.namespace, row, unused));
        }
        let kept = &listing.namespace;
        let (granted, release) = self.acquire(kept)?;
        // Whoever else runs this for the same name acquires before it looks, too; so one of the two sees the other.
        let others = self.connection.list()?;
        if let Some(row) = self.quarantined(&others) {
            let node = self.database_node(kept, row, 0);
            self.connection.release(&release)?;
            return Ok(node);
        }
        let is_other = |row: &&Row| row.node != granted && self.is_ours(row);
        if let Some(row) = others.rows.iter().filter(is_other).find(|row| row.state == State::Held)
        {
            let of = format!("{} of {}", row.owner.pid, row.owner.host);
            self.connection.release(&release)?;
            return Err(self.is_contested(row.node, &of));
        }
        match self.connection.repair(granted, Repair::Quarantine)? {
            Some(row) if self.is_ours(&row) => Ok(self.database_node(kept, &row, 0)),
            // The lease ended before this, and somebody else has the node, who then loses it, which is safe.
            _ => {
                self.connection.repair(granted, Repair::Lift)?;
                Err(self.is_contested(granted, "another"))
            }
        }
    }

    fn is_ours(&self, row: &Row) -> bool {
        row.owner.name == self.owner
    }

    fn quarantined<'l>(&self, listing: &'l Listing) -> Option<&'l Row> {
        listing.rows.iter().find(|row| row.state == State::Quarantined && self.is_ours(row))
    }

    /// Leases a row, for as short a window as there is: none of its ticks are used.
    fn acquire(&mut self, kept: &Namespace) -> Result<(u64, Release), Failure> {
        let token = fresh_token();
        let grant = self.connection.acquire(&Acquire {
            layout: kept.layout,
            block_bits: kept.block_bits,
            identity: Identity::Name(self.owner.clone()),
            from: 0,
            to: kept.max_row(),
            rotation: flakeid_stores::machine_rotation(),
            reuse: true,
            token,
            window_ms: kept.layout.unit_ms().saturating_mul(2),
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

    /// `unused`: the first tick that a database of this name cannot have used yet.
    fn database_node(&self, kept: &Namespace, row: &Row, unused: u64) -> DatabaseNode {
        let first_tick = row.fence.max(kept.floor);
        DatabaseNode {
            // Of a block of nodes, which brokers lease, it uses the first.
            node: row.node << kept.block_bits,
            first_tick,
            first_tick_of_new: first_tick.max(unused),
            of: format!(" of the database {} in the namespace {}", self.name, kept.name),
        }
    }

    fn is_contested(&self, node: u64, process: &str) -> Failure {
        let text = format!(
            "{}: node {node} is just being given to the database {} by another process ({process}): run this again",
            self.connection.name(),
            self.name
        );
        let hint = format!(
            "if nobody else runs it, an earlier run was interrupted: `flakeid leases release {node}` first"
        );
        Failure::hinted(Error::new(ErrorKind::StoreRejected, &text, None), hint)
    }
}
