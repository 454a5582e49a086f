//! Conversions of namespaces, rows, records and sub-grants to and from JSON strings.

use serde_json::{Map, Value as Json};

use crate::values::{
    Cells, Value, damage_fault, namespace_values, record_values, row_values, sub_grant_values,
    to_bigint,
};
use flakeid_protocol::store::Fault;
use flakeid_protocol::{Namespace, Record, Row, SubGrant};

/// The version of these formats. A namespace without a version has version 1.
const VERSION: u64 = 1;

/// The JSON fields of a namespace, in the order in which [`namespace_values`] returns their values.
const NAMESPACE: [&str; 10] = [
    "layout",
    "block_bits",
    "floor",
    "quiet_until",
    "incarnation",
    "max_window_ms",
    "max_ahead_ms",
    "max_skew_ms",
    "quiet_ms",
    "keeps_history",
];
/// The JSON fields of a row, in the order in which [`row_values`] returns their values. The node is not a field,
/// because the store's key contains the node.
const ROW: [&str; 14] = [
    "fence",
    "start",
    "token",
    "grant",
    "state",
    "name",
    "host",
    "pid",
    "acquired",
    "renewed",
    "expires",
    "incarnation",
    "fixed",
    "history_until",
];
/// The JSON fields of a record, in the order in which [`record_values`] returns their values. The node is not a field,
/// because the store's key contains the node.
const RECORD: [&str; 7] = ["grant", "start", "name", "host", "pid", "acquired", "previous_until"];
/// The JSON fields of a sub-grant, in the order in which [`sub_grant_values`] returns their values. The node is not a
/// field, because the store's key contains the node.
const SUB_GRANT: [&str; 7] = ["start", "block_grant", "grant", "name", "host", "pid", "acquired"];

/// Converts a namespace to a JSON object for the store.
pub(crate) fn namespace_json(namespace: &Namespace) -> Result<Json, Fault> {
    let mut json = write(&NAMESPACE, namespace_values(namespace)?);
    json["version"] = VERSION.into();
    Ok(json)
}

/// Parses the output of [`namespace_json`].
///
/// # Errors
/// [`Fault::Rejected`] if a later version of the library wrote the namespace, or if a field is missing or invalid.
pub(crate) fn namespace_of(name: &str, json: Json) -> Result<Namespace, Fault> {
    let version = json.get("version").cloned().unwrap_or_else(|| VERSION.into());
    if version != VERSION {
        return Err(Fault::Rejected(format!(
            "namespace {name:?} has version {version}, but this build supports version {VERSION}: use the flakeid that \
             created it, or a newer one"
        )));
    }
    Cells::read_namespace(name, read(&NAMESPACE, name, None, json)?)
}

/// Converts a row to a JSON object for the store.
pub(crate) fn row_json(row: &Row) -> Result<Json, Fault> {
    Ok(write(&ROW, row_values(row)?.split_off(1)))
}

/// Parses the output of [`row_json`].
pub(crate) fn row_of(namespace: &str, node: u64, json: Json) -> Result<Row, Fault> {
    Cells::read_row(namespace, read(&ROW, namespace, Some(node), json)?)
}

/// Converts a record to a JSON object for the store.
pub(crate) fn record_json(record: &Record) -> Result<Json, Fault> {
    Ok(write(&RECORD, record_values(record)?.split_off(1)))
}

/// Parses the output of [`record_json`].
pub(crate) fn record_of(namespace: &str, node: u64, json: Json) -> Result<Record, Fault> {
    Cells::read_record(namespace, read(&RECORD, namespace, Some(node), json)?)
}

/// Converts a sub-grant to a JSON object for the store.
pub(crate) fn sub_grant_json(sub: &SubGrant) -> Result<Json, Fault> {
    Ok(write(&SUB_GRANT, sub_grant_values(sub)?.split_off(1)))
}

/// Parses the output of [`sub_grant_json`].
pub(crate) fn sub_grant_of(namespace: &str, node: u64, json: Json) -> Result<SubGrant, Fault> {
    Cells::read_sub_grant(namespace, read(&SUB_GRANT, namespace, Some(node), json)?)
}

/// Parses a JSON string that a store returned.
///
/// # Errors
/// [`Fault::Rejected`] if the string is not JSON. The message does not show the string, which may contain a token.
pub(crate) fn parse(namespace: &str, node: Option<u64>, text: &str) -> Result<Json, Fault> {
    let signed = node.map(u64::cast_signed);
    let fault = |_| damage_fault(namespace, signed, "contents", "(not a JSON object)");
    serde_json::from_str(text).map_err(fault)
}

/// Converts values to a JSON object with the given fields. Only a token can be null; a null value is written as an
/// empty string.
fn write(fields: &[&str], values: Vec<Value>) -> Json {
    let values = values.into_iter().map(|value| match value {
        Value::Null => "".into(),
        Value::Integer(number) => number.into(),
        Value::Text(text) => text.into(),
        Value::Boolean(boolean) => boolean.into(),
    });
    let object: Map<String, Json> = fields.iter().map(ToString::to_string).zip(values).collect();
    Json::Object(object)
}

