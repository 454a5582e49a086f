use flakeid_core::ErrorKind;

use crate::{load, rows, text};

#[test]
fn the_error_table() {
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
