//! The names of etcd keys, and the JSON format of the gateway's requests and responses.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use flakeid_protocol::store::Fault;

/// The prefix of all keys.
pub(super) const ROOT: &str = "/flakeid/";

pub(super) fn namespace(name: &str) -> String {
    format!("{ROOT}{name}/namespace")
}

/// Returns the key of a namespace's run record.
pub(super) fn run(name: &str) -> String {
    format!("{ROOT}{name}/run")
}

/// Returns the key of a node's row. Without a node, returns the key prefix of all rows in the namespace.
pub(super) fn row(name: &str, node: Option<u64>) -> String {
    node.map_or_else(
        || format!("{ROOT}{name}/row/"),
        |node| format!("{}{node:020}", row(name, None)),
    )
}

/// Returns the key of the mark that records that a node had a row. Without a node, returns the key prefix of all marks
/// in the namespace.
pub(super) fn used(name: &str, node: Option<u64>) -> String {
    node.map_or_else(
        || format!("{ROOT}{name}/used/"),
        |node| format!("{}{node:020}", used(name, None)),
    )
}

/// Returns the key prefix of a node's history.
pub(super) fn history(name: &str, node: u64) -> String {
    format!("{ROOT}{name}/history/{node:020}/")
}

/// Returns the key of a record.
pub(super) fn record(name: &str, node: u64, start: u64, grant: u64) -> String {
    format!("{}{start:020}/{grant:020}", history(name, node))
}

/// Returns the key prefix of a node's sub-grants.
pub(super) fn sub_grants(name: &str, node: u64) -> String {
    format!("{ROOT}{name}/sub-grants/{node:020}/")
}

/// Returns the key of a sub-grant.
pub(super) fn sub_grant(
    name: &str,
    node: u64,
    start: u64,
    [block_grant, grant]: [u64; 2],
) -> String {
    format!("{}{start:020}/{block_grant:020}/{grant:020}", sub_grants(name, node))
}

/// Returns the exclusive end of the range of keys that begin with `prefix`, which must end in a slash.
pub(super) fn end(prefix: &str) -> String {
    format!("{}0", prefix.trim_end_matches('/'))
}

/// Builds a request that reads the single key `key`, or, if `end` is given, all keys in `[key, end)`.
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

/// Encodes bytes in base64, as the gateway's JSON requires.
pub(super) fn encode(bytes: &str) -> String {
    STANDARD.encode(bytes)
}

/// Decodes a base64 string from the gateway's JSON. A missing value is decoded as an empty string.
pub(super) fn decode(value: &Value) -> Result<String, Fault> {
    let bytes = STANDARD.decode(value.as_str().unwrap_or_default()).ok();
    bytes.and_then(|bytes| String::from_utf8(bytes).ok()).ok_or_else(|| {
        Fault::Rejected(
            "etcd contains a value under /flakeid/ that is not UTF-8: the value was edited or damaged"
                .into(),
        )
    })
}

/// Parses a number from a response. The gateway writes 64-bit numbers as strings, and omits fields whose value is 0.
pub(super) fn number<T: std::str::FromStr + Default>(value: &Value) -> Result<T, Fault> {
    match value {
        Value::Null => Ok(T::default()),
        value => value.as_str().and_then(|text| text.parse().ok()).ok_or_else(|| {
            Fault::Unavailable(
                "etcd sent an unexpected response: a numeric field does not contain a number"
                    .into(),
            )
        }),
    }
}

/// Parses part `at` of a key as a number. Slashes separate the parts, and part 0 is the empty string before the first
/// slash.
pub(super) fn number_in_key(key: &str, at: usize) -> Result<u64, Fault> {
    key.split('/').nth(at).and_then(|part| part.parse().ok()).ok_or_else(|| {
        let shown: String = key.chars().take(100).collect();
        Fault::Rejected(format!("etcd contains a key {shown:?} that flakeid did not write"))
    })
}

/// Returns the keys and values in the response to a range request.
pub(super) fn entries(answer: &Value) -> &[Value] {
    answer["kvs"].as_array().map(Vec::as_slice).unwrap_or_default()
}

/// Returns the node in the key of a row, of a row's mark, or of an entry of the history.
pub(super) fn node_of(entry: &Value) -> Result<u64, Fault> {
    // The parts of the key are an empty string, `flakeid`, the namespace, the kind of entry, the node, and possibly
    // further parts.
    number_in_key(&decode(&entry["key"])?, 4)
}