/// Returns the values of the given fields of a JSON object. If a node is given, the node is the first value.
fn read(
    fields: &[&str],
    namespace: &str,
    node: Option<u64>,
    json: Json,
) -> Result<Vec<Value>, Fault> {
    let signed = node.map(u64::cast_signed);
    let Json::Object(mut object) = json else {
        // The error does not show the invalid string, because the string may contain a token.
        return Err(damage_fault(namespace, signed, "contents", "(not a JSON object)"));
    };
    let mut values = Vec::with_capacity(1 + fields.len());
    values.extend(node.map(|node| to_bigint("node", node)).transpose()?);
    for field in fields {
        values.push(match object.remove(*field) {
            Some(Json::String(text)) if *field == "token" && text.is_empty() => Value::Null,
            Some(Json::String(text)) => Value::Text(text),
            Some(Json::Bool(boolean)) => Value::Boolean(boolean),
            Some(Json::Number(number)) if number.is_i64() => number.as_i64().into(),
            None => return Err(damage_fault(namespace, signed, field, "(missing)")),
            Some(_) if *field == "token" => {
                return Err(damage_fault(namespace, signed, field, "(not shown)"));
            }
            Some(other) => return Err(damage_fault(namespace, signed, field, &other.to_string())),
        });
    }
    Ok(values)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::panic, reason = "tests")]
mod tests {
    use flakeid_core::Layout;
    use serde_json::json;

    use super::*;
    use flakeid_protocol::{Owner, State, Token};

    fn row() -> Row {
        Row {
            node: 7,
            fence: (1 << 53) + 1,
            start: 5,
            token: Some(Token::from_bits(0xfeed)),
            grant: 3,
            state: State::Held,
            owner: Owner { name: "a \"b\" ü".into(), host: "h".into(), pid: u32::MAX },
            acquired: 1,
            renewed: 2,
            expires: i64::MAX,
            incarnation: "i".into(),
            fixed: true,
            history_until: 6,
        }
    }

    #[test]
    fn rows_and_records_survive_a_json_round_trip() {
        assert_eq!(row_of("n", 7, row_json(&row()).unwrap()).unwrap(), row());
        let free = Row { token: None, state: State::Free, ..row() };
        assert_eq!(row_of("n", 7, row_json(&free).unwrap()).unwrap(), free);

        let namespace = Namespace { floor: 9, ..Namespace::new("n", Layout::SONYFLAKE) };
        assert_eq!(namespace_of("n", namespace_json(&namespace).unwrap()).unwrap(), namespace);

        let owner = row().owner;
        let record = Record {
            node: 7,
            grant: 2,
            start: 5,
            owner: owner.clone(),
            acquired: 4,
            previous_until: 3,
        };
        assert_eq!(record_of("n", 7, record_json(&record).unwrap()).unwrap(), record);

        let sub = SubGrant { node: 7, start: 5, block_grant: 2, grant: 1, owner, acquired: 4 };
        assert_eq!(sub_grant_of("n", 7, sub_grant_json(&sub).unwrap()).unwrap(), sub);
    }

    #[test]
    fn namespace_of_a_later_version_is_refused_and_of_an_earlier_one_is_read() {
        let namespace = Namespace::new("n", Layout::TWITTER);
        let mut json = namespace_json(&namespace).unwrap();
        json["version"] = 2.into();
        let later = namespace_of("n", json.clone());
        assert!(
            matches!(&later, Err(Fault::Rejected(text)) if text.contains("version 2")),
            "{later:?}"
        );
        json.as_object_mut().unwrap().remove("version");
        assert_eq!(namespace_of("n", json).unwrap(), namespace);
    }

    #[test]
    fn row_errors_name_invalid_fields_and_hide_tokens() {
        for (field, text, shown) in [
            ("fence", json!(-1), "-1"),
            ("fence", json!(1_u64 << 63), "9223372036854775808"),
            ("fence", json!("many"), "many"),
            ("state", json!("lost"), "lost"),
            ("pid", json!(1_u64 << 40), "1099511627776"),
            ("token", json!("0123secret"), "(not shown)"),
        ] {
            let mut fields = row_json(&row()).unwrap();
            fields[field] = text;
            let Err(Fault::Rejected(error)) = row_of("n", 7, fields) else {
                panic!("{field} was taken");
            };
            assert!(error.contains(field) && error.contains(shown) && error.contains("node 7"));
            assert!(!error.contains("secret"), "{error}");
        }
        for outcome in
            [row_of("n", 7, json!("feed")).map(drop), parse("n", Some(7), "feed").map(drop)]
        {
            assert!(matches!(outcome, Err(Fault::Rejected(text)) if !text.contains("feed")));
        }
    }
}
