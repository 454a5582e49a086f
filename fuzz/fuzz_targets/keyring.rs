//! Keyrings: opening a public ID returns the ID from which it was made.
#![no_main]

use flakeid_core::{Id, Layout, PublicIds};
use libfuzzer_sys::fuzz_target;

/// A time after that of every ID, because IDs of the future cannot be opened.
const LATEST: i64 = i64::MAX;

fuzz_target!(|input: (u64, &str, &str, Option<&str>, &str)| {
    let (number, keyring, domain, prefix, text) = input;
    let Ok(ids) = PublicIds::from_text(keyring, domain, Layout::TWITTER, prefix, None) else {
        return;
    };
    let id = Id::from_u64(number >> 1);
    if let Ok(sealed) = ids.seal(id) {
        assert_eq!(ids.open_at(&sealed, LATEST), Ok(id));
    }
    if let Ok(id) = ids.open_at(text, LATEST) {
        assert_eq!(ids.seal(id).and_then(|sealed| ids.open_at(&sealed, LATEST)), Ok(id));
    }
});
