//! Query parameters of requests to the server.
#![no_main]

use libfuzzer_sys::fuzz_target;

#[path = "../../crates/flakeid-server/src/query.rs"]
mod query;

fuzz_target!(|input: (u64, u64, &str)| {
    let (min, max, text) = input;
    if let Ok([count, from]) = query::parameters(Some(text), ["count", "from"]) {
        for value in [count, from].into_iter().flatten() {
            if let Ok(number) = query::number("count", &value, min, max) {
                assert!((min..=max).contains(&number));
            }
        }
    }
});
