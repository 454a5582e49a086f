//! Private servers, and the addresses that the guide writes where readers have their own.

use flakeid_steps::Failed;
use flakeid_steps::servers::Servers;

/// What the guide writes, by the kind of store.
const IN_THE_GUIDE: [(&str, &str); 4] = [
    ("postgresql", "postgresql://orders:secret@db.example/orders"),
    ("mysql", "mysql://orders:secret@db.example/orders"),
    ("redis", "redis://:secret@cache.example/0"),
    ("etcd", "etcd://etcd.example:2379"),
];

/// A server of every kind, until this is dropped.
pub(crate) struct Stores(Servers);

impl Stores {
    pub(crate) fn start() -> Result<Self, Failed> {
        Servers::start(&[]).map(Self)
    }

    pub(crate) fn url(&self, kind: &str) -> Result<&str, Failed> {
        self.0.url(kind)
    }

    /// A text of the guide with the private servers' addresses in it.
    pub(crate) fn addressed(&self, text: &str) -> Result<String, Failed> {
        IN_THE_GUIDE.iter().try_fold(text.to_owned(), |text, (kind, address)| {
            Ok(text.replace(address, self.url(kind)?))
        })
    }
}
