//! The conversion of an ID to and from an sqlx column.

use sqlx::encode::IsNull;
use sqlx::error::BoxDynError;
use sqlx::{Database, Decode, Encode, Type};

use crate::Id;

/// The column type of an ID: a signed 64-bit integer (`bigint`, `INTEGER`), in every database that supports this type.
/// The column contains the value of [`Id::to_i64`].
impl<DB: Database> Type<DB> for Id
where
    i64: Type<DB>,
{
    fn type_info() -> DB::TypeInfo {
        <i64 as Type<DB>>::type_info()
    }

    fn compatible(info: &DB::TypeInfo) -> bool {
        <i64 as Type<DB>>::compatible(info)
    }
}

impl<'q, DB: Database> Encode<'q, DB> for Id
where
    i64: Encode<'q, DB>,
{
    fn encode_by_ref(&self, buffer: &mut DB::ArgumentBuffer<'q>) -> Result<IsNull, BoxDynError> {
        self.to_i64().encode(buffer)
    }

    fn produces(&self) -> Option<DB::TypeInfo> {
        self.to_i64().produces()
    }

    fn size_hint(&self) -> usize {
        self.to_i64().size_hint()
    }
}

impl<'r, DB: Database> Decode<'r, DB> for Id
where
    i64: Decode<'r, DB>,
{
    fn decode(value: DB::ValueRef<'r>) -> Result<Self, BoxDynError> {
        i64::decode(value).map(Self::from_i64)
    }
}
