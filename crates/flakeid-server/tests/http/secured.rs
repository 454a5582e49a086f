use std::net::TcpStream;
use std::sync::Arc;

use flakeid_server::{ServeOptions, TlsFiles, TlsSettings, Tokens};
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use rustls::crypto::ring::default_provider;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned};

use crate::client::{Client, TestServer, service};

#[test]
fn tokens_are_asked_for() {
    let tokens = Tokens::parse("0123456789abcdef\n").unwrap();
    let server = TestServer::new(service().tokens(tokens), ServeOptions::default());
    for (method, target) in [
        ("POST", "/v1/default/ids"),
        ("GET", "/v1/default/layout"),
        ("GET", "/metrics"),
        ("GET", "/openapi.json"),
        // Nor does it say which namespaces and methods there are.
        ("POST", "/v1/other/ids"),
        ("GET", "/v1/default/ids"),
    ] {
        for header in ["", "Authorization: Bearer 0123456789abcdeX\r\n", "Authorization: x\r\n"] {
            let refused = server.ask(method, target, header);
            assert_eq!(refused.status, 401, "{target}: {}", refused.text());
            assert!(refused.header("www-authenticate").is_some_and(|how| how.contains("Bearer")));
        }
    }
    let good = "Authorization: Bearer 0123456789abcdef\r\n";
    assert_eq!(server.ask("POST", "/v1/default/ids", good).ids().len(), 1);
    assert_eq!(server.ask("GET", "/livez", "").status, 200);
    assert_eq!(server.ask("GET", "/readyz", "").status, 200);
}

#[test]
fn connections_are_encrypted_and_clients_known() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let mut authority = CertificateParams::new(Vec::new()).unwrap();
    authority.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let authority = CertifiedIssuer::self_signed(authority, KeyPair::generate().unwrap()).unwrap();
    std::fs::write(path("ca.pem"), authority.pem()).unwrap();
    for name in ["server", "client"] {
        let key = KeyPair::generate().unwrap();
        let names = CertificateParams::new(vec!["localhost".to_owned()]).unwrap();
        let certificate = names.signed_by(&key, &authority).unwrap();
        std::fs::write(path(&format!("{name}.pem")), certificate.pem()).unwrap();
        std::fs::write(path(&format!("{name}.key")), key.serialize_pem()).unwrap();
    }
    let files = TlsFiles {
        certificate: path("server.pem"),
        key: path("server.key"),
        client_authorities: Some(path("ca.pem")),
    };
    let tls = TlsSettings::load(&files).unwrap();
    assert!(tls.verifies_clients());
    let options = ServeOptions { tls: Some(tls), ..ServeOptions::default() };
    let server = TestServer::new(service(), options);

    let connect = |shows: bool| {
        let mut roots = RootCertStore::empty();
        roots.add(CertificateDer::from_pem_file(path("ca.pem")).unwrap()).unwrap();
        let config = ClientConfig::builder_with_provider(Arc::new(default_provider()))
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_root_certificates(roots);
        let config = if shows {
            let certificate = CertificateDer::from_pem_file(path("client.pem")).unwrap();
            let key = PrivateKeyDer::from_pem_file(path("client.key")).unwrap();
            config.with_client_auth_cert(vec![certificate], key).unwrap()
        } else {
            config.with_no_client_auth()
        };
        let name = "localhost".try_into().unwrap();
        let connection = ClientConnection::new(Arc::new(config), name).unwrap();
        let stream = TcpStream::connect(server.address).unwrap();
        Client::new(StreamOwned::new(connection, stream))
    };
    let mut known = connect(true);
    assert_eq!(known.ask("POST", "/v1/default/ids?count=2", "").ids().len(), 2);
    let mut unknown = connect(false);
    drop(std::io::Write::write_all(&mut unknown.stream, b"GET /livez HTTP/1.1\r\nHost: x\r\n\r\n"));
    assert!(unknown.reply().is_none(), "without a certificate there is no answer");
    let mut clear = server.connect();
    drop(std::io::Write::write_all(&mut clear.stream, b"GET /livez HTTP/1.1\r\nHost: x\r\n\r\n"));
    assert!(clear.reply().is_none_or(|reply| reply.status != 200), "nothing in the clear");
}

#[test]
fn files_that_cannot_be_used_are_named() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    std::fs::write(path("empty.pem"), "").unwrap();
    let load = |certificate: &str, key: &str| {
        let (certificate, key) = (path(certificate), path(key));
        TlsSettings::load(&TlsFiles { certificate, key, client_authorities: None })
    };
    for (error, option) in [
        (load("missing.pem", "empty.pem").unwrap_err(), "tls-cert"),
        (load("empty.pem", "empty.pem").unwrap_err(), "tls-cert"),
    ] {
        let text = error.to_string();
        assert!(text.contains(option) && text.contains(".pem"), "{text}");
    }
}
