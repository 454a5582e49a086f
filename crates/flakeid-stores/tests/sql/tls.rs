//! Tests of the TLS options in the URL of a store.

use flakeid_protocol::store::Fault;

use super::SqlServer;
use crate::client::{Authority, connect, fresh_namespace, request};
use crate::operations;

pub(crate) fn server_certificate_is_verified<S: SqlServer>() {
    let authority = Authority::for_host("127.0.0.1");
    let server = S::with_certificate(&authority.certificate, &authority.key);
    let files = tempfile::tempdir().unwrap();
    let file_of = |name: &str, text: &str| {
        let file = files.path().join(name);
        std::fs::write(&file, text).unwrap();
        file.display().to_string()
    };
    let right = file_of("right.pem", &authority.own);
    let wrong = file_of("wrong.pem", &Authority::for_host("127.0.0.1").own);
    let empty = file_of("empty.pem", "");
    let url = |host: &str, options: &str| {
        server.url_of("flakeid", S::PASSWORD, "ids", options).replace("127.0.0.1", host)
    };
    let full = |root: &str| format!("?{}&{}={root}", S::VERIFY_HOST, S::AUTHORITIES);

    let mut store = connect(&url("127.0.0.1", &full(&right))).unwrap();
    let namespace = fresh_namespace("tls");
    operations::init(&mut *store, &namespace).unwrap();
    operations::acquire(&mut *store, &namespace.name, &request(&namespace)).unwrap();
    server.check_encryption(&url("127.0.0.1", &full(&right)), &url("127.0.0.1", S::NO_TLS));
    drop(store);

    for options in S::UNVERIFIED.iter().chain([&S::NO_TLS]) {
        connect(&url("127.0.0.1", options)).map(drop).unwrap();
    }
    let percent = right.replace('/', "%2F");
    connect(&url("127.0.0.1", &full(&percent))).map(drop).unwrap();

    let mut cases = vec![
        ("localhost", full(&right), "not valid for name"),
        ("127.0.0.1", full(&wrong), "invalid peer certificate"),
        ("127.0.0.1", format!("?{}", S::VERIFY_HOST), "certificate"),
        ("127.0.0.1", full(&empty), "contains no certificate"),
        ("127.0.0.1", full("/nowhere.pem"), "/nowhere.pem"),
    ];
    cases.extend(S::BAD_TLS.iter().map(|(options, reason)| {
        let options = options.replace("{right}", &right).replace("{wrong}", &wrong);
        ("127.0.0.1", options, *reason)
    }));
    for (host, options, reason) in cases {
        match connect(&url(host, &options)).map(drop) {
            Err(Fault::Rejected(text)) => assert!(text.contains(reason), "{options}: {text}"),
            other => panic!("{options}: {other:?}"),
        }
    }
}

pub(crate) fn connection_without_required_tls_is_rejected<S: SqlServer>() {
    let server = S::without_tls();
    for options in S::REQUIRED {
        match connect(&server.url_of("flakeid", S::PASSWORD, "ids", options)).map(drop) {
            Err(Fault::Rejected(text)) => {
                assert!(text.contains(S::TLS_MISSING) || text.contains("trusts"), "{text}");
            }
            other => panic!("{options}: {other:?}"),
        }
    }
}
