//! The description of a store, or of brokers, which the module of each keeps in its static `BACKEND`.

use std::hash::{Hash, Hasher};
use std::path::PathBuf;
use std::ptr;
use std::sync::Arc;

use flakeid_core::Clock;
use flakeid_protocol::store::{Fault, Store};
use flakeid_protocol::{Bounds, Lessor};

/// A line of the table of stores and brokers, which also contains those that this build lacks.
pub(crate) struct Kind {
    /// The Cargo feature, which has the name of the module.
    pub(crate) feature: &'static str,
    pub(crate) schemes: &'static [&'static str],
    /// The description; `None` if this build lacks the feature.
    pub(crate) backend: Option<&'static Backend>,
}

/// A store, or brokers: everything that other code must know before it connects.
pub struct Backend {
    /// The forms of the URL, for the help of commands that manage stores.
    pub forms: &'static [&'static str],
    pub(crate) connect: Connect,
    /// Returns the path of the file that the URL names, if the store is a file.
    pub(crate) file: Option<fn(&str) -> Option<PathBuf>>,
    /// The limits of a store that keeps each namespace as one document.
    pub documents: Option<DocumentLimits>,
}

// Each description is a static, so its address identifies it.

impl PartialEq for Backend {
    fn eq(&self, other: &Self) -> bool {
        ptr::eq(self, other)
    }
}

impl Eq for Backend {}

impl Hash for Backend {
    fn hash<H: Hasher>(&self, state: &mut H) {
        ptr::hash(self, state);
    }
}

/// The way to connect.
pub(crate) enum Connect {
    Store(fn(&Place<'_>) -> Result<Box<dyn Store>, Fault>),
    Broker(fn(&str) -> Result<Box<dyn Lessor>, Fault>),
}

/// The arguments for connecting to a store.
#[derive(Clone, Copy)]
pub(crate) struct Place<'a> {
    pub(crate) url: &'a str,
    /// The clock of this host, which a store without a server uses as its own clock.
    pub(crate) clock: &'a Arc<dyn Clock>,
    /// Whether to create a missing embedded store.
    pub(crate) creates: bool,
}

/// The limits of a store that keeps each namespace as one document. A transaction reads the document, and writes it if
/// no other client has written it in the meantime.
#[derive(Clone, Copy)]
pub struct DocumentLimits {
    /// The size limit for a document, in bytes.
    pub largest: usize,
    /// The meaning of a document that has not been written for longer than any lease lasts.
    pub(crate) old: OldDocuments,
    /// The number of requests of a transaction: a read, a write, and the free requests of some stores.
    pub requests: f64,
    /// The price of the read and the write; `None` if the requests have no price of their own.
    pub price: Option<Price>,
}

/// The price of each started unit of a document, and the size of a unit in bytes. The amounts are in US dollars, without
/// taxes and without a free tier.
#[derive(Clone, Copy)]
pub struct Price {
    /// The price of reading a unit, and its size.
    pub read: (f64, u64),
    /// The price of writing a unit, and its size.
    pub write: (f64, u64),
}

/// The meaning of a document that has not been written for longer than any lease lasts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OldDocuments {
    /// An old document is current, because the store detects each restore otherwise.
    Current,
    /// An old document counts as restored, because the store may return older data without another sign.
    Restored,
}

/// The shortest time, in milliseconds, after which a document counts as old.
const LEAST_AGE_MS: u64 = 60_000;

/// Returns the age, in milliseconds, above which a document counts as old. Each holder renews its lease several times
/// during `max_window`, so an older document belongs to a namespace in which no lease is in use. Where
/// [older documents](OldDocuments::Restored) show a restore, a restore of a younger one goes unnoticed.
pub(crate) fn longest_age_ms(bounds: &Bounds) -> i64 {
    let age = bounds.max_window_ms.saturating_add(bounds.max_skew_ms.saturating_mul(2));
    i64::try_from(age.max(LEAST_AGE_MS)).unwrap_or(i64::MAX)
}
