use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use flakeid_server::{Listener, ServeOptions, TlsFiles, TlsSettings, Tokens};
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use rustls::crypto::ring::default_provider;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned};

use tempfile::TempDir;

use crate::client::{Client, TestServer, service};

#[test]
fn http_requires_a_token_except_for_health_checks() {
    let tokens = Tokens::parse("0123456789abcdef\n").unwrap();
    let server = TestServer::new(service().tokens(tokens), ServeOptions::default());
    for (method, target) in [
        ("POST", "/v1/default/ids"),
        ("GET", "/v1/default/layout"),
        ("GET", "/metrics"),
        ("GET", "/openapi.json"),
        // Unknown namespaces and methods get the same error, so that the error does not reveal
        // which namespaces and methods exist.
        ("POST", "/v1/other/ids"),
        ("GET", "/v1/default/ids"),
    ] {
        for header in ["", "Authorization: Bearer 0123456789abcdeX\r\n", "Authorization: x\r\n"] {
            let refused = server.ask(method, target, header);
            assert_eq!(refused.status, 401, "{target}: {}", refused.text());
            assert!(
                refused.header("www-authenticate").is_some_and(|scheme| scheme.contains("Bearer"))
            );
        }
    }
    let good = "Authorization: Bearer 0123456789abcdef\r\n";
    assert_eq!(server.ask("POST", "/v1/default/ids", good).ids().len(), 1);
    assert_eq!(server.ask("GET", "/livez", "").status, 200);
    assert_eq!(server.ask("GET", "/readyz", "").status, 200);
}

/// A directory with the certificates of a certificate authority, a server and a client.
pub struct Certificates(TempDir);

impl Certificates {
    pub fn new() -> Self {
        Self::until(4_096)
    }

    pub fn expired() -> Self {
        Self::until(2_020)
    }

    /// Creates certificates that are valid until January 1 of the given year.
    fn until(year: i32) -> Self {
        let certificates = Self(tempfile::tempdir().unwrap());
        let mut authority = CertificateParams::new(Vec::new()).unwrap();
        authority.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let key = KeyPair::generate().unwrap();
        let authority = CertifiedIssuer::self_signed(authority, key).unwrap();
        std::fs::write(certificates.path("ca.pem"), authority.pem()).unwrap();
        for name in ["server", "client"] {
            let key = KeyPair::generate().unwrap();
            let mut names = CertificateParams::new(vec!["localhost".to_owned()]).unwrap();
            names.not_after = rcgen::date_time_ymd(year, 1, 1);
            let certificate = names.signed_by(&key, &authority).unwrap();
            let [pem, secret] = ["pem", "key"].map(|kind| format!("{name}.{kind}"));
            std::fs::write(certificates.path(&pem), certificate.pem()).unwrap();
            std::fs::write(certificates.path(&secret), key.serialize_pem()).unwrap();
        }
        certificates
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// Returns TLS settings for a server that requires client certificates.
    pub fn settings(&self) -> TlsSettings {
        let files = TlsFiles {
            certificate: self.path("server.pem"),
            key: self.path("server.key"),
            client_authorities: Some(self.path("ca.pem")),
        };
        TlsSettings::load(&files).unwrap()
    }

    /// Returns a TLS configuration for a client. The configuration includes a client certificate if
    /// `shows` is `true`.
    pub fn client(&self, shows: bool) -> ClientConfig {
        let mut roots = RootCertStore::empty();
        roots.add(CertificateDer::from_pem_file(self.path("ca.pem")).unwrap()).unwrap();
        let config = ClientConfig::builder_with_provider(Arc::new(default_provider()))
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_root_certificates(roots);
        if !shows {
            return config.with_no_client_auth();
        }
        let certificate = CertificateDer::from_pem_file(self.path("client.pem")).unwrap();
        let key = PrivateKeyDer::from_pem_file(self.path("client.key")).unwrap();
        config.with_client_auth_cert(vec![certificate], key).unwrap()
    }

    pub fn connect(
        &self,
        address: SocketAddr,
        shows: bool,
    ) -> StreamOwned<ClientConnection, TcpStream> {
        let name = "localhost".try_into().unwrap();
        let connection = ClientConnection::new(Arc::new(self.client(shows)), name).unwrap();
        let stream = TcpStream::connect(address).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        StreamOwned::new(connection, stream)
    }
}

#[test]
fn https_requires_a_client_certificate() {
    let certificates = Certificates::new();
    let tls = certificates.settings();
    assert!(tls.verifies_clients());
    let options = ServeOptions { tls: Some(tls), ..ServeOptions::default() };
    let server = TestServer::new(service(), options);
    let connect = |shows| Client::new(certificates.connect(server.address, shows));
    let mut known = connect(true);
    assert_eq!(known.ask("POST", "/v1/default/ids?count=2", "").ids().len(), 2);
    let mut unknown = connect(false);
    drop(unknown.stream.write_all(b"GET /livez HTTP/1.1\r\nHost: x\r\n\r\n"));
    assert!(unknown.reply().is_none(), "a client without a certificate must get no response");
    let mut clear = server.connect();
    drop(clear.stream.write_all(b"GET /livez HTTP/1.1\r\nHost: x\r\n\r\n"));
    assert!(
        clear.reply().is_none_or(|reply| reply.status != 200),
        "an unencrypted request must fail"
    );
}

#[test]
fn redis_over_tls_requires_a_client_certificate() {
    let certificates = Certificates::new();
    let resp = Some(Listener::Tcp("127.0.0.1:0".parse().unwrap()));
    let tls = Some(certificates.settings());
    let server = TestServer::new(service(), ServeOptions { tls, resp, ..ServeOptions::default() });
    let address = server.resp.unwrap();
    let reply_to = |mut stream: StreamOwned<ClientConnection, TcpStream>| {
        drop(stream.write_all(b"PING\r\nFLAKEID.NEXT default COUNT 3\r\nQUIT\r\n"));
        let mut reply = Vec::new();
        drop(stream.read_to_end(&mut reply));
        String::from_utf8(reply).unwrap()
    };
    let reply = reply_to(certificates.connect(address, true));
    let lines: Vec<_> = reply.split("\r\n").collect();
    assert_eq!((&lines[..2], &lines[lines.len() - 2..]), (&["+PONG", "*3"][..], &["+OK", ""][..]));
    let ids = lines.iter().filter(|line| line.parse::<u64>().is_ok_and(|id| id > 1 << 40));
    assert_eq!(ids.count(), 3, "{reply}");
    assert_eq!(
        reply_to(certificates.connect(address, false)),
        "",
        "a client without a certificate"
    );
    let mut clear = TcpStream::connect(address).unwrap();
    clear.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    drop(clear.write_all(b"PING\r\n"));
    let mut reply = Vec::new();
    drop(clear.read_to_end(&mut reply));
    assert!(!reply.starts_with(b"+PONG"), "an unencrypted command must fail");
}

#[test]
fn tls_errors_name_the_option_and_the_file() {
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
