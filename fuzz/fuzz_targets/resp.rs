//! Commands from Redis clients: a command does not extend beyond the input, and its beginning is not another command.
#![no_main]

use libfuzzer_sys::fuzz_target;

#[allow(dead_code, reason = "the server uses more of the parser")]
#[path = "../../crates/flakeid-server/src/resp/request.rs"]
mod request;

fuzz_target!(|input: &[u8]| {
    if let Ok(Some(request)) = request::parse(input) {
        assert!((1..=input.len()).contains(&request.length));
        let command = &input[..request.length];
        assert_eq!(request::parse(command), Ok(Some(request)));
    }
});
