//! The names of keys, and the gateway's form of requests and answers.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use flakeid_protocol::store::Fault;

/// What all keys begin with.
pub(super) const ROOT: &str = "/flakeid/";

pub(super) fn namespace(name: &str) -> String {
    format!("{ROOT}{name}/namespace")
}

/// What is recorded about the run that a namespace's incarnation stands for.
pub(super) fn run(name: &str) -> String {
    format!("{ROOT}{name}/run")
}

/// The rows of a namespace; with a node, its row.
pub(super) fn row(name: &str, node: Option<u64>) -> String {
    node.map_or_else(
        || format!("{ROOT}{name}/row/"),
        |node| format!("{}{node:020}", row(name, None)),
    )
}

/// The marks of rows; with a node, its mark.
pub(super) fn used(name: &str, node: Option<u64>) -> String {
    node.map_or_else(
        || format!("{ROOT}{name}/used/"),
        |node| format!("{}{node:020}", used(name, None)),
    )
}

/// The history of a node.
pub(super) fn history(name: &str, node: u64) -> String {
    format!("{ROOT}{name}/history/{node:020}/")
}

/// The sub-grants of a node.
pub(super) fn sub_grants(name: &str, node: u64) -> String {
    format!("{ROOT}{name}/sub-grants/{node:020}/")
}

/// What comes after every key with a prefix, which ends in a slash.
pub(super) fn end(prefix: &str) -> String {
    format!("{}0", prefix.trim_end_matches('/'))
}

/// A range request for a key, or for `[key, end)`.
pub(super) fn range(key: &str, end: Option<&str>) -> Value {
    match end {
        Some(end) => json!({ "key": encode(key), "range_end": encode(end) }),
        None => json!({ "key": encode(key) }),
    }
}

/// A request for the number of keys in `[key, end)`.
pub(super) fn count(key: &str, end: &str) -> Value {
    let mut request = range(key, Some(end));
    request["count_only"] = json!(true);
    request
}

/// Bytes as the gateway's JSON has them.
pub(super) fn encode(bytes: &str) -> String {
    STANDARD.encode(bytes)
}

/// The reverse of [`encode`]; a missing value is an empty one.
pub(super) fn decode(value: &Value) -> Result<String, Fault> {
    let bytes = STANDARD.decode(value.as_str().unwrap_or_default()).ok();
    bytes.and_then(|bytes| String::from_utf8(bytes).ok()).ok_or_else(|| {
        Fault::Rejected(
            "etcd holds bytes under /flakeid/ that are not text: they were edited or damaged"
                .into(),
        )
    })
}

/// A number of an answer: the gateway writes 64-bit numbers as texts and leaves zeros out.
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

/// The number that a key has as its part `at`; the first part is the empty one before the slash.
pub(super) fn number_in_key(key: &str, at: usize) -> Result<u64, Fault> {
    key.split('/').nth(at).and_then(|part| part.parse().ok()).ok_or_else(|| {
        let shown: String = key.chars().take(100).collect();
        Fault::Rejected(format!("etcd holds a key {shown:?} that flakeid did not write"))
    })
}

/// The keys of an answer.
pub(super) fn entries(answer: &Value) -> &[Value] {
    answer["kvs"].as_array().map(Vec::as_slice).unwrap_or_default()
}

/// The node that a key is for.
pub(super) fn node_of(entry: &Value) -> Result<u64, Fault> {
    // "", flakeid, namespace, row, node
    number_in_key(&decode(&entry["key"])?, 4)
}
