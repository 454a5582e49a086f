//! An [`Id`] as other crates know it: a column of sqlx, a JSON schema of schemars.

#[cfg(feature = "sqlx")]
mod columns {
    use sqlx::encode::IsNull;
    use sqlx::error::BoxDynError;
    use sqlx::{Database, Decode, Encode, Type};

    use crate::Id;

    /// A signed column of 64 bits (`bigint`, `INTEGER`) in every database that has one; see
    /// [`Id::to_i64`].
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
        fn encode_by_ref(
            &self,
            buffer: &mut DB::ArgumentBuffer<'q>,
        ) -> Result<IsNull, BoxDynError> {
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
}

#[cfg(feature = "schemars")]
mod schemas {
    use alloc::borrow::Cow;

    use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};

    use crate::Id;

    /// A string of decimal digits, as the feature `serde` writes it.
    impl JsonSchema for Id {
        fn inline_schema() -> bool {
            true
        }

        fn schema_name() -> Cow<'static, str> {
            "Id".into()
        }

        fn schema_id() -> Cow<'static, str> {
            "flakeid_core::Id".into()
        }

        fn json_schema(_: &mut SchemaGenerator) -> Schema {
            json_schema!({
                "type": "string",
                "pattern": "^[0-9]{1,20}$",
                "description": "A 64-bit ID. It is a string because numbers lose digits in JavaScript."
            })
        }
    }

    #[cfg(test)]
    mod tests {
        use alloc::string::ToString;

        use super::*;

        #[test]
        fn the_schema_is_of_what_serde_writes() {
            let schema = schemars::schema_for!(Id).to_value();
            assert_eq!(schema["type"], "string");
            assert_eq!(schema["pattern"], "^[0-9]{1,20}$");
            let most = serde_json::to_value(Id::from_u64(u64::MAX).to_string());
            assert!(most.is_ok_and(|most| most.as_str().is_some_and(|text| text.len() == 20)));
            // Within other types it stands where it is used, under no name.
            let list = schemars::schema_for!(alloc::vec::Vec<Id>).to_value();
            assert_eq!(list["items"]["type"], "string");
        }
    }
}
