//! The kinds of keys, and the generators of one session.

use std::error::Error;

use flakeid_core::{Generator, Layout};
use tokio_postgres::types::private::BytesMut;
use tokio_postgres::types::{IsNull, ToSql, Type, accepts, to_sql_checked};
use uuid::{ContextV7, Timestamp, Uuid};

/// The layout of the flakeid keys: 41 bits of milliseconds, 10 bits for the node, 12 bits for the sequence.
const LAYOUT: Layout = Layout::TWITTER;

/// A kind of primary key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// IDs of flakeid from the application.
    Flakeid,
    /// A sequence of the database.
    Sequence,
    /// Random UUIDs that begin with the time, from the application.
    UuidV7,
    /// Random UUIDs from the application.
    UuidV4,
}

impl Kind {
    pub(crate) const ALL: [Self; 4] = [Self::Flakeid, Self::Sequence, Self::UuidV7, Self::UuidV4];
    /// The kind to which the ratios refer.
    pub(crate) const FLOOR: Self = Self::Sequence;

    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Flakeid => "flakeid",
            Self::Sequence => "bigserial",
            Self::UuidV7 => "UUIDv7",
            Self::UuidV4 => "UUIDv4",
        }
    }

    /// The name of the table with keys of this kind.
    pub(crate) const fn table(self) -> &'static str {
        match self {
            Self::Flakeid => "flakeid_rows",
            Self::Sequence => "bigserial_rows",
            Self::UuidV7 => "uuid_v7_rows",
            Self::UuidV4 => "uuid_v4_rows",
        }
    }

    /// The type of the key's column.
    pub(crate) const fn column(self) -> &'static str {
        match self {
            Self::Flakeid => "bigint",
            Self::Sequence => "bigserial",
            Self::UuidV7 | Self::UuidV4 => "uuid",
        }
    }

    /// The type of an array of keys, or `None` if the database generates the keys.
    pub(crate) const fn array(self) -> Option<&'static str> {
        match self {
            Self::Flakeid => Some("bigint[]"),
            Self::Sequence => None,
            Self::UuidV7 | Self::UuidV4 => Some("uuid[]"),
        }
    }

    /// Whether a range of keys is a range of time. Otherwise, such a range requires another index.
    pub(crate) const fn contains_time(self) -> bool {
        matches!(self, Self::Flakeid | Self::UuidV7)
    }

    /// Returns a condition for the rows from `from` to `until`, in Unix milliseconds.
    pub(crate) fn time_range(self, from: u64, until: u64) -> String {
        let [from, until] = [from, until].map(|unix_ms| match self {
            Self::Flakeid => LAYOUT.lower_bound(unix_ms.cast_signed()).to_i64().to_string(),
            Self::UuidV7 => format!("'{}'", first_uuid_v7(unix_ms)),
            Self::Sequence | Self::UuidV4 => format!("to_timestamp({unix_ms} / 1000.0)"),
        });
        let column = if self.contains_time() { "id" } else { "created_at" };
        format!("{column} >= {from} AND {column} < {until}")
    }
}

/// Returns the smallest `UUIDv7` of a millisecond.
fn first_uuid_v7(unix_ms: u64) -> Uuid {
    const VERSION: u128 = 7 << 76;
    const VARIANT: u128 = 0b10 << 62;
    Uuid::from_u128(u128::from(unix_ms) << 80 | VERSION | VARIANT)
}

/// The keys of one statement.
pub(crate) enum Keys {
    /// The database generates the keys.
    Default,
    Bigint(Vec<i64>),
    Uuid(Vec<UuidKey>),
}

/// The generators of one session. Each session has its own, like a separate process.
pub(crate) struct Generators {
    flakeid: Generator,
    uuid_v7: ContextV7,
}

impl Generators {
    pub(crate) fn new(node: u64) -> Result<Self, Box<dyn Error + Send + Sync>> {
        Ok(Self { flakeid: Generator::new(LAYOUT, node)?, uuid_v7: ContextV7::new() })
    }

    /// Returns the given number of keys, generated now.
    pub(crate) fn keys(
        &self,
        kind: Kind,
        count: usize,
    ) -> Result<Keys, Box<dyn Error + Send + Sync>> {
        Ok(match kind {
            Kind::Flakeid => {
                let ids = self.flakeid.next_ids(count)?;
                Keys::Bigint(ids.into_iter().map(flakeid_core::Id::to_i64).collect())
            }
            Kind::Sequence => Keys::Default,
            Kind::UuidV7 => {
                let next = || UuidKey(Uuid::new_v7(Timestamp::now(&self.uuid_v7)));
                Keys::Uuid((0..count).map(|_| next()).collect())
            }
            Kind::UuidV4 => Keys::Uuid((0..count).map(|_| UuidKey(Uuid::new_v4())).collect()),
        })
    }
}

/// A UUID as a parameter of a statement.
#[derive(Debug)]
pub(crate) struct UuidKey(Uuid);

impl ToSql for UuidKey {
    accepts!(UUID);
    to_sql_checked!();

    fn to_sql(&self, _: &Type, out: &mut BytesMut) -> Result<IsNull, Box<dyn Error + Sync + Send>> {
        out.extend_from_slice(self.0.as_bytes());
        Ok(IsNull::No)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::panic, reason = "tests only")]

    use super::*;

    #[test]
    fn first_uuid_v7_is_at_most_every_uuid_of_its_millisecond() {
        let unix_ms = 1_700_000_000_123;
        let first = first_uuid_v7(unix_ms);
        assert_eq!(first.get_version_num(), 7);
        assert!(first_uuid_v7(unix_ms - 1) < first && first < first_uuid_v7(unix_ms + 1));
        for _ in 0..1000 {
            let time = Timestamp::from_unix(ContextV7::new(), 1_700_000_000, 123_000_000);
            let uuid = Uuid::new_v7(time);
            assert!(first <= uuid && uuid < first_uuid_v7(unix_ms + 1), "{uuid}");
        }
    }

    #[test]
    fn generators_return_increasing_keys_for_kinds_with_time() {
        let generators = Generators::new(3).unwrap();
        let Keys::Bigint(ids) = generators.keys(Kind::Flakeid, 5000).unwrap() else { panic!() };
        let Keys::Uuid(uuids) = generators.keys(Kind::UuidV7, 5000).unwrap() else { panic!() };
        assert!(ids.len() == 5000 && ids.is_sorted_by(|a, b| a < b));
        assert!(uuids.len() == 5000 && uuids.is_sorted_by(|a, b| a.0 < b.0));
    }
}
