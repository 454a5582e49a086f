//! Text forms of IDs: an accepted text has the value of its canonical text, and every ID survives every form.
#![no_main]

use flakeid_core::{Id, TextForm};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: (u64, &str)| {
    let (number, text) = input;
    for form in TextForm::ALL {
        if let Ok(id) = form.decode(text) {
            assert_eq!(form.decode(&form.encode(id)), Ok(id));
        }
        let id = Id::from_u64(number);
        assert_eq!(form.decode(&form.encode(id)), Ok(id));
    }
});
