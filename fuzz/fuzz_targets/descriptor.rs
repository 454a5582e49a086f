//! Descriptors: parsing the canonical descriptor returns the same layout, and packing the parts of an ID returns the ID.
#![no_main]

use flakeid_core::{Id, Layout};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: (u64, &str)| {
    let (number, text) = input;
    let Ok(layout) = text.parse::<Layout>() else { return };
    assert_eq!(layout.to_string().parse::<Layout>().as_ref(), Ok(&layout));
    let id = Id::from_u64(number);
    if let Ok(parts) = layout.unpack(id) {
        assert_eq!(layout.pack(&parts), Ok(id));
    }
});
