//! The operations that a store without transactions must provide.

use flakeid_protocol::store::{Candidates, Fault};

/// The data that every transaction reads first, in one step.
pub(crate) struct Head<V> {
    /// The time by the store's clock, in Unix milliseconds.
    pub now: i64,
    /// The namespace's value and version, or `None` if the namespace does not exist.
    pub namespace: Option<(String, V)>,
    /// Whether every row that this library ever wrote still exists; `None` if checking this takes another request.
    pub is_complete: Option<bool>,
}

/// A row that a transaction read, with its version.
pub(crate) struct ReadRow<V> {
    pub node: u64,
    pub text: String,
    pub version: V,
}

/// A row to write.
pub(crate) struct NewRow {
    pub node: u64,
    #[cfg(feature = "redis")]
    pub fence: u64,
    pub text: String,
    #[cfg(feature = "etcd")]
    pub is_new: bool,
}

/// A sub-grant to write, unless it already exists.
pub(crate) struct NewSubGrant {
    pub node: u64,
    pub start: u64,
    pub block_grant: u64,
    pub grant: u64,
    pub text: String,
}

/// The versions that a transaction depends on, and its writes. Either all of the writes are applied, or none of them.
pub(crate) struct WriteSet<V> {
    /// The version of the namespace when it was read; `None` if the namespace did not exist.
    pub namespace_read: Option<V>,
    /// The nodes that were read, with the versions of their rows. The version is `None` if the row did not exist.
    pub rows_read: Vec<(u64, Option<V>)>,
    /// Whether all rows were read. If so, the write requires that no row has changed since.
    pub read_all: bool,
    /// The new value of the namespace.
    pub namespace: Option<String>,
    /// New and changed rows.
    pub rows: Vec<NewRow>,
    /// The new records, each with its node, start, grant and value.
    pub records: Vec<(u64, u64, u64, String)>,
    /// New sub-grants.
    pub sub_grants: Vec<NewSubGrant>,
    /// Whether the rows that exist after this write count as all the rows that ever existed.
    pub resets_row_marks: bool,
}

/// A store without transactions, whose rows are JSON strings; see [`json`](super::json).
pub(crate) trait VersionedStore {
    /// A value that distinguishes each state of a row, or of the namespace, from all its other states.
    type Version: Clone + PartialEq;

    /// Begins a transaction. Subsequent reads return the state as of this call or a later one.
    fn head(&mut self, namespace: &str) -> Result<Head<Self::Version>, Fault>;

    /// Returns the incarnation that the namespace must record for this run of the store. Must be called after
    /// [`head`](Self::head).
    fn incarnation(&mut self, namespace: &str) -> Result<String, Fault>;

    /// Whether `recorded` was written in the current run of the store. If so, the store has lost nothing since then.
    /// Must be called after [`head`](Self::head).
    fn is_same_run(&mut self, namespace: &str, recorded: &str) -> Result<bool, Fault> {
        Ok(self.incarnation(namespace)? == recorded)
    }

    /// Whether every row that this library ever wrote still exists. This function is called only if the head does not
    /// contain this information.
    fn is_complete(&mut self, namespace: &str) -> Result<bool, Fault> {
        Ok(self.mismatched_nodes(namespace)?.is_empty())
    }

    /// Reads a node's row. If the head does not report deleted rows and this row turns out to be deleted, fails with
    /// a [`Fault::Conflict`], and the next head reports the deletion.
    fn row(&mut self, namespace: &str, node: u64)
    -> Result<Option<(String, Self::Version)>, Fault>;

    /// Returns at least `enough` rows that may be candidates, or all such rows if there are fewer. The coldest
    /// candidate is among them.
    fn coldest(
        &mut self,
        namespace: &str,
        candidates: &Candidates<'_>,
        enough: usize,
    ) -> Result<Vec<ReadRow<Self::Version>>, Fault>;

    /// Returns a node without a row, searching in the same order as
    /// [`Ledger::unused`](flakeid_protocol::store::Ledger::unused). First skips `skip` such nodes, or fewer if there
    /// are not that many.
    fn unused(
        &mut self,
        namespace: &str,
        range: (u64, u64),
        first: u64,
        skip: u64,
    ) -> Result<Option<u64>, Fault>;

    /// Returns all rows as they were at a single moment.
    fn rows(&mut self, namespace: &str) -> Result<Vec<ReadRow<Self::Version>>, Fault>;

    /// Returns the nodes that have a row but no mark that they were granted, and the nodes that have the mark but no
    /// row.
    fn mismatched_nodes(&mut self, namespace: &str) -> Result<Vec<u64>, Fault>;

    /// Returns the node's last record that starts at or before a tick, and the record that follows it.
    fn record_at(
        &mut self,
        namespace: &str,
        node: u64,
        tick: u64,
    ) -> Result<Option<(String, Option<String>)>, Fault>;

    /// Returns the node's last sub-grant that starts at or before a tick, and its first sub-grant after the tick.
    fn sub_grants_around(
        &mut self,
        namespace: &str,
        node: u64,
        tick: u64,
    ) -> Result<(Option<String>, Option<String>), Fault>;

    /// Writes all changes if none of the versions that they depend on has changed. Otherwise writes nothing and fails
    /// with [`Fault::Conflict`].
    fn commit(&mut self, namespace: &str, write_set: &WriteSet<Self::Version>)
    -> Result<(), Fault>;
}
