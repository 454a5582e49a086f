use std::fs;

use flakeid_protocol::store::Fault;
use flakeid_test_servers::{RedisSentinel, RedisSentinels, RedisServer, free_port};
use tempfile::TempDir;

use crate::client::{Authority, connect, leases};

/// The paths of four files: a server's certificate and key, the certificate of the server's authority, and the
/// certificate of another authority.
struct Files {
    right: String,
    wrong: String,
    certificate: String,
    key: String,
    _directory: TempDir,
}

impl Files {
    fn new() -> Self {
        let authority = Authority::for_host("127.0.0.1");
        let directory = tempfile::tempdir().unwrap();
        let file_of = |name: &str, text: &str| {
            let file = directory.path().join(name);
            fs::write(&file, text).unwrap();
            file.display().to_string()
        };
        Self {
            right: file_of("right.pem", &authority.own),
            wrong: file_of("wrong.pem", &Authority::for_host("127.0.0.1").own),
            certificate: file_of("server.crt", &authority.certificate),
            key: file_of("server.key", &authority.key),
            _directory: directory,
        }
    }
}

#[test]
fn server_certificates_are_verified() {
    let Files { right, wrong, certificate, key, .. } = &Files::new();
    let port = free_port();
    // Redis requires client certificates by default.
    let settings = [
        "--tls-port",
        &port.to_string(),
        "--tls-cert-file",
        certificate,
        "--tls-key-file",
        key,
        "--tls-ca-cert-file",
        right,
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

/// Checks that the client verifies the certificate of a sentinel, and the certificate of the server that the sentinel
/// reports.
#[test]
fn certificates_of_sentinels_and_their_servers_are_verified() {
    let Files { right, wrong, certificate, key, .. } = &Files::new();
    let (server_port, sentinel_port) = (free_port().to_string(), free_port().to_string());
    let settings = |port| {
        [
            ("tls-port", port),
            ("tls-cert-file", certificate.as_str()),
            ("tls-key-file", key.as_str()),
            ("tls-ca-cert-file", right.as_str()),
            ("tls-auth-clients", "no"),
            // With this setting, a sentinel connects to servers over TLS.
            ("tls-replication", "yes"),
        ]
    };
    let words = settings(&*server_port).map(|(name, value)| [format!("--{name}"), value.into()]);
    let words: Vec<&str> = words.iter().flatten().map(String::as_str).collect();
    let _server = RedisServer::with(&words);
    let watched = server_port.parse().unwrap();
    let _sentinel = RedisSentinel::watching(watched, &settings(&*sentinel_port));
    let url = |host: &str, ca: &str| {
        format!(
            "rediss+sentinel://:{}@{host}:{sentinel_port}/{}?sentinel-password={}&tls-ca={ca}",
            RedisServer::PASSWORD,
            RedisSentinels::SERVICE,
            RedisSentinels::PASSWORD
        )
    };
    leases(&url("127.0.0.1", right));
    for (url, reason) in [
        (url("127.0.0.1", wrong), "invalid peer certificate"),
        (url("localhost", right), "not valid for name"),
    ] {
        let fault = connect(&url).map(drop).unwrap_err();
        assert!(matches!(&fault, Fault::Rejected(text) if text.contains(reason)), "{fault:?}");
    }
}
