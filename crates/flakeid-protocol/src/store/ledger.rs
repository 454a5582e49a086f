//! The [`Store`] and [`Ledger`] traits, which every type of store implements.

use super::Fault;
use crate::{Bounds, Namespace, Record, Row, SubGrant};

/// A filter for the rows that may be granted. These rows are not quarantined, have expired or are from before a
/// restore, and have a sufficiently low fence.
///
/// ```
/// use flakeid_protocol::store::Candidates;
/// use flakeid_protocol::{Owner, Row, State, Token};
///
/// # let row = Row {
/// #     node: 7,
/// #     fence: 11_000,
/// #     start: 1_000,
/// #     token: Some(Token::from_bits(1)),
/// #     grant: 1,
/// #     state: State::Held,
/// #     owner: Owner { name: "cart".into(), host: "web-1".into(), pid: 4711 },
/// #     acquired: 1_800_000_000_000,
/// #     renewed: 1_800_000_000_000,
/// #     expires: 1_800_000_060_000,
/// #     incarnation: "1".into(),
/// #     fixed: false,
/// #     history_until: 0,
/// # };
/// let candidates = Candidates {
///     from: 0,
///     to: 1_023,
///     store_now: row.expires,
///     incarnation: &row.incarnation,
///     hottest: row.fence,
///     name: None,
/// };
/// assert!(candidates.include(&row));
/// assert!(!Candidates { store_now: row.expires - 1, ..candidates }.include(&row));
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Candidates<'a> {
    /// The lowest node of the range, inclusive.
    pub from: u64,
    /// The highest node of the range, inclusive.
    pub to: u64,
    /// The current time on the store's clock. A row from the current incarnation is held if the row expires after this
    /// time.
    pub store_now: i64,
    /// The namespace's current incarnation.
    pub incarnation: &'a str,
    /// The highest allowed fence. A row with a higher fence is too hot: a grant would start too far ahead of the clock.
    pub hottest: u64,
    /// The name that the row's owner must have; `None` if any owner is acceptable.
    pub name: Option<&'a str>,
}

impl Candidates<'_> {
    /// Whether the filter accepts a row. A store with a query language uses an equivalent query instead.
    #[must_use]
    pub fn include(&self, row: &Row) -> bool {
        (self.from..=self.to).contains(&row.node)
            && row.state != crate::State::Quarantined
            && (row.expires <= self.store_now || row.incarnation != self.incarnation)
            && row.fence <= self.hottest
            && self.name.is_none_or(|name| row.owner.name == name)
    }
}

/// Whether a store still has all data that it has ever confirmed.
///
/// ```
/// use flakeid_protocol::store::Continuity;
///
/// /// Compares runs that the server numbers.
/// fn continuity(recorded: &str, run: u64) -> Continuity {
///     if recorded == run.to_string() { Continuity::Same } else { Continuity::Restored }
/// }
/// assert_eq!(continuity("1", 2), Continuity::Restored);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Continuity {
    /// The store is still in the recorded run and has lost no data.
    Same,
    /// The store may have lost data, for example because of a restore, a failover or a restart.
    Restored,
    /// The store may be a copy of one that is still in use, for example because its files come from another machine. The
    /// text contains the reason.
    Foreign(String),
}

/// Data about the namespaces that a store has lost.
///
/// ```
/// use flakeid_core::Layout;
/// use flakeid_protocol::Bounds;
/// use flakeid_protocol::store::Forgotten;
///
/// let lost = Forgotten { at: 1_800_000_000_000, bounds: Bounds::of(&Layout::TWITTER) };
/// assert_eq!(lost.bounds.max_window_ms, 10_000);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Forgotten {
    /// The latest time at which a lost namespace may have granted nodes, in Unix milliseconds according to the store's
    /// clock.
    pub at: i64,
    /// For each bound, the largest value that was ever recorded for any namespace of the store.
    pub bounds: Bounds,
}

/// The last record that starts at or before a tick, and the first record after the tick; `None` for a missing record.
pub type RecordsAround = (Option<Record>, Option<Record>);

/// The last sub-grant that starts at or before a tick, and the first sub-grant after the tick. Each value is `None` if
/// no such sub-grant exists.
pub type SubGrantsAround = (Option<SubGrant>, Option<SubGrant>);

