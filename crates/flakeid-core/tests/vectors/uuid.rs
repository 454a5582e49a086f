//! The vectors in `uuid.json`: IDs as UUIDs.

use flakeid_core::{Error, Id, TextForm};
use serde_json::Value;

use super::{load, number, rows, text};

/// Parses a string of hexadecimal digits.
fn bytes(row: &Value) -> Vec<u8> {
    let digits = text(row, "bytes");
    let pairs = (0..digits.len()).step_by(2).map(|place| &digits[place..place + 2]);
    pairs.map(|pair| u8::from_str_radix(pair, 16).unwrap()).collect()
}

fn expect_refusal(result: Result<Id, Error>, row: &Value) {
    match result {
        Ok(id) => panic!("{row} was parsed as {id}"),
        Err(error) => assert_eq!(error.code(), text(row, "code"), "{row}"),
    }
}

#[test]
fn uuids_of_ids_match_the_test_vectors() {
    let file = load("uuid");
    let mut previous = None;
    for row in rows(&file, "valid") {
        let id = Id::from_u64(number(row, "id"));
        let (string, array) = (id.to_uuid(), id.to_uuid_bytes());
        assert_eq!((string.as_str(), array.as_slice()), (text(row, "text"), &*bytes(row)), "{row}");
        assert_eq!(TextForm::Uuid.decode(&string).unwrap(), id, "{row}");
        assert_eq!(Id::from_uuid_bytes(array).unwrap(), id, "{row}");
        // The rows are in the order of the IDs, so the strings and the bytes must also increase.
        let current = Some((id, string.as_str().to_owned(), array));
        assert!(previous < current, "{row}");
        previous = current;
    }
    for row in rows(&file, "accepted") {
        assert_eq!(
            TextForm::Uuid.decode(text(row, "text")).unwrap(),
            Id::from_u64(number(row, "id"))
        );
    }
    for row in rows(&file, "rejected") {
        expect_refusal(TextForm::Uuid.decode(text(row, "text")), row);
    }
    for row in rows(&file, "rejected_bytes") {
        // The type of the argument excludes all other lengths.
        if let Ok(array) = bytes(row).try_into() {
            expect_refusal(Id::from_uuid_bytes(array), row);
        }
    }
}

#[test]
fn refused_uuid_is_reported_with_the_reason() {
    for (uuid, reason) in [
        (
            "919108f7-52d1-4320-9bac-f847db4148a8",
            "the UUID has version 4, but an ID requires version 8; flakeid did not create it",
        ),
        (
            "00000000-0000-0000-0000-000000000000",
            "the UUID does not have the variant of RFC 9562; flakeid did not create it",
        ),
        (
            "2489e9ad-2ee2-8e00-8ec9-32d5f69181c0",
            "its last 58 bits are not those of flakeid's UUIDs",
        ),
        ("0ca2be895c23890080666c616b656964", "a UUID must have 36 characters"),
        ("0ca2be89-5c23-8900-8066-6c616b65696g", "'g' is not a valid digit"),
        ("", "the string is empty"),
    ] {
        let message = TextForm::Uuid.decode(uuid).unwrap_err().to_string();
        assert!(message.starts_with(&format!("\"{uuid}\" is not an ID in uuid: ")), "{message}");
        assert!(message.contains(reason), "{message}");
        let Ok(bits) = u128::from_str_radix(&uuid.replace('-', ""), 16) else { continue };
        let by_bytes = Id::from_uuid_bytes(bits.to_be_bytes());
        if uuid.contains('-') {
            assert_eq!(by_bytes.unwrap_err().to_string(), message);
        }
    }
}
