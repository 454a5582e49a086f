//! The conversion of an ID to and from a diesel `BigInt` column, in every database that diesel supports, and to and
//! from a `uuid` column in `PostgreSQL`.

use diesel::backend::Backend;
use diesel::deserialize::{self, FromSql, Queryable};
use diesel::expression::AsExpression;
#[cfg(any(feature = "diesel-postgres", feature = "diesel-mysql", feature = "diesel-sqlite"))]
use diesel::serialize::{self, Output, ToSql};
use diesel::sql_types::{BigInt, Nullable, SingleValue};

use crate::Id;

/// Reads an ID from a signed 64-bit column, with [`Id::from_i64`].
impl<DB> FromSql<BigInt, DB> for Id
where
    DB: Backend,
    i64: FromSql<BigInt, DB>,
{
    fn from_sql(bytes: DB::RawValue<'_>) -> deserialize::Result<Self> {
        i64::from_sql(bytes).map(Self::from_i64)
    }
}

impl<ST, DB> Queryable<ST, DB> for Id
where
    DB: Backend,
    ST: SingleValue,
    Self: FromSql<ST, DB>,
{
    type Row = Self;

    fn build(row: Self) -> deserialize::Result<Self> {
        Ok(row)
    }
}

/// Converts an ID to an `i64` when an expression is created, so that every database accepts the value.
macro_rules! as_number {
    ($kind:ty, $id:ty) => {
        impl AsExpression<$kind> for $id {
            type Expression = <i64 as AsExpression<$kind>>::Expression;

            fn as_expression(self) -> Self::Expression {
                <i64 as AsExpression<$kind>>::as_expression(self.to_i64())
            }
        }
    };
}

as_number!(BigInt, Id);
as_number!(BigInt, &Id);
as_number!(Nullable<BigInt>, Id);
as_number!(Nullable<BigInt>, &Id);

/// Writes an `Id`, or the `Id` in an `Option<Id>`, as a query parameter, for databases that receive parameters as
/// bytes.
#[cfg(any(feature = "diesel-postgres", feature = "diesel-mysql"))]
macro_rules! as_bytes {
    ($database:ty) => {
        impl ToSql<BigInt, $database> for Id {
            fn to_sql<'b>(&'b self, out: &mut Output<'b, '_, $database>) -> serialize::Result {
                <i64 as ToSql<BigInt, $database>>::to_sql(&self.to_i64(), &mut out.reborrow())
            }
        }
    };
}

#[cfg(feature = "diesel-postgres")]
as_bytes!(diesel::pg::Pg);
#[cfg(feature = "diesel-mysql")]
as_bytes!(diesel::mysql::Mysql);

#[cfg(feature = "diesel-sqlite")]
impl ToSql<BigInt, diesel::sqlite::Sqlite> for Id {
    fn to_sql<'b>(&'b self, out: &mut Output<'b, '_, diesel::sqlite::Sqlite>) -> serialize::Result {
        out.set_value(self.to_i64());
        Ok(serialize::IsNull::No)
    }
}

/// IDs in `uuid` columns of `PostgreSQL`, as UUIDs of version 8. The type of the column selects this conversion.
#[cfg(all(feature = "diesel-postgres", feature = "uuid"))]
mod uuid_columns {
    use diesel::pg::Pg;
    use diesel::sql_types::Uuid as UuidColumn;
    use uuid::Uuid;

    use super::{AsExpression, FromSql, Id, Nullable, Output, ToSql, deserialize, serialize};

    /// Reads an ID from a `uuid` column, with [`Id::from_uuid_bytes`]. Other UUIDs cause an error.
    impl FromSql<UuidColumn, Pg> for Id {
        fn from_sql(
            bytes: <Pg as diesel::backend::Backend>::RawValue<'_>,
        ) -> deserialize::Result<Self> {
            Ok(Self::try_from(<Uuid as FromSql<UuidColumn, Pg>>::from_sql(bytes)?)?)
        }
    }

    impl ToSql<UuidColumn, Pg> for Id {
        fn to_sql<'b>(&'b self, out: &mut Output<'b, '_, Pg>) -> serialize::Result {
            <Uuid as ToSql<UuidColumn, Pg>>::to_sql(&Uuid::from(*self), &mut out.reborrow())
        }
    }

    macro_rules! as_uuid {
        ($kind:ty, $id:ty) => {
            impl AsExpression<$kind> for $id {
                type Expression = <Uuid as AsExpression<$kind>>::Expression;

                fn as_expression(self) -> Self::Expression {
                    <Uuid as AsExpression<$kind>>::as_expression(Uuid::from_bytes(
                        self.to_uuid_bytes(),
                    ))
                }
            }
        };
    }

    as_uuid!(UuidColumn, Id);
    as_uuid!(UuidColumn, &Id);
    as_uuid!(Nullable<UuidColumn>, Id);
    as_uuid!(Nullable<UuidColumn>, &Id);
}
