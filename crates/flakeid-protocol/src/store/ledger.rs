//! The interface that every kind of store implements.

use super::Fault;
use crate::{Bounds, Namespace, Record, Row, SubGrant};

/// A filter for the rows that may be granted: not quarantined, expired or from before a restore, and with a fence that is
/// low enough.
#[derive(Clone, Copy, Debug)]
pub struct Candidates<'a> {
    /// The lowest node, inclusive.
    pub from: u64,
    /// The highest node, inclusive.
    pub to: u64,
    /// The store's clock: rows of the present incarnation whose `expires` is later are held.
    pub store_now: i64,
    /// The namespace's present incarnation.
    pub incarnation: &'a str,
    /// The highest allowed fence; rows above it are too hot.
    pub hottest: u64,
    /// The required name of the owner; `None` for any.
    pub name: Option<&'a str>,
}

impl Candidates<'_> {
    /// Whether a row is a candidate. Stores that can express this in their own language do so.
    #[must_use]
    pub fn include(&self, row: &Row) -> bool {
        (self.from..=self.to).contains(&row.node)
            && row.state != crate::State::Quarantined
            && (row.expires <= self.store_now || row.incarnation != self.incarnation)
            && row.fence <= self.hottest
            && self.name.is_none_or(|name| row.owner.name == name)
    }
}

/// Whether a store still has all data that it ever confirmed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Continuity {
    /// The store is in the same run.
    Same,
    /// The store was restored, failed over, restarted, or may have lost data for another reason.
    Restored,
    /// The store's files come from another machine.
    Foreign,
}

/// The data that a store has recorded about lost namespaces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Forgotten {
    /// The time until which a missing namespace may have existed and granted nodes, in Unix milliseconds of the store's clock.
    pub at: i64,
    /// The widest recorded bounds of any namespace that the store ever had.
    pub bounds: Bounds,
}

/// A sub-grant and the next one; either may be missing.
pub type SubGrantsAround = (Option<SubGrant>, Option<SubGrant>);

/// A namespace inside one transaction. Reads see one state. Writes are applied together or not at all. A row that was read
/// does not change until the commit, or the transaction fails with a [`Conflict`](Fault::Conflict).
pub trait Ledger {
    /// Reads the store's clock in Unix milliseconds; as far as possible it is the same for all clients.
    ///
    /// # Errors
    /// The store's fault, as everywhere in this trait.
    fn now(&mut self) -> Result<i64, Fault>;

    /// Compares the store's run that the namespace has recorded with the current run.
    ///
    /// # Errors
    /// The store's fault.
    fn continuity(&mut self, recorded: &str) -> Result<Continuity, Fault>;

    /// Returns the incarnation to record from now on. It is never a value that was recorded before a restore.
    ///
    /// # Errors
    /// The store's fault.
    fn incarnation(&mut self) -> Result<String, Fault>;

    /// Returns the recorded losses of the store. Returns `None` if it lost nothing, or if only operators create namespaces,
    /// because they decide.
    ///
    /// # Errors
    /// The store's fault.
    fn forgotten(&mut self) -> Result<Option<Forgotten>, Fault> {
        Ok(None)
    }

    /// Reads the namespace, if it exists.
    ///
    /// # Errors
    /// The store's fault.
    fn namespace(&mut self) -> Result<Option<Namespace>, Fault>;

    /// Creates or replaces the namespace.
    ///
    /// # Errors
    /// The store's fault.
    fn put_namespace(&mut self, namespace: &Namespace) -> Result<(), Fault>;

    /// Reads the row of a node.
    ///
    /// # Errors
    /// The store's fault.
    fn row(&mut self, node: u64) -> Result<Option<Row>, Fault>;

    /// Returns the candidate with the lowest fence, and among equal ones the lowest node. A row that another transaction is about
    /// to change may be skipped.
    ///
    /// # Errors
    /// The store's fault.
    fn coldest(&mut self, candidates: &Candidates<'_>) -> Result<Option<Row>, Fault>;

    /// Returns the first node without a row, from `first` to `to` and then from `from` to `first`.
    ///
    /// # Errors
    /// The store's fault.
    fn unused(&mut self, from: u64, to: u64, first: u64) -> Result<Option<u64>, Fault>;

    /// Reads all rows, by node.
    ///
    /// # Errors
    /// The store's fault.
    fn rows(&mut self) -> Result<Vec<Row>, Fault>;

    /// Writes the row of a node; `before` is the row that was read in this transaction.
    ///
    /// # Errors
    /// [`Conflict`](Fault::Conflict) if the row has changed; the store's fault.
    fn put_row(&mut self, before: Option<&Row>, after: &Row) -> Result<(), Fault>;

    /// Adds a record to the history.
    ///
    /// # Errors
    /// The store's fault.
    fn record(&mut self, record: &Record) -> Result<(), Fault>;

    /// Returns the node's last record that starts at or before a tick, and the next record.
    ///
    /// # Errors
    /// The store's fault.
    fn record_at(
        &mut self,
        node: u64,
        tick: u64,
    ) -> Result<Option<(Record, Option<Record>)>, Fault>;

    /// Adds sub-grants of a broker to the history, some hundreds at a time. Existing sub-grants stay unchanged.
    ///
    /// # Errors
    /// The store's fault.
    fn record_sub_grants(&mut self, sub_grants: &[SubGrant]) -> Result<(), Fault>;

    /// Returns the node's last sub-grant that starts at or before a tick, and its first one after the tick.
    ///
    /// # Errors
    /// The store's fault.
    fn sub_grants_around(&mut self, node: u64, tick: u64) -> Result<SubGrantsAround, Fault>;
}

/// A connection to a store.
pub trait Store: Send {
    /// Runs `work` as one atomic transaction on one namespace, which is durable once this returns. Failed work has no effect.
    /// After a [`Conflict`](Fault::Conflict) `work` is run again with a new ledger.
    ///
    /// # Errors
    /// The fault that `work` returned, or the store's own fault.
    fn transact(
        &mut self,
        namespace: &str,
        work: &mut dyn FnMut(&mut dyn Ledger) -> Result<(), Fault>,
    ) -> Result<(), Fault>;

    /// Creates missing structures that namespaces need, such as tables.
    ///
    /// # Errors
    /// The store's fault.
    fn prepare(&mut self) -> Result<(), Fault>;

    /// Checks whether [`prepare`](Self::prepare) has nothing left to create; until then there is no namespace. Writes nothing.
    ///
    /// # Errors
    /// The store's fault.
    fn is_prepared(&mut self) -> Result<bool, Fault> {
        Ok(true)
    }

    /// Returns the names of all namespaces.
    ///
    /// # Errors
    /// The store's fault.
    fn namespaces(&mut self) -> Result<Vec<String>, Fault>;

    /// Whether the first acquire creates a missing namespace: only if the user who can open the store is its only user.
    fn creates_namespaces(&self) -> bool {
        false
    }
}
