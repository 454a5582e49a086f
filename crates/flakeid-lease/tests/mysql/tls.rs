use flakeid_lease::store::{Fault, operations};
use flakeid_test_servers::MariadbServer;

use crate::client::{Authority, connect, fresh_namespace, request};

#[test]
fn certificates_are_verified() {
    let authority = Authority::for_host("127.0.0.1");
    let server = MariadbServer::with_certificate(&authority.certificate, &authority.key);
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
        let url = server.url_of("flakeid", MariadbServer::PASSWORD, "ids", options);
        url.replace("127.0.0.1", host)
    };
    let full = |root: &str| format!("?ssl-mode=verify_identity&ssl-ca={root}");

    // Who gets in does so encrypted.
    server.sql("ALTER USER flakeid REQUIRE SSL").unwrap();
    let mut store = connect(&url("127.0.0.1", &full(&right))).unwrap();
    let namespace = fresh_namespace("tls");
    operations::init(&mut *store, &namespace).unwrap();
    operations::acquire(&mut *store, &namespace.name, &request(&namespace)).unwrap();
    let plain = connect(&url("127.0.0.1", "?ssl-mode=disabled")).map(drop);
    assert!(matches!(plain, Err(Fault::Rejected(_))), "{plain:?}");
    server.sql("ALTER USER flakeid REQUIRE NONE").unwrap();
    for options in ["", "?ssl-mode=preferred", "?ssl-mode=required", "?ssl-mode=disabled"] {
        connect(&url("127.0.0.1", options)).map(drop).unwrap();
    }
    let percent = right.replace('/', "%2F");
    connect(&url("127.0.0.1", &full(&percent))).map(drop).unwrap();

    for (host, options, reason) in [
        ("localhost", full(&right), "not valid for name"),
        ("127.0.0.1", full(&wrong), "invalid peer certificate"),
        ("127.0.0.1", format!("?ssl-mode=verify_ca&ssl-ca={right}"), "verify_identity"),
        ("127.0.0.1", format!("?ssl-mode=required&ssl-ca={right}"), "verify_identity"),
        ("127.0.0.1", format!("?ssl-ca={right}"), "verify_identity"),
        ("127.0.0.1", "?ssl-mode=verify_identity".into(), "certificate"),
        ("127.0.0.1", full(&empty), "holds no certificate"),
        ("127.0.0.1", full("/nowhere.pem"), "/nowhere.pem"),
        ("127.0.0.1", "?ssl-mode=sometimes".into(), "ssl-mode must be"),
    ] {
        match connect(&url(host, &options)).map(drop) {
            Err(Fault::Rejected(text)) => assert!(text.contains(reason), "{options}: {text}"),
            other => panic!("{options}: {other:?}"),
        }
    }
}

#[test]
fn tls_that_is_required_is_not_done_without() {
    let server = MariadbServer::new();
    for mode in ["required", "verify_identity"] {
        let options = format!("?ssl-mode={mode}");
        let url = server.url_of("flakeid", MariadbServer::PASSWORD, "ids", &options);
        match connect(&url).map(drop) {
            Err(Fault::Rejected(text)) => {
                assert!(text.contains("SSL") || text.contains("trusts"), "{text}");
            }
            other => panic!("{mode}: {other:?}"),
        }
    }
}