/// A namespace within one transaction. All reads see the same state, and all writes are applied together or not at
/// all. If a row that was read changes before the commit, the transaction fails with a [`Conflict`](Fault::Conflict).
///
/// ```
/// use flakeid_protocol::MemoryStore;
/// use flakeid_protocol::store::{Ledger, Store};
///
/// let mut now = 0;
/// MemoryStore::new().transact("orders", &mut |ledger: &mut dyn Ledger| {
///     now = ledger.now()?;
///     Ok(())
/// })?;
/// assert!(now > 0);
/// # Ok::<(), flakeid_protocol::store::Fault>(())
/// ```
pub trait Ledger {
    /// Reads the store's clock, in Unix milliseconds. If possible, all clients of the store share one clock.
    ///
    /// # Errors
    /// A [`Fault`] if the store fails. Every method of this trait can return a fault.
    fn now(&mut self) -> Result<i64, Fault>;

    /// Compares the store's current run with the run recorded in the namespace.
    ///
    /// # Errors
    /// A [`Fault`] if the store fails.
    fn continuity(&mut self, recorded: &str) -> Result<Continuity, Fault>;

    /// Returns the incarnation to record in the namespace. After a restore, the returned incarnation has never been
    /// recorded before.
    ///
    /// # Errors
    /// A [`Fault`] if the store fails.
    fn incarnation(&mut self) -> Result<String, Fault>;

    /// Returns data about the namespaces that the store has lost. Returns `None` if the store has lost nothing. Also
    /// returns `None` if only operators create namespaces, because operators then handle losses themselves.
    ///
    /// # Errors
    /// A [`Fault`] if the store fails.
    fn forgotten(&mut self) -> Result<Option<Forgotten>, Fault> {
        Ok(None)
    }

    /// Reads the namespace. Returns `None` if the namespace does not exist.
    ///
    /// # Errors
    /// A [`Fault`] if the store fails.
    fn namespace(&mut self) -> Result<Option<Namespace>, Fault>;

    /// Creates the namespace if [`namespace`](Self::namespace) has returned `None`, and otherwise replaces it.
    ///
    /// # Errors
    /// [`Fault::Conflict`] if another client has created the namespace in the meantime; another [`Fault`] if the store
    /// fails.
    fn put_namespace(&mut self, namespace: &Namespace) -> Result<(), Fault>;

    /// Reads the row of a node.
    ///
    /// # Errors
    /// A [`Fault`] if the store fails.
    fn row(&mut self, node: u64) -> Result<Option<Row>, Fault>;

    /// Reads the rows of several nodes, given in increasing order without duplicates. A store that locks rows locks
    /// them in this order, so that two transactions never wait for each other. The default implementation reads one row
    /// after another; a store on a server overrides it with one request.
    ///
    /// # Errors
    /// A [`Fault`] if the store fails.
    fn rows_of(&mut self, nodes: &[u64]) -> Result<Vec<Option<Row>>, Fault> {
        nodes.iter().map(|node| self.row(*node)).collect()
    }

