//! Tests of replacing tokens and certificates while the server runs.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::thread::sleep;
use std::time::{Duration, Instant};

use flakeid_server::{Listener, ServeOptions, TlsFiles, TlsSettings, Tokens};

use crate::client::{Client, TestServer, service};
use crate::secured::Certificates;

/// The timeout until the server uses a changed file. It is long, because the machine may be busy.
const LIMIT: Duration = Duration::from_secs(60);

/// Replaces a file atomically, as orchestrators do, so that no reader sees a partial file.
fn replace(path: &Path, content: impl AsRef<[u8]>) {
    let new = path.with_extension("new");
    std::fs::write(&new, content).unwrap();
    std::fs::rename(new, path).unwrap();
}

/// Waits until `check` succeeds, or panics after [`LIMIT`].
fn eventually(mut check: impl FnMut() -> bool) {
    let began = Instant::now();
    while !check() {
        assert!(began.elapsed() < LIMIT, "the new file is not in use after {LIMIT:?}");
        sleep(Duration::from_millis(50));
    }
}

#[test]
fn new_tokens_take_effect_without_closing_connections() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("tokens");
    std::fs::write(&file, "old all 0123456789abcdef\n").unwrap();
    let resp = Some(Listener::Tcp("127.0.0.1:0".parse().unwrap()));
    let service = service().tokens(Tokens::load(&file).unwrap());
    let server = TestServer::new(service, ServeOptions { resp, ..ServeOptions::default() });
    let [old, new] = ["0123456789abcdef", "fedcba9876543210"]
        .map(|token| format!("Authorization: Bearer {token}\r\n"));
    let status = |header: &str| server.ask("POST", "/v1/default/ids", header).status;
    assert_eq!((status(&old), status(&new)), (200, 401));
    let mut kept = server.connect();
    assert_eq!(kept.ask("POST", "/v1/default/ids", &old).status, 200);
    let mut redis = TcpStream::connect(server.resp.unwrap()).unwrap();
    let mut redis = |sent: &str| {
        redis.write_all(sent.as_bytes()).unwrap();
        let mut reply = [0; 200];
        let count = redis.read(&mut reply).unwrap();
        String::from_utf8_lossy(&reply[..count]).into_owned()
    };
    assert_eq!(redis("AUTH 0123456789abcdef\r\n"), "+OK\r\n");

    replace(&file, "an invalid line\n");
    let metrics = |header: &str| server.ask("GET", "/metrics", header);
    let refused = "flakeid_reloads_total{files=\"tokens\",code=\"FLAKEID_INVALID_OPTION\"} 1";
    eventually(|| metrics(&old).text().contains(refused));
    assert_eq!(status(&old), 200, "an invalid file must not replace the tokens");
    replace(&file, "new all fedcba9876543210\n");
    eventually(|| status(&new) == 200);
    assert_eq!(status(&old), 401, "a revoked token must be refused");
    assert_eq!(kept.ask("POST", "/v1/default/ids", &new).status, 200, "the connection is kept");
    assert!(redis("INCR default\r\n").starts_with("-NOAUTH"), "AUTH must be repeated");
    let metrics = metrics(&new);
    for line in ["flakeid_reloads_total{files=\"tokens\",code=\"OK\"} 1", refused] {
        assert!(metrics.text().contains(line), "{}", metrics.text());
    }
}

#[test]
fn new_certificates_take_effect_without_closing_connections() {
    let (first, second) = (Certificates::new(), Certificates::new());
    let folder = tempfile::tempdir().unwrap();
    let names = ["server.pem", "server.key", "ca.pem"];
    let install = |certificates: &Certificates, names: &[&str]| {
        for name in names {
            let content = std::fs::read(certificates.path(name)).unwrap();
            replace(&folder.path().join(name), content);
        }
    };
    install(&first, &names);
    let [certificate, key, authorities] = names.map(|name| folder.path().join(name));
    let files = TlsFiles { certificate, key, client_authorities: Some(authorities) };
    let tls = Some(TlsSettings::load(&files).unwrap());
    let server = TestServer::new(service(), ServeOptions { tls, ..ServeOptions::default() });
    let is_served = |certificates: &Certificates| {
        let mut stream = certificates.connect(server.address, true);
        // The TLS handshake fails if either side does not trust the other side's certificate.
        stream.write_all(b"GET /livez HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n").is_ok()
            && stream.read(&mut [0; 16]).is_ok_and(|count| count > 0)
    };
    assert!(is_served(&first) && !is_served(&second));
    let mut kept = Client::new(first.connect(server.address, true));
    assert_eq!(kept.ask("POST", "/v1/default/ids", "").status, 200);

    install(&second, &["server.pem"]);
    let failed = "flakeid_reloads_total{files=\"certificates\",code=\"FLAKEID_INVALID_OPTION\"} 1";
    eventually(|| kept.ask("GET", "/metrics", "").text().contains(failed));
    assert!(is_served(&first), "a certificate without its key must not replace the earlier one");
    install(&second, &names);
    eventually(|| is_served(&second));
    assert!(!is_served(&first), "a certificate of the earlier authority must be refused");
    assert_eq!(kept.ask("POST", "/v1/default/ids", "").status, 200, "the connection is kept");
    let metrics = kept.ask("GET", "/metrics", "");
    let name = "flakeid_certificate_not_after_timestamp_seconds ";
    let end = metrics.text().lines().find_map(|line| line.strip_prefix(name)).unwrap();
    assert!(end.parse::<f64>().unwrap() > 1.8e9, "{end}");
}

#[test]
fn tls_settings_reject_an_expired_certificate() {
    let certificates = Certificates::expired();
    let files = TlsFiles {
        certificate: certificates.path("server.pem"),
        key: certificates.path("server.key"),
        client_authorities: None,
    };
    let error = TlsSettings::load(&files).unwrap_err().to_string();
    assert!(error.contains("tls-cert") && error.contains("has expired"), "{error}");
}
