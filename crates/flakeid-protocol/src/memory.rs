//! A store in the memory of one process.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use flakeid_core::{Clock, SystemClock};

use crate::store::{Candidates, Continuity, Fault, Ledger, RecordsAround, Store, SubGrantsAround};
use crate::{Namespace, Record, Row, SubGrant};

/// A store in the memory of one process, for tests and as the reference for all other stores.
///
/// Clones are additional connections to the same contents. A forked child has a copy without the parent's later
/// grants, so this store does not prevent duplicates across processes.
///
/// ```
/// use flakeid_core::Layout;
/// use flakeid_protocol::{MemoryStore, Namespace, operations};
///
/// let mut store = MemoryStore::new();
/// operations::init(&mut store, &Namespace::new("orders", Layout::TWITTER))?;
/// assert_eq!(operations::describe(&mut store, "orders")?.layout, Layout::TWITTER);
/// # Ok::<(), flakeid_protocol::store::Fault>(())
/// ```
#[derive(Clone)]
pub struct MemoryStore {
    contents: Arc<Mutex<Contents>>,
    clock: Arc<dyn Clock>,
}

/// A snapshot of the contents of a [`MemoryStore`], which can be restored later like a backup.
///
/// ```
/// use flakeid_core::Layout;
/// use flakeid_protocol::store::Store;
/// use flakeid_protocol::{MemoryContents, MemoryStore, Namespace, operations};
///
/// let mut store = MemoryStore::new();
/// let empty: MemoryContents = store.backup();
/// operations::init(&mut store, &Namespace::new("orders", Layout::TWITTER))?;
/// store.restore(empty);
/// assert!(store.namespaces()?.is_empty());
/// # Ok::<(), flakeid_protocol::store::Fault>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Contents {
    run: u64,
    spaces: BTreeMap<String, MemorySpace>,
    /// The grants made by brokers, by namespace. These grants are stored separately from the namespaces, because
    /// copying the grants for each transaction would be too expensive.
    sub_grants: BTreeMap<String, SubGrants>,
}

/// The grants made by brokers, keyed by the node, the first tick, the number of the block's grant, and the number of
/// the node's grant.
type SubGrants = BTreeMap<SubGrantKey, SubGrant>;

type SubGrantKey = (u64, u64, u64, u64);

const fn key_of(sub: &SubGrant) -> SubGrantKey {
    (sub.node, sub.start, sub.block_grant, sub.grant)
}

/// One namespace in a [`MemoryStore`], without the grants made by brokers. A clone is cheap and serves as a backup. The
/// protocol model compares and hashes such clones.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct MemorySpace {
    /// The namespace, or `None` before the namespace is created.
    pub namespace: Option<Arc<Namespace>>,
    /// The rows, ordered by node.
    pub rows: Vec<Arc<Row>>,
    history: Vec<Arc<Record>>,
}

impl MemorySpace {
    /// The row of a node.
    #[must_use]
    pub fn row(&self, node: u64) -> Option<&Row> {
        let place = self.rows.binary_search_by_key(&node, |row| row.node);
        place.ok().map(|place| &*self.rows[place])
    }

    /// Starts a transaction on a copy of the namespace. `run` is the number of the store's current run, which lasts
    /// until a backup is restored. `now` is the time on the store's clock.
    #[must_use]
    pub fn begin(&self, run: u64, now: i64) -> MemoryTransaction<'static> {
        let (new_sub_grants, removed_sub_grants) = (Vec::new(), Vec::new());
        let space = self.clone();
        MemoryTransaction { space, sub_grants: None, new_sub_grants, removed_sub_grants, run, now }
    }
}

impl MemoryStore {
    /// Creates an empty store that uses the system clock.
    #[must_use]
    pub fn new() -> Self {
        Self::on(SystemClock)
    }

    /// Creates an empty store that uses the given clock.
    pub fn on(clock: impl Clock) -> Self {
        Self { contents: Arc::default(), clock: Arc::new(clock) }
    }