    /// Returns the candidate row with the lowest fence. If several candidates have this fence, returns the row with the
    /// lowest node. May skip a row that another transaction is about to change.
    ///
    /// # Errors
    /// A [`Fault`] if the store fails.
    fn coldest(&mut self, candidates: &Candidates<'_>) -> Result<Option<Row>, Fault>;

    /// Returns the first node without a row. Searches from `first` to `to`, and then from `from` to `first`.
    ///
    /// # Errors
    /// A [`Fault`] if the store fails.
    fn unused(&mut self, from: u64, to: u64, first: u64) -> Result<Option<u64>, Fault>;

    /// Reads all rows, ordered by node.
    ///
    /// # Errors
    /// A [`Fault`] if the store fails.
    fn rows(&mut self) -> Result<Vec<Row>, Fault>;

    /// Writes the row of a node. The parameter `before` is the row that this transaction read.
    ///
    /// # Errors
    /// [`Conflict`](Fault::Conflict) if the row has changed; another [`Fault`] if the store fails.
    fn put_row(&mut self, before: Option<&Row>, after: &Row) -> Result<(), Fault>;

    /// Adds a record to the history.
    ///
    /// # Errors
    /// A [`Fault`] if the store fails.
    fn record(&mut self, record: &Record) -> Result<(), Fault>;

    /// Returns the node's last record that starts at or before a tick, and its first record after the tick. Both
    /// records are read in one step, so that no record can be removed between two reads.
    ///
    /// # Errors
    /// A [`Fault`] if the store fails.
    fn records_around(&mut self, node: u64, tick: u64) -> Result<RecordsAround, Fault>;

    /// Returns at most `limit` of the node's oldest records, ordered by first tick and grant number.
    ///
    /// # Errors
    /// A [`Fault`] if the store fails.
    fn oldest_records(&mut self, node: u64, limit: usize) -> Result<Vec<Record>, Fault>;

    /// Removes a record and all older records of its node.
    ///
    /// # Errors
    /// A [`Fault`] if the store fails.
    fn remove_records_through(&mut self, last: &Record) -> Result<(), Fault>;

    /// Adds a broker's sub-grants to the history. One call adds at most a few hundred sub-grants. Existing sub-grants
    /// stay unchanged.
    ///
    /// # Errors
    /// A [`Fault`] if the store fails.
    fn record_sub_grants(&mut self, sub_grants: &[SubGrant]) -> Result<(), Fault>;

    /// Returns the node's last sub-grant that starts at or before a tick, and its first sub-grant after the tick. Both
    /// are read in one step.
    ///
    /// # Errors
    /// A [`Fault`] if the store fails.
    fn sub_grants_around(&mut self, node: u64, tick: u64) -> Result<SubGrantsAround, Fault>;

    /// Returns the first `limit` sub-grants (or fewer) of the nodes from `from` to `to`, ordered by node, first tick,
    /// number of the block's grant, and number of the sub-grant.
    ///
    /// # Errors
    /// A [`Fault`] if the store fails.
    fn oldest_sub_grants(
        &mut self,
        from: u64,
        to: u64,
        limit: usize,
    ) -> Result<Vec<SubGrant>, Fault>;

    /// Removes a sub-grant and all older sub-grants of its node.
    ///
    /// # Errors
    /// A [`Fault`] if the store fails.
    fn remove_sub_grants_through(&mut self, last: &SubGrant) -> Result<(), Fault>;
}

/// A connection to a store.
///
/// ```
/// use flakeid_protocol::store::{Fault, Ledger, Store};
///
/// /// A store that prints the namespace of each transaction.
/// struct Printed<S>(S);
///
/// impl<S: Store> Store for Printed<S> {
///     fn transact(
///         &mut self,
///         namespace: &str,
///         work: &mut dyn FnMut(&mut dyn Ledger) -> Result<(), Fault>,
///     ) -> Result<(), Fault> {
///         println!("{namespace}");
///         self.0.transact(namespace, work)
///     }
///
///     fn prepare(&mut self) -> Result<(), Fault> {
///         self.0.prepare()
///     }
///
///     fn namespaces(&mut self) -> Result<Vec<String>, Fault> {
///         self.0.namespaces()
///     }
/// }
///
/// # use flakeid_core::Layout;
/// # use flakeid_protocol::{MemoryStore, Namespace, operations};
/// let mut store = Printed(MemoryStore::new());
/// operations::init(&mut store, &Namespace::new("orders", Layout::TWITTER))?;
/// # Ok::<(), Fault>(())
/// ```
pub trait Store: Send {
    /// Runs `work` as one atomic transaction on one namespace. The transaction is durable when this method returns.
    /// If `work` fails, the transaction has no effect. After a [`Conflict`](Fault::Conflict), `work` is run again
    /// with a new ledger.
    ///
    /// # Errors
    /// The [`Fault`] that `work` returned, or another [`Fault`] if the store fails.
    fn transact(
        &mut self,
        namespace: &str,
        work: &mut dyn FnMut(&mut dyn Ledger) -> Result<(), Fault>,
    ) -> Result<(), Fault>;

    /// Creates missing structures that namespaces require, such as tables.
    ///
    /// # Errors
    /// A [`Fault`] if the store fails.
    fn prepare(&mut self) -> Result<(), Fault>;

    /// Whether all structures that [`prepare`](Self::prepare) creates already exist. If a structure is missing, the
    /// store contains no namespace. This method writes nothing.
    ///
    /// # Errors
    /// A [`Fault`] if the store fails.
    fn is_prepared(&mut self) -> Result<bool, Fault> {
        Ok(true)
    }

    /// Returns the names of all namespaces.
    ///
    /// # Errors
    /// A [`Fault`] if the store fails.
    fn namespaces(&mut self) -> Result<Vec<String>, Fault>;

    /// Whether the first acquire request for a missing namespace creates the namespace. Only stores with a single user
    /// create namespaces in this way.
    fn creates_namespaces(&self) -> bool {
        false
    }
}
