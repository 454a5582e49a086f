use std::fs;

use flakeid_lease::store::Fault;
use flakeid_test_servers::EtcdServer;

use crate::client::{Authority, connect, leases};

#[test]
fn certificates_are_verified() {
    let authority = Authority::for_host("127.0.0.1");
    let server = EtcdServer::with_certificate(&authority.certificate, &authority.key);
    let files = tempfile::tempdir().unwrap();
    let file_of = |name: &str, text: &str| {
        let file = files.path().join(name);
        fs::write(&file, text).unwrap();
        file.display().to_string()
    };
    let right = file_of("right.pem", &authority.own);
    let wrong = file_of("wrong.pem", &Authority::for_host("127.0.0.1").own);
    let empty = file_of("empty.pem", "");
    let port = server.tls_port();
    let url = |host: &str, options: &str| format!("etcds://{host}:{port}/?{options}");
    leases(&url("127.0.0.1", &format!("tls-ca={right}")));
    for (url, reason) in [
        (url("localhost", &format!("tls-ca={right}")), "not valid for name"),
        (url("127.0.0.1", &format!("tls-ca={wrong}")), "invalid peer certificate"),
        (url("127.0.0.1", ""), "certificate"),
        (url("127.0.0.1", &format!("tls-ca={empty}")), "no certificate"),
        (url("127.0.0.1", "tls-ca=/nowhere.pem"), "/nowhere.pem"),
        (url("127.0.0.1", &format!("tls-ca={right}&tls-cert={right}")), "together"),
    ] {
        match connect(&url).map(drop) {
            Err(Fault::Rejected(text)) => assert!(text.contains(reason), "{text}"),
            other => panic!("{url}: {other:?}"),
        }
    }
}
