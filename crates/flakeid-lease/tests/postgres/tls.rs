use flakeid_lease::store::{Fault, operations};
use flakeid_test_servers::PostgresServer;

use crate::client::{Authority, connect, fresh_namespace, request};

#[test]
fn certificates_are_verified() {
    let authority = Authority::for_host("127.0.0.1");
    let server = PostgresServer::with_certificate(&authority.certificate, &authority.key);
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
        let url = server.url_of("flakeid", PostgresServer::PASSWORD, "ids", options);
        url.replace("127.0.0.1", host)
    };
    let full = |root: &str| format!("?sslmode=verify-full&sslrootcert={root}");

    let mut store = connect(&url("127.0.0.1", &full(&right))).unwrap();
    let namespace = fresh_namespace("tls");
    operations::init(&mut *store, &namespace).unwrap();
    operations::acquire(&mut *store, &namespace.name, &request(&namespace)).unwrap();
    let encrypted = "SELECT bool_and(ssl) FROM pg_stat_ssl JOIN pg_stat_activity USING (pid) \
         WHERE usename = 'flakeid'";
    assert_eq!(server.sql(encrypted).unwrap(), "t");

    for options in ["", "?sslmode=prefer", "?sslmode=require", "?sslmode=disable"] {
        connect(&url("127.0.0.1", options)).map(drop).unwrap();
    }
    let any_host = format!("?sslmode=verify-ca&sslrootcert={right}");
    connect(&url("localhost", &any_host)).map(drop).unwrap();
    let percent = right.replace('/', "%2F");
    connect(&url("127.0.0.1", &full(&percent))).map(drop).unwrap();

    for (host, options, reason) in [
        ("localhost", full(&right), "not valid for name"),
        ("127.0.0.1", full(&wrong), "invalid peer certificate"),
        ("127.0.0.1", format!("?sslmode=verify-ca&sslrootcert={wrong}"), "invalid peer"),
        ("127.0.0.1", format!("?sslmode=require&sslrootcert={wrong}"), "invalid peer"),
        ("127.0.0.1", "?sslmode=verify-full".into(), "certificate"),
        ("127.0.0.1", full(&empty), "holds no certificate"),
        ("127.0.0.1", full("/nowhere.pem"), "/nowhere.pem"),
        ("127.0.0.1", "?sslmode=require&sslrootcert=system".into(), "verify-full"),
        ("127.0.0.1", "?sslmode=sometimes".into(), "sslmode must be"),
    ] {
        match connect(&url(host, &options)).map(drop) {
            Err(Fault::Rejected(text)) => assert!(text.contains(reason), "{options}: {text}"),
            other => panic!("{options}: {other:?}"),
        }
    }
}

#[test]
fn tls_that_is_required_is_not_done_without() {
    let server = PostgresServer::new();
    for mode in ["require", "verify-ca", "verify-full"] {
        let options = format!("?sslmode={mode}");
        let url = server.url_of("flakeid", PostgresServer::PASSWORD, "ids", &options);
        match connect(&url).map(drop) {
            Err(Fault::Rejected(text)) => {
                assert!(text.contains("TLS") || text.contains("trusts"), "{text}");
            }
            other => panic!("{mode}: {other:?}"),
        }
    }
}