    /// Returns a copy of the store's current contents, as a backup.
    #[must_use]
    pub fn backup(&self) -> Contents {
        self.lock().clone()
    }

    /// Replaces the contents with an older copy from a backup. Every restore starts a new run of the store.
    pub fn restore(&self, older: Contents) {
        let mut contents = self.lock();
        let run = contents.run.max(older.run) + 1;
        *contents = Contents { run, ..older };
    }

    fn lock(&self) -> MutexGuard<'_, Contents> {
        // The lock can be used after a panic, because transactions work on a copy and leave the contents consistent.
        self.contents.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Default for MemoryStore {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for MemoryStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MemoryStore").finish_non_exhaustive()
    }
}

impl Store for MemoryStore {
    fn transact(
        &mut self,
        namespace: &str,
        work: &mut dyn FnMut(&mut dyn Ledger) -> Result<(), Fault>,
    ) -> Result<(), Fault> {
        let mut contents = self.lock();
        let none = MemorySpace::default();
        let space = contents.spaces.get(namespace).unwrap_or(&none);
        let mut transaction = MemoryTransaction {
            sub_grants: contents.sub_grants.get(namespace),
            ..space.begin(contents.run, self.clock.unix_ms())
        };
        work(&mut transaction)?;
        let MemoryTransaction { space, new_sub_grants, removed_sub_grants, .. } = transaction;
        contents.spaces.insert(namespace.into(), space);
        if !new_sub_grants.is_empty() || !removed_sub_grants.is_empty() {
            let sub_grants = contents.sub_grants.entry(namespace.into()).or_default();
            for last in removed_sub_grants {
                let is_removed = |key: &SubGrantKey| ((last.0, 0, 0, 0)..=last).contains(key);
                sub_grants.retain(|key, _| !is_removed(key));
            }
            for sub in new_sub_grants {
                sub_grants.entry(key_of(&sub)).or_insert(sub);
            }
        }
        Ok(())
    }

    fn prepare(&mut self) -> Result<(), Fault> {
        Ok(())
    }

    fn namespaces(&mut self) -> Result<Vec<String>, Fault> {
        let contents = self.lock();
        let existing = contents.spaces.iter().filter(|(_, space)| space.namespace.is_some());
        Ok(existing.map(|(name, _)| name.clone()).collect())
    }

    fn creates_namespaces(&self) -> bool {
        true
    }
}

/// One transaction on a [`MemorySpace`].
#[derive(Debug)]
pub struct MemoryTransaction<'a> {
    /// The namespace, including the transaction's writes so far.
    pub space: MemorySpace,
    sub_grants: Option<&'a SubGrants>,
    new_sub_grants: Vec<SubGrant>,
    /// The keys of the sub-grants to remove. For each key, all older sub-grants of the same node are also removed.
    removed_sub_grants: Vec<SubGrantKey>,
    run: u64,
    now: i64,
}

