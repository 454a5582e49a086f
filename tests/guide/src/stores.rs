//! Private servers, and the example addresses in the guide that they replace.

use flakeid_steps::Failed;
use flakeid_steps::servers::Servers;

/// The store addresses that the guide uses, by the kind of store.
const EXAMPLE_ADDRESSES: [(&str, &str); 6] = [
    ("postgresql", "postgresql://orders:secret@db.example/orders"),
    ("mysql", "mysql://orders:secret@db.example/orders"),
    ("redis", "redis://:secret@cache.example/0"),
    ("etcd", "etcd://etcd.example:2379"),
    ("s3", "s3://my-bucket/flakeid?region=eu-central-1"),
    ("dynamodb", "dynamodb://flakeid?region=eu-central-1"),
];

/// A server of every kind. Dropping this value stops the servers.
pub(crate) struct Stores(Servers);

impl Stores {
    pub(crate) fn start() -> Result<Self, Failed> {
        Servers::start(&[]).map(Self)
    }

    pub(crate) fn url(&self, kind: &str) -> Result<&str, Failed> {
        self.0.url(kind)
    }

    /// Replaces the example addresses in a string from the guide with the addresses of the
    /// private servers.
    pub(crate) fn with_addresses(&self, text: &str) -> Result<String, Failed> {
        EXAMPLE_ADDRESSES.iter().try_fold(text.to_owned(), |text, (kind, address)| {
            Ok(text.replace(address, self.url(kind)?))
        })
    }
}
