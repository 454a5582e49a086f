//! Loads the server's TLS certificate and private key, and the CA certificates that are used to verify client
//! certificates.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError, RwLock};

use flakeid_core::{Clock, Error, SystemClock};
use rustls::crypto::ring::default_provider;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::{NoClientAuth, WebPkiClientVerifier};
use rustls::{RootCertStore, ServerConfig};
use tokio_rustls::TlsAcceptor;
use x509_cert::Certificate;
use x509_cert::der::Decode;
use x509_cert::ext::pkix::SubjectAltName;
use x509_cert::ext::pkix::name::GeneralName;

use crate::files::{self, unusable};

/// The certificate and key files for TLS, in PEM format.
///
/// ```
/// use flakeid_server::{TlsFiles, TlsSettings};
///
/// let (certificate, key) = ("missing.pem".into(), "missing.key".into());
/// let files = TlsFiles { certificate, key, client_authorities: None };
/// assert!(TlsSettings::load(&files).is_err());
/// ```
#[derive(Clone, Debug)]
pub struct TlsFiles {
    /// The file that contains the server's certificate, followed by the intermediate certificates.
    pub certificate: PathBuf,
    /// The file that contains the private key of the server's certificate.
    pub key: PathBuf,
    /// The file that contains the certificates of the authorities that issue client certificates. If this field is
    /// `None`, the server does not request client certificates. Otherwise, each client must present a certificate.
    pub client_authorities: Option<PathBuf>,
}

/// A server's settings for TLS 1.2 and 1.3. A running [`Server`](crate::Server) reloads the certificate and key files
/// when the files change.
///
/// ```
/// use flakeid_server::{ServeOptions, TlsFiles, TlsSettings};
///
/// # fn serve(files: &TlsFiles) -> Result<(), flakeid_core::Error> {
/// let options = ServeOptions { tls: Some(TlsSettings::load(files)?), ..ServeOptions::default() };
/// # drop(options);
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct TlsSettings {
    files: TlsFiles,
    loaded: Arc<RwLock<Arc<Loaded>>>,
    /// Whether TLS handshakes with these settings offer HTTP/2.
    is_http2: bool,
}

/// The settings from one successful load of the certificate and key files.
struct Loaded {
    contents: Contents,
    acceptor: TlsAcceptor,
    /// The TLS acceptor that offers HTTP/2.
    #[cfg_attr(not(feature = "grpc"), expect(dead_code, reason = "only gRPC uses HTTP/2"))]
    http2: TlsAcceptor,
    /// The time at which the certificate expires, in seconds since 1970.
    not_after: i64,
}

/// The contents of the certificate and key files.
#[derive(PartialEq, Eq)]
struct Contents {
    certificate: Vec<u8>,
    key: Vec<u8>,
    client_authorities: Option<Vec<u8>>,
}

impl Contents {
    fn read(files: &TlsFiles) -> Result<Self, Error> {
        let read = |option: &'static str, path: &Path| {
            std::fs::read(path).map_err(|error| unusable(option, path, &error))
        };
        let authorities = files.client_authorities.as_deref();
        Ok(Self {
            certificate: read("tls-cert", &files.certificate)?,
            key: files::read_secret("tls-key", &files.key)?,
            client_authorities: authorities.map(|path| read("client-ca", path)).transpose()?,
        })
    }
}

impl Loaded {
    fn new(files: &TlsFiles, contents: Contents) -> Result<Self, Error> {
        let provider = Arc::new(default_provider());
        let chain = certificates("tls-cert", &files.certificate, &contents.certificate)?;
        let refused = |error: &dyn fmt::Display| unusable("tls-cert", &files.certificate, error);
        let not_after = not_after(&chain).map_err(|error| refused(&error))?;
        if not_after <= SystemClock.unix_ms() / 1_000 {
            return Err(refused(&"the certificate has expired"));
        }
        let key = PrivateKeyDer::from_pem_slice(&contents.key)
            .map_err(|error| unusable("tls-key", &files.key, &error))?;
        let verifier = match (&files.client_authorities, &contents.client_authorities) {
            (Some(path), Some(pem)) => {
                let refused = |error: &dyn fmt::Display| unusable("client-ca", path, error);
                let mut roots = RootCertStore::empty();
                for certificate in certificates("client-ca", path, pem)? {
                    roots.add(certificate).map_err(|error| refused(&error))?;
                }
                let provider = Arc::clone(&provider);
                WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider)
                    .build()
                    .map_err(|error| refused(&error))?
            }
            _ => Arc::new(NoClientAuth),
        };
        let config = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .map_err(|error| refused(&error))?
            .with_client_cert_verifier(verifier)
            .with_single_cert(chain, key)
            .map_err(|error| refused(&error))?;
        // Clients detect HTTP/2 support during the TLS handshake, so the handshake must offer HTTP/2.
        let mut http2 = config.clone();
        http2.alpn_protocols = vec![b"h2".to_vec()];
        let [acceptor, http2] = [config, http2].map(|config| TlsAcceptor::from(Arc::new(config)));
        Ok(Self { contents, acceptor, http2, not_after })
    }
}