impl Ledger for MemoryTransaction<'_> {
    fn now(&mut self) -> Result<i64, Fault> {
        Ok(self.now)
    }

    fn continuity(&mut self, recorded: &str) -> Result<Continuity, Fault> {
        let same = recorded == self.run.to_string();
        Ok(if same { Continuity::Same } else { Continuity::Restored })
    }

    fn incarnation(&mut self) -> Result<String, Fault> {
        Ok(self.run.to_string())
    }

    fn namespace(&mut self) -> Result<Option<Namespace>, Fault> {
        Ok(self.space.namespace.as_deref().cloned())
    }

    fn put_namespace(&mut self, namespace: &Namespace) -> Result<(), Fault> {
        self.space.namespace = Some(Arc::new(namespace.clone()));
        Ok(())
    }

    fn row(&mut self, node: u64) -> Result<Option<Row>, Fault> {
        Ok(self.space.row(node).cloned())
    }

    fn coldest(&mut self, candidates: &Candidates<'_>) -> Result<Option<Row>, Fault> {
        let rows = self.space.rows.iter().filter(|row| candidates.include(row));
        Ok(rows.min_by_key(|row| (row.fence, row.node)).map(|row| Row::clone(row)))
    }

    fn unused(&mut self, from: u64, to: u64, first: u64) -> Result<Option<u64>, Fault> {
        let mut order = (first..=to).chain(from..first);
        Ok(order.find(|node| self.space.row(*node).is_none()))
    }

    fn rows(&mut self) -> Result<Vec<Row>, Fault> {
        Ok(self.space.rows.iter().map(|row| Row::clone(row)).collect())
    }

    fn put_row(&mut self, before: Option<&Row>, after: &Row) -> Result<(), Fault> {
        if self.space.row(after.node) != before {
            return Err(Fault::Conflict);
        }
        let rows = &mut self.space.rows;
        match rows.binary_search_by_key(&after.node, |row| row.node) {
            Ok(place) => rows[place] = Arc::new(after.clone()),
            Err(place) => rows.insert(place, Arc::new(after.clone())),
        }
        Ok(())
    }

    fn record(&mut self, record: &Record) -> Result<(), Fault> {
        self.space.history.push(Arc::new(record.clone()));
        Ok(())
    }

    fn records_around(&mut self, node: u64, tick: u64) -> Result<RecordsAround, Fault> {
        let of_node = || self.space.history.iter().filter(|record| record.node == node);
        let found = of_node().filter(|r| r.start <= tick).max_by_key(|r| (r.start, r.grant));
        let next = of_node().filter(|r| r.start > tick).min_by_key(|r| (r.start, r.grant));
        let copy = |record: &Arc<Record>| Record::clone(record);
        Ok((found.map(copy), next.map(copy)))
    }

    fn oldest_records(&mut self, node: u64, limit: usize) -> Result<Vec<Record>, Fault> {
        let of_node = self.space.history.iter().filter(|record| record.node == node);
        let mut records: Vec<_> = of_node.map(|record| Record::clone(record)).collect();
        records.sort_by_key(|record| (record.start, record.grant));
        records.truncate(limit);
        Ok(records)
    }

    fn remove_records_through(&mut self, last: &Record) -> Result<(), Fault> {
        let place = (last.start, last.grant);
        let is_removed = |r: &Record| r.node == last.node && (r.start, r.grant) <= place;
        self.space.history.retain(|record| !is_removed(record));
        Ok(())
    }

    fn record_sub_grants(&mut self, sub_grants: &[SubGrant]) -> Result<(), Fault> {
        self.new_sub_grants.extend_from_slice(sub_grants);
        Ok(())
    }

    fn sub_grants_around(&mut self, node: u64, tick: u64) -> Result<SubGrantsAround, Fault> {
        let Some(sub_grants) = self.sub_grants else { return Ok((None, None)) };
        let first = (node, 0, 0, 0);
        let after = (node, tick.saturating_add(1), 0, 0);
        let end = (node + 1, 0, 0, 0);
        let found = sub_grants.range(first..after).next_back();
        let next = sub_grants.range(after..end).next();
        Ok((found.map(|(_, sub)| sub.clone()), next.map(|(_, sub)| sub.clone())))
    }

    fn oldest_sub_grants(
        &mut self,
        from: u64,
        to: u64,
        limit: usize,
    ) -> Result<Vec<SubGrant>, Fault> {
        let Some(sub_grants) = self.sub_grants else { return Ok(Vec::new()) };
        let found = sub_grants.range((from, 0, 0, 0)..=(to, u64::MAX, u64::MAX, u64::MAX));
        Ok(found.take(limit).map(|(_, sub)| sub.clone()).collect())
    }

    fn remove_sub_grants_through(&mut self, last: &SubGrant) -> Result<(), Fault> {
        self.removed_sub_grants.push(key_of(last));
        Ok(())
    }
}
