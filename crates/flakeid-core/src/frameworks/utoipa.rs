//! The `OpenAPI` schema of an ID, for the utoipa crate.

use alloc::borrow::Cow;

use utoipa::openapi::schema::Schema;
use utoipa::openapi::{ObjectBuilder, RefOr, Type};
use utoipa::{PartialSchema, ToSchema};

use super::{DESCRIPTION, PATTERN};
use crate::Id;

/// The schema of an ID, which the `serde` feature serializes to a string of decimal digits.
impl PartialSchema for Id {
    fn schema() -> RefOr<Schema> {
        ObjectBuilder::new()
            .schema_type(Type::String)
            .pattern(Some(PATTERN))
            .description(Some(DESCRIPTION))
            .into()
    }
}

impl ToSchema for Id {
    fn name() -> Cow<'static, str> {
        "Id".into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn utoipa_schema_describes_ids_as_decimal_strings() {
        let schema = serde_json::to_value(Id::schema());
        let schema = schema.unwrap_or_default();
        assert_eq!(schema["type"], "string");
        assert_eq!(schema["pattern"], PATTERN);
        assert_eq!(Id::name(), "Id");
    }
}
