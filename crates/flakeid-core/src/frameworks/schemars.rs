//! The JSON schema of an ID, for the schemars crate.

use alloc::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};

use super::{DESCRIPTION, PATTERN};
use crate::Id;

/// The schema of an ID, which the `serde` feature serializes to a string of decimal digits.
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
            "pattern": PATTERN,
            "description": DESCRIPTION
        })
    }
}

#[cfg(test)]
mod tests {
    use alloc::string::ToString;

    use super::*;

    #[test]
    fn schemars_schema_describes_ids_as_decimal_strings() {
        let schema = schemars::schema_for!(Id).to_value();
        assert_eq!(schema["type"], "string");
        assert_eq!(schema["pattern"], "^[0-9]{1,20}$");
        let most = serde_json::to_value(Id::from_u64(u64::MAX).to_string());
        assert!(most.is_ok_and(|most| most.as_str().is_some_and(|text| text.len() == 20)));
        // Schemas of types that contain an ID include this schema inline, without a name.
        let list = schemars::schema_for!(alloc::vec::Vec<Id>).to_value();
        assert_eq!(list["items"]["type"], "string");
    }
}
