//! What a store is: the interface that every kind implements.

use super::Fault;
use crate::{Bounds, Namespace, Record, Row, SubGrant};

/// Which rows may be granted: not quarantined, expired or from before a restoration, and with a
/// fence that is near enough.
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
    /// Rows whose fence is higher are too hot.
    pub hottest: u64,
    /// Only rows whose owner has this name.
    pub name: Option<&'a str>,
}

impl Candidates<'_> {
    /// Whether a row is one. Stores that can express this in their own language do.
    #[must_use]
    pub fn include(&self, row: &Row) -> bool {
        (self.from..=self.to).contains(&row.node)
            && row.state != crate::State::Quarantined
            && (row.expires <= self.store_now || row.incarnation != self.incarnation)
            && row.fence <= self.hottest
            && self.name.is_none_or(|name| row.owner.name == name)
    }
}

/// Whether a store still remembers everything that it ever confirmed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Continuity {
    /// It is what it was.
    Same,
    /// It was restored, failed over, restarted, or otherwise may have forgotten something.
    Restored,
    /// Its files come from another machine.
    Foreign,
}

/// What a store knows about namespaces that it lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Forgotten {
    /// A namespace that is missing may have existed, and granted, until then: Unix milliseconds of
    /// the store's clock.
    pub at: i64,
    /// No namespace that the store ever held had wider bounds, as far as it knows.
    pub bounds: Bounds,
}

/// A sub-grant and the one after it; either may be missing.
pub type SubGrantsAround = (Option<SubGrant>, Option<SubGrant>);

/// A namespace inside one transaction. Reads see one state; writes are applied together, or not
/// at all; a row that was read stays as it is until then, or the transaction is a
/// [`Conflict`](Fault::Conflict).
pub trait Ledger {
    /// The store's clock, in Unix milliseconds: the same for all its clients, as far as it can be.
    ///
    /// # Errors
    /// The store's fault, as everywhere in this trait.
    fn now(&mut self) -> Result<i64, Fault>;

    /// Compares what the store was, as recorded in the namespace, with what it is.
    ///
    /// # Errors
    /// The store's fault.
    fn continuity(&mut self, recorded: &str) -> Result<Continuity, Fault>;

    /// What to record about the store from now on. Never a value recorded before a restoration.
    ///
    /// # Errors
    /// The store's fault.
    fn incarnation(&mut self) -> Result<String, Fault>;

    /// What the store lost. `None` if it lost nothing, or where namespaces are created only by
    /// operators, who know.
    ///
    /// # Errors
    /// The store's fault.
    fn forgotten(&mut self) -> Result<Option<Forgotten>, Fault> {
        Ok(None)
    }

    /// The namespace, if it exists.
    ///
    /// # Errors
    /// The store's fault.
    fn namespace(&mut self) -> Result<Option<Namespace>, Fault>;

    /// Creates or replaces the namespace.
    ///
    /// # Errors
    /// The store's fault.
    fn put_namespace(&mut self, namespace: &Namespace) -> Result<(), Fault>;

    /// A node's row.
    ///
    /// # Errors
    /// The store's fault.
    fn row(&mut self, node: u64) -> Result<Option<Row>, Fault>;

    /// The candidate with the lowest fence, among equals the lowest node. One that another
    /// transaction is about to change may be passed over.
    ///
    /// # Errors
    /// The store's fault.
    fn coldest(&mut self, candidates: &Candidates<'_>) -> Result<Option<Row>, Fault>;

    /// The first node that has no row, from `first` to `to` and then from `from` to `first`.
    ///
    /// # Errors
    /// The store's fault.
    fn unused(&mut self, from: u64, to: u64, first: u64) -> Result<Option<u64>, Fault>;

    /// Every row, by node.
    ///
    /// # Errors
    /// The store's fault.
    fn rows(&mut self) -> Result<Vec<Row>, Fault>;

    /// Writes a node's row, of which `before` was read in this transaction.
    ///
    /// # Errors
    /// [`Conflict`](Fault::Conflict) if it is another by now; the store's fault.
    fn put_row(&mut self, before: Option<&Row>, after: &Row) -> Result<(), Fault>;

    /// Adds to the history.
    ///
    /// # Errors
    /// The store's fault.
    fn record(&mut self, record: &Record) -> Result<(), Fault>;

    /// The node's last record that starts at or before a tick, and the one after it.
    ///
    /// # Errors
    /// The store's fault.
    fn record_at(
        &mut self,
        node: u64,
        tick: u64,
    ) -> Result<Option<(Record, Option<Record>)>, Fault>;

    /// Adds grants of a broker to the history, some hundreds at a time. What is there already stays as
    /// it is.
    ///
    /// # Errors
    /// The store's fault.
    fn record_sub_grants(&mut self, sub_grants: &[SubGrant]) -> Result<(), Fault>;

    /// A node's last sub-grant that starts at or before a tick, and its first one after the tick.
    ///
    /// # Errors
    /// The store's fault.
    fn sub_grants_around(&mut self, node: u64, tick: u64) -> Result<SubGrantsAround, Fault>;
}

/// A connection to a store.
pub trait Store: Send {
    /// Runs `work` as one atomic transaction on one namespace, durable once this returns. Work
    /// that fails leaves nothing behind. After a [`Conflict`](Fault::Conflict) it is run again,
    /// with a fresh ledger.
    ///
    /// # Errors
    /// What `work` returned, or the store's own fault.
    fn transact(
        &mut self,
        namespace: &str,
        work: &mut dyn FnMut(&mut dyn Ledger) -> Result<(), Fault>,
    ) -> Result<(), Fault>;

    /// Creates whatever namespaces need, such as tables, where it is not there yet.
    ///
    /// # Errors
    /// The store's fault.
    fn prepare(&mut self) -> Result<(), Fault>;

    /// Whether [`prepare`](Self::prepare) has nothing left to create; until then there is no
    /// namespace. Writes nothing.
    ///
    /// # Errors
    /// The store's fault.
    fn is_prepared(&mut self) -> Result<bool, Fault> {
        Ok(true)
    }

    /// The names of all namespaces.
    ///
    /// # Errors
    /// The store's fault.
    fn namespaces(&mut self) -> Result<Vec<String>, Fault>;

    /// Whether a missing namespace is created by the first acquire: only where whoever can open
    /// the store is its only user.
    fn creates_namespaces(&self) -> bool {
        false
    }
}
