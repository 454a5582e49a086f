//! The JSON of lease requests and responses, which brokers and their clients read.
#![no_main]

use flakeid_core::Layout;
use flakeid_protocol::Token;
use flakeid_protocol::http::{AcquireJson, AnswerJson, HttpAnswer, ReleaseJson, RenewJson};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: (u16, u64, &str)| {
    let (status, node, text) = input;
    if let Ok(json) = serde_json::from_str::<AcquireJson>(text) {
        if let Ok(request) = json.to_request(&Layout::TWITTER, Token::from_bits(1)) {
            let again = AcquireJson::new(&request, request.waited_ms);
            let again = again.to_request(&Layout::TWITTER, Token::from_bits(1));
            assert_eq!(again.as_ref(), Ok(&request));
        }
    }
    if let Ok(json) = serde_json::from_str::<RenewJson>(text) {
        _ = json.to_request(node);
    }
    if let Ok(json) = serde_json::from_str::<ReleaseJson>(text) {
        _ = json.to_request(node);
    }
    let answer = HttpAnswer::new(status, text.into());
    _ = AnswerJson::read("http://broker", &answer);
});
