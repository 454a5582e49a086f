//! URLs of stores and brokers: no message contains the password.
#![no_main]

use flakeid_protocol::http::Brokers;
use flakeid_protocol::url::ServerUrl;
use flakeid_stores::Location;
use libfuzzer_sys::fuzz_target;

/// A password that messages cannot contain by accident.
const PASSWORD: &str = "c0rrecthorse";

fuzz_target!(|input: (&str, &str)| {
    let (before, after) = input;
    let with_password = format!("{before}://user:{PASSWORD}@{after}");
    for text in [before, after, &with_password] {
        let messages = [
            Location::parse(text)
                .map(|location| format!("{location:?}"))
                .map_err(|e| e.to_string()),
            ServerUrl::parse(text, &["region", "endpoint"])
                .map(|url| url.shown)
                .map_err(|fault| format!("{fault:?}")),
            Brokers::read(text, None, 0.5)
                .map(|(_, shown)| shown)
                .map_err(|fault| format!("{fault:?}")),
        ];
        // Messages contain the path of a file, which has no password.
        let is_file = ["sqlite:", "http+unix:"].iter().any(|scheme| before.starts_with(scheme));
        if text == with_password && !is_file {
            for message in messages.into_iter().map(|message| message.unwrap_or_else(|error| error))
            {
                assert!(!message.contains(PASSWORD), "{message}");
            }
        }
    }
});
