//! The names of keys, and the gateway's format of requests and responses.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use flakeid_protocol::store::Fault;

/// The prefix of all keys.
pub(super) const ROOT: &str = "/flakeid/";

pub(super) fn namespace(name: &str) -> String {
    format!("{ROOT}{name}/namespace")
}

/// Returns the key of the record of a namespace's run.
pub(super) fn run(name: &str) -> String {
    format!("{ROOT}{name}/run")
}

/// Returns the prefix of a namespace's rows, or the key of a node's row.
pub(super) fn row(name: &str, node: Option<u64>) -> String {
    node.map_or_else(
        || format!("{ROOT}{name}/row/"),
        |node| format!("{}{node:020}", row(name, None)),
    )
}

/// Returns the prefix of a namespace's row marks, or the key of a node's mark.
pub(super) fn used(name: &str, node: Option<u64>) -> String {
    node.map_or_else(
        || format!("{ROOT}{name}/used/"),
        |node| format!("{}{node:020}", used(name, None)),
    )
}

/// Returns the prefix of a node's history.
pub(super) fn history(name: &str, node: u64) -> String {
    format!("{ROOT}{name}/history/{node:020}/")
}

/// Returns the prefix of a node's sub-grants.
pub(super) fn sub_grants(name: &str, node: u64) -> String {
    format!("{ROOT}{name}/sub-grants/{node:020}/")
}

/// Returns the exclusive end of the keys with a prefix, which ends in a slash.
pub(super) fn end(prefix: &str) -> String {
    format!("{}0", prefix.trim_end_matches('/'))
}

/// Builds a range request for a key, or for `[key, end)`.
pub(super) fn range(key: &str, end: Option<&str>) -> Value {
    match end {
        Some(end) => json!({ "key": encode(key), "range_end": encode(end) }),
        None => json!({ "key": encode(key) }),
    }
}

/// Builds a request for the number of keys in `[key, end)`.
pub(super) fn count(key: &str, end: &str) -> Value {
    let mut request = range(key, Some(end));
    request["count_only"] = json!(true);
    request
}

/// Encodes bytes for the gateway's JSON.
pub(super) fn encode(bytes: &str) -> String {
    STANDARD.encode(bytes)
}

/// Decodes bytes of the gateway's JSON; a missing value is empty.
pub(super) fn decode(value: &Value) -> Result<String, Fault> {
    let bytes = STANDARD.decode(value.as_str().unwrap_or_default()).ok();
    bytes.and_then(|bytes| String::from_utf8(bytes).ok()).ok_or_else(|| {
        Fault::Rejected(
            "etcd holds bytes under /flakeid/ that are not text: they were edited or damaged"
                .into(),
        )
    })
}

/// Parses a number of a response: the gateway writes 64-bit numbers as strings and omits zeros.
pub(super) fn number<T: std::str::FromStr + Default>(value: &Value) -> Result<T, Fault> {
    match value {
        Value::Null => Ok(T::default()),
        value => value.as_str().and_then(|text| text.parse().ok()).ok_or_else(|| {
            Fault::Unavailable(
                "etcd sent an unexpected answer, with something else where a number belongs".into(),
            )
        }),
    }
}

/// Returns the number in the part `at` of a key; the first part is the empty one before the slash.
pub(super) fn number_in_key(key: &str, at: usize) -> Result<u64, Fault> {
    key.split('/').nth(at).and_then(|part| part.parse().ok()).ok_or_else(|| {
        let shown: String = key.chars().take(100).collect();
        Fault::Rejected(format!("etcd holds a key {shown:?} that flakeid did not write"))
    })
}

/// Returns the keys of a response.
pub(super) fn entries(answer: &Value) -> &[Value] {
    answer["kvs"].as_array().map(Vec::as_slice).unwrap_or_default()
}

/// Returns the node of a key.
pub(super) fn node_of(entry: &Value) -> Result<u64, Fault> {
    // The parts are "", flakeid, namespace, row, node.
    number_in_key(&decode(&entry["key"])?, 4)
}
