//! Tests that no connection error contains any part of a password, regardless of the characters in the password.

use std::sync::Arc;

use flakeid_core::{Clock, SystemClock};
use flakeid_protocol::store::Fault;
use flakeid_stores::Location;
use flakeid_test_servers::free_port;

const SCHEMES: [&str; 10] = [
    "postgresql",
    "postgres",
    "mysql",
    "mariadb",
    "redis",
    "rediss",
    "redis+sentinel",
    "rediss+sentinel",
    "etcd",
    "etcds",
];

/// The parts of each test password before and after a special character. No error message may contain either part.
/// One of the passwords begins with digits that look like a port number.
const HALVES: [(&str, &str); 3] =
    [("fir5t", "s3cond"), ("31415", "s3cond"), ("fir5t", "n0thing=s3cond&more")];

fn fault_of(url: &str) -> Fault {
    let clock: Arc<dyn Clock> = Arc::new(SystemClock);
    Location::parse(url).unwrap().connect(&clock).map(drop).expect_err(url)
}

#[test]
fn passwords_with_special_characters_never_appear_in_errors() {
    let host = format!("127.0.0.1:{}", free_port());
    let several = format!("{host},127.0.0.1:{}", free_port());
    for (scheme, hosts) in SCHEMES.iter().flat_map(|scheme| [(scheme, &host), (scheme, &several)]) {
        let path = match *scheme {
            "redis" | "rediss" => "0",
            "redis+sentinel" | "rediss+sentinel" => "ids/0",
            "etcd" | "etcds" => "",
            _ => "ids",
        };
        for character in ["/", "?", "#", "@", ":", "%", "&", ",", "?#/@"] {
            let codes: Vec<_> = character.bytes().map(|byte| format!("%{byte:02X}")).collect();
            let encoded = codes.concat();
            for (first, second) in HALVES {
                for between in [character, &encoded] {
                    let url = format!("{scheme}://user:{first}{between}{second}@{hosts}/{path}");
                    check(&url, [first, "s3cond", "n0thing"]);
                }
            }
            // The URL is valid because the password is percent-encoded, so only the connection fails.
            let url = format!("{scheme}://user:fir5t{encoded}s3cond@{hosts}/{path}");
            let fault = fault_of(&url);
            assert!(matches!(fault, Fault::Unavailable(_)), "{url}: {fault:?}");
            assert!(fault.to_string().contains(&host), "{url}: {fault:?}");
        }
    }
}

fn check(url: &str, secrets: [&str; 3]) {
    let location = Location::parse(url).unwrap();
    let fault = fault_of(url);
    let shown = [location.to_string(), format!("{location:?}"), format!("{fault} {fault:?}")];
    for (text, secret) in shown.iter().flat_map(|text| secrets.map(|secret| (text, secret))) {
        assert!(!text.contains(secret), "{url}: {text}");
    }
}
