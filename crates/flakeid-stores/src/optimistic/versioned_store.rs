//! The operations that a store without transactions must provide.

use flakeid_protocol::store::{Candidates, Fault};
use flakeid_protocol::{Record, SubGrant};

/// The data that every transaction reads first, in one step.
pub(crate) struct Head<V> {
    /// The time by the store's clock, in Unix milliseconds.
    pub now: i64,
    /// The namespace's value and version, or `None` if the namespace does not exist.
    pub namespace: Option<(String, V)>,
    /// Whether every row that this library ever wrote still exists, or `None` if the check requires another request.
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
    pub fence: u64,
    pub text: String,
    pub is_new: bool,
}

/// A sub-grant to write if it does not exist yet.
pub(crate) struct NewSubGrant {
    pub node: u64,
    pub start: u64,
    pub block_grant: u64,
    pub grant: u64,
    pub text: String,
}

/// The writes of a transaction, and the versions that they depend on. Either all of the writes are applied, or none of
/// them.
pub(crate) struct WriteSet<V> {
    /// The version of the namespace when it was read; `None` if the namespace did not exist.
    pub namespace_read: Option<V>,
    /// The nodes that were read, with the versions of their rows. The version is `None` if the row did not exist.
    pub rows_read: Vec<(u64, Option<V>)>,
    /// Whether the writes depend on all rows. If so, the writes are applied only if no row has changed since all rows
    /// were read.
    pub read_all: bool,
    /// The new value of the namespace, or `None` to keep the current value.
    pub namespace: Option<String>,
    /// New and changed rows.
    pub rows: Vec<NewRow>,
    /// The new history records, each with its node, start tick, grant number and JSON string.
    pub records: Vec<(u64, u64, u64, String)>,
    /// New sub-grants.
    pub sub_grants: Vec<NewSubGrant>,
    /// The records to remove, together with all older records of their nodes.
    pub removed_records: Vec<Record>,
    /// The sub-grants to remove, together with all older sub-grants of their nodes.
    pub removed_sub_grants: Vec<SubGrant>,
    /// Whether the store assumes, after this write, that no row is missing. Rows that were deleted earlier then no
    /// longer count as deleted.
    pub resets_row_marks: bool,
}

/// The text of a row with its version, or `None` if the node has no row.
pub(crate) type StoredRow<V> = Option<(String, V)>;

/// A store without transactions, whose rows are JSON strings; see [`json`](crate::json).
pub(crate) trait VersionedStore {
    /// A value that identifies one state of a row or of the namespace. Different states of the same row or namespace
    /// have different versions.
    type Version: Clone + PartialEq;

    /// Begins a transaction, and returns the data that every transaction reads first. Subsequent reads return the state
    /// at the time of this call or later.
    fn head(&mut self, namespace: &str) -> Result<Head<Self::Version>, Fault>;

    /// Returns the incarnation that the namespace must record for this run of the store. Must be called after
    /// [`head`](Self::head).
    fn incarnation(&mut self, namespace: &str) -> Result<String, Fault>;

    /// Whether the incarnation `recorded` was written in the current run of the store. If so, the store has lost no
    /// data since then. Must be called after [`head`](Self::head).
    fn is_same_run(&mut self, namespace: &str, recorded: &str) -> Result<bool, Fault> {
        Ok(self.incarnation(namespace)? == recorded)
    }

    /// Whether every row that this library ever wrote still exists. This function is called only if the head does not
    /// contain this information.
    fn is_complete(&mut self, namespace: &str) -> Result<bool, Fault> {
        Ok(self.mismatched_nodes(namespace)?.is_empty())
    }

    /// Reads the rows of up to [`MOST_RENEWED`](flakeid_protocol::operations::MOST_RENEWED) nodes with one request, and
    /// returns them in the order of `nodes`. Fails with [`Fault::Conflict`] if a row was deleted but
    /// [`head`](Self::head) did not report a deletion. The next call to `head` then reports the deletion.
    fn rows_of(
        &mut self,
        namespace: &str,
        nodes: &[u64],
    ) -> Result<Vec<StoredRow<Self::Version>>, Fault>;

    /// Returns at least `enough` rows that may be candidates, or all such rows if there are fewer. The returned rows
    /// include the coldest candidate, unless the store searches only the least recently written rows.
    fn coldest(
        &mut self,
        namespace: &str,
        candidates: &Candidates<'_>,
        enough: usize,
    ) -> Result<Vec<ReadRow<Self::Version>>, Fault>;

    /// Returns a node without a row, searching in the same order as
    /// [`Ledger::unused`](flakeid_protocol::store::Ledger::unused). Skips the first `skip` nodes without rows. If the
    /// range contains at most `skip` such nodes, the search wraps round as often as necessary.
    fn unused(
        &mut self,
        namespace: &str,
        range: (u64, u64),
        first: u64,
        skip: u64,
    ) -> Result<Option<u64>, Fault>;

    /// Returns all rows as they were at a single moment.
    fn rows(&mut self, namespace: &str) -> Result<Vec<ReadRow<Self::Version>>, Fault>;

    /// Returns the nodes that have a row but no mark, and the nodes that have a mark but no row. A mark records that a
    /// node was granted.
    fn mismatched_nodes(&mut self, namespace: &str) -> Result<Vec<u64>, Fault>;

    /// Returns the node's last record that starts at or before a tick, and its first record after the tick. Both are
    /// read at a single moment.
    fn records_around(
        &mut self,
        namespace: &str,
        node: u64,
        tick: u64,
    ) -> Result<(Option<String>, Option<String>), Fault>;

    /// Returns at most `limit` of the node's oldest records.
    fn oldest_records(
        &mut self,
        namespace: &str,
        node: u64,
        limit: usize,
    ) -> Result<Vec<String>, Fault>;

    /// Returns the node's last sub-grant that starts at or before a tick, and its first sub-grant after the tick. Both
    /// are read at a single moment.
    fn sub_grants_around(
        &mut self,
        namespace: &str,
        node: u64,
        tick: u64,
    ) -> Result<(Option<String>, Option<String>), Fault>;

    /// Returns at most `limit` sub-grants of the nodes in a range. The sub-grants are ordered by node, and the oldest
    /// sub-grants of each node come first. Each sub-grant is returned with its node.
    fn oldest_sub_grants(
        &mut self,
        namespace: &str,
        range: (u64, u64),
        limit: usize,
    ) -> Result<Vec<(u64, String)>, Fault>;

    /// Writes all changes if no version in `write_set` has changed. Otherwise writes nothing and fails with
    /// [`Fault::Conflict`].
    fn commit(&mut self, namespace: &str, write_set: &WriteSet<Self::Version>)
    -> Result<(), Fault>;
}