impl TlsSettings {
    /// Loads the settings from the certificate and key files.
    ///
    /// # Errors
    /// An [`InvalidOption`](flakeid_core::ErrorKind::InvalidOption) error that names the option and the file. The error
    /// occurs if a file is unreadable or invalid, the certificate has expired, or every user of the host can change the
    /// key file.
    pub fn load(files: &TlsFiles) -> Result<Self, Error> {
        let loaded = Loaded::new(files, Contents::read(files)?)?;
        let loaded = Arc::new(RwLock::new(Arc::new(loaded)));
        Ok(Self { files: files.clone(), loaded, is_http2: false })
    }

    /// Loads the certificate and key files again if their contents have changed, and returns whether they have changed.
    /// After an error, the previous settings remain in use.
    pub(crate) fn reload(&self) -> Result<bool, Error> {
        let contents = Contents::read(&self.files)?;
        if contents == self.loaded().contents {
            return Ok(false);
        }
        let loaded = Arc::new(Loaded::new(&self.files, contents)?);
        *self.loaded.write().unwrap_or_else(PoisonError::into_inner) = loaded;
        Ok(true)
    }

    fn loaded(&self) -> Arc<Loaded> {
        Arc::clone(&self.loaded.read().unwrap_or_else(PoisonError::into_inner))
    }

    pub(crate) fn acceptor(&self) -> TlsAcceptor {
        let loaded = self.loaded();
        #[cfg(feature = "grpc")]
        if self.is_http2 {
            return loaded.http2.clone();
        }
        loaded.acceptor.clone()
    }

    /// Returns the time at which the certificate expires, in seconds since 1970.
    pub(crate) fn not_after(&self) -> i64 {
        self.loaded().not_after
    }

    /// Returns a copy of the settings with HTTP/2 enabled.
    #[cfg(feature = "grpc")]
    pub(crate) fn for_http2(&self) -> Self {
        Self { is_http2: true, ..self.clone() }
    }

    /// Whether clients must present a certificate.
    #[must_use]
    pub const fn verifies_clients(&self) -> bool {
        self.files.client_authorities.is_some()
    }
}

impl fmt::Debug for TlsSettings {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("TlsSettings")
            .field("files", &self.files)
            .field("is_http2", &self.is_http2)
            .finish_non_exhaustive()
    }
}

fn certificates(
    option: &'static str,
    path: &Path,
    pem: &[u8],
) -> Result<Vec<CertificateDer<'static>>, Error> {
    let read = CertificateDer::pem_slice_iter(pem).collect::<Result<Vec<_>, _>>();
    let certificates = read.map_err(|error| unusable(option, path, &error))?;
    if certificates.is_empty() {
        return Err(unusable(option, path, &"the file contains no PEM certificate"));
    }
    Ok(certificates)
}

/// Returns the time at which the first certificate of a chain expires, in seconds since 1970.
fn not_after(chain: &[CertificateDer<'_>]) -> Result<i64, String> {
    let first = chain.first().ok_or("the file contains no PEM certificate")?;
    let certificate = Certificate::from_der(first).map_err(|error| error.to_string())?;
    let expires = certificate.tbs_certificate.validity.not_after.to_unix_duration();
    Ok(i64::try_from(expires.as_secs()).unwrap_or(i64::MAX))
}

/// Returns the DNS names, URIs and email addresses in a client's certificate.
pub(crate) fn names(certificate: &CertificateDer<'_>) -> Vec<String> {
    let Ok(certificate) = Certificate::from_der(certificate) else {
        return Vec::new();
    };
    let Ok(Some((_, SubjectAltName(alternatives)))) = certificate.tbs_certificate.get() else {
        return Vec::new();
    };
    // The token file does not state the kind of a name, so a name counts only if it has the form of its kind.
    let names = alternatives.into_iter().filter_map(|name| match name {
        GeneralName::DnsName(name) if !name.as_str().contains([':', '@']) => {
            Some(name.as_str().to_ascii_lowercase())
        }
        GeneralName::UniformResourceIdentifier(name) if name.as_str().contains(':') => {
            Some(name.to_string())
        }
        GeneralName::Rfc822Name(name)
            if name.as_str().contains('@') && !name.as_str().contains(':') =>
        {
            Some(name.to_string())
        }
        _ => None,
    });
    names.collect()
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use rcgen::{CertificateParams, KeyPair, SanType};

    use super::*;

    #[test]
    fn name_of_one_kind_never_passes_for_a_name_of_another_kind() {
        let mut params = CertificateParams::default();
        let [workers, spiffe, mail] = ["workers", "spiffe://x/y", "a@b.example"];
        for san in [workers, spiffe, mail] {
            params.subject_alt_names.extend([
                SanType::DnsName(san.try_into().unwrap()),
                SanType::URI(san.try_into().unwrap()),
                SanType::Rfc822Name(san.try_into().unwrap()),
            ]);
        }
        let certificate = params.self_signed(&KeyPair::generate().unwrap()).unwrap();
        assert_eq!(names(certificate.der()), [workers, spiffe, mail]);
    }
}
