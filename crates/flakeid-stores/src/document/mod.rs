//! Stores that keep a whole namespace in one document and change the document with one conditional write. Such a store
//! implements [`Documents`]; this module contains everything else.
//!
//! - **One transaction** reads the document, changes it in memory, and writes it if it is still the one that was read.
//!   Every document contains a random nonce. The condition of the write covers the nonce, so that the condition fails
//!   even if a restore of the store has reused the store's own version number.
//! - **Continuity**: a document contains the [identity](Reading::identity) of the object that contains it, and the time
//!   at which it was written. The namespace counts as restored if the identity differs, if the object was changed at
//!   another time or by another program, or, in a store that does not notice older data, if the document is so old that
//!   no lease can be in use; see [`OldDocuments`](crate::backend::OldDocuments). An object that gets its identity only
//!   when it is created is created without a namespace, so that a namespace and its identity always appear in one write.
//! - **Late writes**: a process may be paused between its read and its write, while the store is restored to the state
//!   that the process read. The store's times of both responses show the pause, and the process then does not use what it
//!   wrote. Other processes see a restored document: its identity is that of the object that was read, or it was changed
//!   at another time than it says.
//! - **The store's clock** is the middle of the second in the `Date` header of a response.
//! - **History**: new entries are part of the document, so that one write confirms a grant with its history. After
//!   [`TAIL`](history::TAIL) entries, a transaction moves some of them to a history document, and begins another history
//!   document if it is full. The entries are first added to the
//!   history document, and then removed from the namespace's document. If the second write fails, both documents
//!   contain the entries, and readers ignore the copies.

mod history;
mod namespace_document;
mod store;
mod transaction;
mod wire;

pub(crate) use store::DocumentStore;
pub(crate) use wire::{Client, Response};

use crate::backend::DocumentLimits;
use flakeid_protocol::Token;
use flakeid_protocol::store::Fault;

/// The name of a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Key<'a> {
    /// The document of a namespace.
    Namespace(&'a str),
    /// A document with a part of the namespace's history: the number of the part, and the number of the document within
    /// the part.
    History(&'a str, usize, u64),
}

/// The result of reading a document.
pub(crate) struct Reading<V> {
    /// The time by the store's clock, in Unix milliseconds.
    pub(crate) now: i64,
    /// The identity of the object or table that contains the document. A restore that creates a new object or a new
    /// table changes the identity. `None` if the object gets an identity only when it is created, and in history
    /// documents.
    pub(crate) identity: Option<String>,
    /// The document; `None` if it does not exist.
    pub(crate) stored: Option<Stored<V>>,
}

/// A document as the store returned it.
pub(crate) struct Stored<V> {
    pub(crate) text: String,
    /// The version that a conditional write must name.
    pub(crate) version: V,
    /// The last change of the document, as reported by the store.
    pub(crate) change: Change,
}

/// The last change of a document, as reported by the store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Change {
    /// The store reports neither the time nor the author of a change.
    Unknown,
    /// The time of the last change by the store's clock, in Unix milliseconds.
    At(i64),
    /// Another program made the last change.
    Foreign,
}

/// A store of documents. All methods fail with [`Fault::Unavailable`] if the store does not respond in time.
pub(crate) trait Documents: Send {
    /// The version of a document. It is never reused for different contents.
    type Version: Clone;

    const LIMITS: DocumentLimits;

    /// The store's name in messages.
    fn shown(&self) -> &str;

    /// The place of the documents as this connection names it, if a replica has the same identities as the original. The
    /// namespace is refused at another place until an operator adopts it. It never counts as restored there, because
    /// two clients may use two names of one place.
    fn place(&self) -> Option<&str> {
        None
    }

    /// Reads a document.
    fn read(&mut self, key: Key<'_>) -> Result<Reading<Self::Version>, Fault>;

    /// Writes a document, which contains `nonce`, if its version is still `version`, or if it does not exist and
    /// `version` is `None`. Otherwise writes nothing and fails with [`Fault::Conflict`]. Returns the time of the response
    /// by the store's clock, in Unix milliseconds.
    fn write(
        &mut self,
        key: Key<'_>,
        text: &str,
        nonce: Token,
        version: Option<&Self::Version>,
    ) -> Result<i64, Fault>;

    /// Returns the names of all namespaces.
    fn names(&mut self) -> Result<Vec<String>, Fault>;

    /// Creates missing structures, such as a table.
    fn prepare(&mut self) -> Result<(), Fault>;

    /// Whether [`prepare`](Self::prepare) would create nothing.
    fn is_prepared(&mut self) -> Result<bool, Fault>;
}
