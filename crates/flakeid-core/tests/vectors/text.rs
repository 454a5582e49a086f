use flakeid_core::{Id, TextForm};

use crate::{load, number, rows, text};

#[test]
fn every_form() {
    let file = load("text");
    let forms = rows(&file, "forms");
    assert_eq!(forms.len(), TextForm::ALL.len());
    for group in forms {
        let form: TextForm = text(group, "form").parse().unwrap();
        for row in rows(group, "valid") {
            let id = Id::from_u64(number(row, "id"));
            assert_eq!(id.to_text(form).as_str(), text(row, "text"), "{form} of {id}");
            assert_eq!(form.decode(text(row, "text")).unwrap(), id, "{form} {row}");
        }
        // Forms with one text for each ID accept nothing else, so this list may be empty.
        for row in group["accepted"].as_array().unwrap() {
            let id = Id::from_u64(number(row, "id"));
            assert_eq!(form.decode(text(row, "text")).unwrap(), id, "{form} {row}");
        }
        for row in rows(group, "rejected") {
            match form.decode(text(row, "text")) {
                Ok(id) => panic!("{form} {row} was read as {id}"),
                Err(error) => assert_eq!(error.code(), text(row, "code"), "{form} {row}"),
            }
        }
    }
}
