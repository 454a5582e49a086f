//! Tests with the vectors in `tests/vectors/*.json`, which the tests of all languages share.

#![allow(clippy::unwrap_used, clippy::panic, unreachable_pub)]

mod guess;
mod guess_counts;
mod keyed;
mod layouts;
mod schedules;
mod uuid;

use flakeid_core::{ErrorKind, Id, TextForm};
use serde_json::Value;

/// Loads the vector file `tests/vectors/{name}.json`.
fn load(name: &str) -> Value {
    let path = format!("{}/../../tests/vectors/{name}.json", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"));
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// Returns the list that has the given key in a vector file. Panics if the list is empty, because an empty list would
/// test nothing.
fn rows<'a>(value: &'a Value, key: &str) -> &'a [Value] {
    let rows = value[key].as_array().unwrap_or_else(|| panic!("{key} is not a list"));
    assert!(!rows.is_empty(), "{key} is empty");
    rows
}

fn text<'a>(row: &'a Value, key: &str) -> &'a str {
    row[key].as_str().unwrap_or_else(|| panic!("{key} is not a string in {row}"))
}

/// Parses a number that the vector file contains as a string of digits.
fn number<T: std::str::FromStr>(row: &Value, key: &str) -> T {
    let digits = text(row, key);
    digits.parse().unwrap_or_else(|_| panic!("{key} is not in range in {row}"))
}

/// Parses a number. Returns `None` if the row's value is null or missing.
fn optional<T: std::str::FromStr>(row: &Value, key: &str) -> Option<T> {
    (!row[key].is_null()).then(|| number(row, key))
}

#[test]
fn error_kinds_match_the_test_vectors() {
    let file = load("errors");
    let rows = rows(&file, "errors");
    let names: Vec<_> = rows.iter().map(|row| text(row, "kind").to_owned()).collect();
    let known: Vec<_> = ErrorKind::ALL.iter().map(|kind| format!("{kind:?}")).collect();
    assert_eq!(names, known);
    for (row, kind) in rows.iter().zip(ErrorKind::ALL) {
        assert_eq!(text(row, "code"), kind.code());
        assert_eq!(row["c"].as_i64().unwrap(), i64::from(kind.status()), "{kind:?}");
        assert_eq!(row["retry"].as_bool().unwrap(), kind.is_retryable(), "{kind:?}");
    }
}

#[test]
fn id_text_forms_match_the_test_vectors() {
    let file = load("text");
    let forms = rows(&file, "forms");
    // The file `uuid.json` contains the remaining form.
    assert_eq!(forms.len() + 1, TextForm::ALL.len());
    for group in forms {
        let form: TextForm = text(group, "form").parse().unwrap();
        for row in rows(group, "valid") {
            let id = Id::from_u64(number(row, "id"));
            assert_eq!(id.to_text(form).as_str(), text(row, "text"), "{form} of {id}");
            assert_eq!(form.decode(text(row, "text")).unwrap(), id, "{form} {row}");
        }
        // This list may be empty, because some text forms accept only one string for each ID.
        for row in group["accepted"].as_array().unwrap() {
            let id = Id::from_u64(number(row, "id"));
            assert_eq!(form.decode(text(row, "text")).unwrap(), id, "{form} {row}");
        }
        for row in rows(group, "rejected") {
            match form.decode(text(row, "text")) {
                Ok(id) => panic!("{form} {row} was parsed as {id}"),
                Err(error) => assert_eq!(error.code(), text(row, "code"), "{form} {row}"),
            }
        }
    }
}
