//! IDs in data formats.

#![allow(clippy::unwrap_used, clippy::panic)]

use flakeid_core::Id;
use serde_test::{Configure, Token, assert_de_tokens_error, assert_tokens};

#[test]
fn a_string_in_text_and_an_integer_in_binary() {
    for bits in [0, 1, 910_499_571_847_892_992, u64::MAX] {
        let id = Id::from_u64(bits);
        let text: &'static str = Box::leak(bits.to_string().into_boxed_str());
        assert_tokens(&id.readable(), &[Token::Str(text)]);
        assert_tokens(&id.compact(), &[Token::U64(bits)]);
        let json = serde_json::to_string(&id).unwrap();
        assert_eq!(json, format!("\"{bits}\""));
        assert_eq!(serde_json::from_str::<Id>(&json).unwrap(), id);
    }
}

#[test]
fn a_number_in_text_is_refused() {
    // It may have lost digits on its way through JavaScript, and nobody could tell.
    assert!(serde_json::from_str::<Id>("910499571847892992").is_err());
    assert_de_tokens_error::<serde_test::Readable<Id>>(
        &[Token::Str("18446744073709551616")],
        "\"18446744073709551616\" is not an ID in decimal: it is larger than the largest 64-bit \
         ID: must be from 0 to 18446744073709551615",
    );
}
