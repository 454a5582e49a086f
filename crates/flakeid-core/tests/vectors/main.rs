//! The shared vectors, which every language runs: `tests/vectors/*.json`.

#![allow(clippy::unwrap_used, clippy::panic, unreachable_pub)]

mod errors;
mod layouts;
mod schedules;
mod text;

use serde_json::Value;

/// One of the shared files.
fn load(name: &str) -> Value {
    let path = format!("{}/../../tests/vectors/{name}.json", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"));
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// A list in a file, which must not be empty: a loop over nothing proves nothing.
fn rows<'a>(value: &'a Value, key: &str) -> &'a [Value] {
    let rows = value[key].as_array().unwrap_or_else(|| panic!("{key} is not a list"));
    assert!(!rows.is_empty(), "{key} is empty");
    rows
}

fn text<'a>(row: &'a Value, key: &str) -> &'a str {
    row[key].as_str().unwrap_or_else(|| panic!("{key} is not a string in {row}"))
}

/// A number told as a string of digits.
fn number<T: std::str::FromStr>(row: &Value, key: &str) -> T {
    let digits = text(row, key);
    digits.parse().unwrap_or_else(|_| panic!("{key} is not in range in {row}"))
}

/// The same, or `None` where the row has null or nothing.
fn optional<T: std::str::FromStr>(row: &Value, key: &str) -> Option<T> {
    (!row[key].is_null()).then(|| number(row, key))
}
