//! TLS: the server's certificate, and the authorities of client certificates.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use flakeid_core::Error;
use rustls::crypto::ring::default_provider;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::{NoClientAuth, WebPkiClientVerifier};
use rustls::{RootCertStore, ServerConfig};
use tokio_rustls::TlsAcceptor;

/// The files for TLS, in PEM.
#[derive(Clone, Debug)]
pub struct TlsFiles {
    /// The server's certificate, followed by the intermediate certificates.
    pub certificate: PathBuf,
    /// The private key of the server's certificate.
    pub key: PathBuf,
    /// The authorities that issue client certificates. If set, clients must present one; otherwise
    /// they present none.
    pub client_authorities: Option<PathBuf>,
}

/// The settings of a server for TLS 1.2 and 1.3.
#[derive(Clone)]
pub struct TlsSettings {
    pub(crate) acceptor: TlsAcceptor,
    verifies_clients: bool,
}

impl TlsSettings {
    /// Reads the files.
    ///
    /// # Errors
    /// [`InvalidOption`](flakeid_core::ErrorKind::InvalidOption) with the option and the file.
    pub fn load(files: &TlsFiles) -> Result<Self, Error> {
        let provider = Arc::new(default_provider());
        let certificates = certificates("tls-cert", &files.certificate)?;
        let key = PrivateKeyDer::from_pem_file(&files.key)
            .map_err(|error| unusable("tls-key", &files.key, &error))?;
        let verifier = match &files.client_authorities {
            None => Arc::new(NoClientAuth),
            Some(path) => {
                let refused = |error: &dyn fmt::Display| unusable("client-ca", path, error);
                let mut roots = RootCertStore::empty();
                for certificate in self::certificates("client-ca", path)? {
                    roots.add(certificate).map_err(|error| refused(&error))?;
                }
                let provider = Arc::clone(&provider);
                WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider)
                    .build()
                    .map_err(|error| refused(&error))?
            }
        };
        let config = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .map_err(|error| unusable("tls-cert", &files.certificate, &error))?
            .with_client_cert_verifier(verifier)
            .with_single_cert(certificates, key)
            .map_err(|error| unusable("tls-cert", &files.certificate, &error))?;
        let acceptor = TlsAcceptor::from(Arc::new(config));
        Ok(Self { acceptor, verifies_clients: files.client_authorities.is_some() })
    }

    /// Returns the same settings for HTTP/2, whose clients verify the protocol in the handshake.
    #[cfg(feature = "grpc")]
    pub(crate) fn for_http2(&self) -> Self {
        let mut config = ServerConfig::clone(self.acceptor.config());
        config.alpn_protocols = vec![b"h2".to_vec()];
        Self { acceptor: TlsAcceptor::from(Arc::new(config)), ..*self }
    }

    /// Whether clients must present a certificate.
    #[must_use]
    pub const fn verifies_clients(&self) -> bool {
        self.verifies_clients
    }
}

impl fmt::Debug for TlsSettings {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("TlsSettings")
            .field("verifies_clients", &self.verifies_clients)
            .finish_non_exhaustive()
    }
}

fn certificates(option: &'static str, path: &Path) -> Result<Vec<CertificateDer<'static>>, Error> {
    let read = CertificateDer::pem_file_iter(path).and_then(Iterator::collect::<Result<Vec<_>, _>>);
    let certificates = read.map_err(|error| unusable(option, path, &error))?;
    if certificates.is_empty() {
        return Err(unusable(option, path, &"it contains no certificate in PEM"));
    }
    Ok(certificates)
}

fn unusable(option: &'static str, path: &Path, error: &dyn fmt::Display) -> Error {
    Error::invalid_option(option, &format!("{} cannot be used: {error}", path.display()))
}
