//! What a store without transactions must be able to do.

use flakeid_protocol::store::{Candidates, Fault};

/// What begins every transaction, read in one step.
pub(crate) struct Head<V> {
    /// The store's clock, in Unix milliseconds.
    pub now: i64,
    /// The namespace's text and version, if it exists.
    pub namespace: Option<(String, V)>,
    /// Whether no row was deleted by other means than this library; `None` where the answer costs
    /// another request.
    pub is_complete: Option<bool>,
}

/// A row as it was read.
pub(crate) struct ReadRow<V> {
    pub node: u64,
    pub text: String,
    pub version: V,
}

/// A row to be written.
pub(crate) struct NewRow {
    pub node: u64,
    #[cfg(feature = "redis")]
    pub fence: u64,
    pub text: String,
    #[cfg(feature = "etcd")]
    pub is_new: bool,
}

/// A sub-grant to be written, unless it is there already.
pub(crate) struct NewSubGrant {
    pub node: u64,
    pub start: u64,
    pub block_grant: u64,
    pub grant: u64,
    pub text: String,
}

/// What one transaction depends on and wants written, all or nothing.
pub(crate) struct WriteSet<V> {
    /// The namespace's version when it was read; `None` if it did not exist.
    pub namespace_read: Option<V>,
    /// The versions of the rows that were read; `None` for those that did not exist.
    pub rows_read: Vec<(u64, Option<V>)>,
    /// Whether every row was read: none may have changed since.
    pub read_all: bool,
    /// The namespace's new text.
    pub namespace: Option<String>,
    /// New and changed rows.
    pub rows: Vec<NewRow>,
    /// New records: node, start, grant, text.
    pub records: Vec<(u64, u64, u64, String)>,
    /// New sub-grants.
    pub sub_grants: Vec<NewSubGrant>,
    /// Whether the rows that are there from now on count as all that ever were.
    pub resets_row_marks: bool,
}

/// A store without transactions. Rows are texts here; see [`json`](super::json).
pub(crate) trait VersionedStore {
    /// Distinguishes one state of a row, or of the namespace, from all others.
    type Version: Clone + PartialEq;

    /// Begins a transaction. Reads that follow see this state or a later one.
    fn head(&mut self, namespace: &str) -> Result<Head<Self::Version>, Fault>;

    /// What to write to the namespace about this run of the store. Called after [`head`](Self::head).
    fn incarnation(&mut self, namespace: &str) -> Result<String, Fault>;

    /// Whether this is the run of the store that `recorded` was written in, so that it still remembers
    /// everything that it did since. Called after [`head`](Self::head).
    fn is_same_run(&mut self, namespace: &str, recorded: &str) -> Result<bool, Fault> {
        Ok(self.incarnation(namespace)? == recorded)
    }

    /// Whether no row was deleted by other means than this library, where the head does not say.
    fn is_complete(&mut self, namespace: &str) -> Result<bool, Fault> {
        Ok(self.mismatched_nodes(namespace)?.is_empty())
    }

    /// A node's row. Where the head does not say whether a row was deleted, finding a deleted one is a
    /// [`Fault::Conflict`], and the next head says so.
    fn row(&mut self, namespace: &str, node: u64)
    -> Result<Option<(String, Self::Version)>, Fault>;

    /// At least `enough` rows that may be candidates, if there are so many, the coldest of all
    /// among them.
    fn coldest(
        &mut self,
        namespace: &str,
        candidates: &Candidates<'_>,
        enough: usize,
    ) -> Result<Vec<ReadRow<Self::Version>>, Fault>;

    /// A node without a row, in the order of [`Ledger::unused`](flakeid_protocol::store::Ledger::unused),
    /// after passing over `skip` of them, or fewer if there are not so many.
    fn unused(
        &mut self,
        namespace: &str,
        range: (u64, u64),
        first: u64,
        skip: u64,
    ) -> Result<Option<u64>, Fault>;

    /// Every row as of one moment.
    fn rows(&mut self, namespace: &str) -> Result<Vec<ReadRow<Self::Version>>, Fault>;

    /// The nodes that have a row but no mark that they were granted, or a mark but no row.
    fn mismatched_nodes(&mut self, namespace: &str) -> Result<Vec<u64>, Fault>;

    /// The node's last record that starts at or before a tick, and the one after it.
    fn record_at(
        &mut self,
        namespace: &str,
        node: u64,
        tick: u64,
    ) -> Result<Option<(String, Option<String>)>, Fault>;

    /// The node's last sub-grant that starts at or before a tick, and its first one after the tick.
    fn sub_grants_around(
        &mut self,
        namespace: &str,
        node: u64,
        tick: u64,
    ) -> Result<(Option<String>, Option<String>), Fault>;

    /// Writes everything if nothing that it depends on has changed, else [`Fault::Conflict`].
    fn commit(&mut self, namespace: &str, write_set: &WriteSet<Self::Version>)
    -> Result<(), Fault>;
}
