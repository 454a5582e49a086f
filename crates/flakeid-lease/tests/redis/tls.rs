use std::fs;

use flakeid_lease::store::Fault;
use flakeid_test_servers::{RedisServer, free_port};

use crate::client::{Authority, connect, leases};

#[test]
fn certificates_are_verified() {
    let authority = Authority::for_host("127.0.0.1");
    let files = tempfile::tempdir().unwrap();
    let file_of = |name: &str, text: &str| {
        let file = files.path().join(name);
        fs::write(&file, text).unwrap();
        file.display().to_string()
    };
    let right = file_of("right.pem", &authority.own);
    let wrong = file_of("wrong.pem", &Authority::for_host("127.0.0.1").own);
    let (certificate, key) =
        (file_of("server.crt", &authority.certificate), file_of("server.key", &authority.key));
    let port = free_port();
    // Redis asks for the clients' certificates by default.
    let settings = [
        "--tls-port",
        &port.to_string(),
        "--tls-cert-file",
        &certificate,
        "--tls-key-file",
        &key,
        "--tls-ca-cert-file",
        &right,
    ];
    let _server = RedisServer::with(&settings);
    let url = |host: &str, options: &str| {
        format!("rediss://:{}@{host}:{port}/0?{options}", RedisServer::PASSWORD)
    };
    let own = format!("tls-cert={certificate}&tls-key={key}");
    leases(&url("127.0.0.1", &format!("tls-ca={right}&{own}")));
    for (url, reason) in [
        (url("localhost", &format!("tls-ca={right}&{own}")), "not valid for name"),
        (url("127.0.0.1", &format!("tls-ca={wrong}&{own}")), "invalid peer certificate"),
        (url("127.0.0.1", &own), "invalid peer certificate"),
        (url("127.0.0.1", &format!("tls-ca={right}")), "fatal alert"),
        (url("127.0.0.1", "tls-ca=/nowhere.pem"), "/nowhere.pem"),
        (url("127.0.0.1", &format!("tls-ca={right}&tls-key={key}")), "together"),
        (format!("{}#insecure", url("127.0.0.1", "").trim_end_matches('?')), "insecure"),
    ] {
        match connect(&url).map(drop) {
            Err(Fault::Rejected(text)) => {
                assert!(text.contains(reason) && !text.contains(RedisServer::PASSWORD), "{text}");
            }
            other => panic!("{url}: {other:?}"),
        }
    }
}
