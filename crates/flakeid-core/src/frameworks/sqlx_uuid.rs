//! The conversion of an ID to and from an sqlx column of UUIDs.

use sqlx::encode::IsNull;
use sqlx::error::BoxDynError;
use sqlx::{Database, Decode, Encode, Type};
use uuid::Uuid;

use crate::Id;

/// An ID that sqlx stores as a UUID of version 8, with [`Id::to_uuid_bytes`].
///
/// The column has the type `uuid` in `PostgreSQL`, `BINARY(16)` in `MySQL` and `MariaDB`, and `BLOB` in `SQLite`.
/// [`Id`] itself is a signed 64-bit integer in sqlx, so queries of such a column use this type for parameters and
/// results. A UUID that contains no ID fails to decode.
///
/// sqlx needs its own feature `uuid`.
///
/// # Example
/// ```
/// use flakeid_core::{Id, IdAsUuid};
///
/// let id = Id::from_u64(910_499_571_847_892_992);
/// let parameter = IdAsUuid(id); // for `.bind(parameter)`
/// assert_eq!(Id::from(parameter), id); // for the column of a row
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct IdAsUuid(pub Id);

impl From<Id> for IdAsUuid {
    fn from(id: Id) -> Self {
        Self(id)
    }
}

impl From<IdAsUuid> for Id {
    fn from(IdAsUuid(id): IdAsUuid) -> Self {
        id
    }
}

impl<DB: Database> Type<DB> for IdAsUuid
where
    Uuid: Type<DB>,
{
    fn type_info() -> DB::TypeInfo {
        <Uuid as Type<DB>>::type_info()
    }

    fn compatible(info: &DB::TypeInfo) -> bool {
        <Uuid as Type<DB>>::compatible(info)
    }
}

impl<'q, DB: Database> Encode<'q, DB> for IdAsUuid
where
    Uuid: Encode<'q, DB>,
{
    fn encode_by_ref(&self, buffer: &mut DB::ArgumentBuffer<'q>) -> Result<IsNull, BoxDynError> {
        Uuid::from(self.0).encode(buffer)
    }
}

impl<'r, DB: Database> Decode<'r, DB> for IdAsUuid
where
    Uuid: Decode<'r, DB>,
{
    fn decode(value: DB::ValueRef<'r>) -> Result<Self, BoxDynError> {
        Ok(Self(Id::try_from(Uuid::decode(value)?)?))
    }
}
