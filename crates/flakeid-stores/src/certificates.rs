//! The certificates for TLS connections to servers: trusted certificates and client certificates.

use rustls::crypto::{CryptoProvider, ring};
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
#[cfg(feature = "requests")]
use ureq::tls::{Certificate, ClientCert, RootCerts, TlsConfig};

use crate::url::file;
use flakeid_protocol::store::Fault;
use flakeid_protocol::url::ServerUrl;

/// Returns the certificates in the PEM file that an option names. If the option is not set, returns the certificates
/// that the system trusts.
///
/// # Errors
/// [`Fault::Rejected`], with the name of the option, if the file is unusable, or if there are no certificates.
pub(super) fn trusted_certificates(
    url: &ServerUrl<'_>,
    option: &str,
) -> Result<Vec<CertificateDer<'static>>, Fault> {
    match file(url, option)? {
        Some(pem) => parse_certificates(url, option, &pem),
        None => system_certificates(url, option),
    }
}

/// Returns the certificates that the system trusts.
///
/// # Errors
/// [`Fault::Rejected`] if there are no certificates. The message names the option that specifies a certificate file
/// to use instead.
pub(super) fn system_certificates(
    url: &ServerUrl<'_>,
    option: &str,
) -> Result<Vec<CertificateDer<'static>>, Fault> {
    let found = rustls_native_certs::load_native_certs();
    if found.certs.is_empty() {
        let why = found.errors.first().map_or_else(|| "none found".into(), ToString::to_string);
        return Err(url.reject(format_args!(
            "this system trusts no certificate authority ({why}): set {option} to the path of a PEM file"
        )));
    }
    Ok(found.certs)
}

/// Parses the certificates in the PEM file that an option names.
///
/// # Errors
/// [`Fault::Rejected`], with the name of the option, if the file is invalid or contains no certificates.
pub(super) fn parse_certificates(
    url: &ServerUrl<'_>,
    option: &str,
    pem: &[u8],
) -> Result<Vec<CertificateDer<'static>>, Fault> {
    let parsed: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(pem).collect();
    let certificates = parsed.map_err(|error| url.reject(format_args!("{option}: {error}")))?;
    if certificates.is_empty() {
        return Err(
            url.reject(format_args!("{option}: the file contains no certificate in PEM format"))
        );
    }
    Ok(certificates)
}

/// Sets the process-wide cryptography provider, unless the process has already set a provider. Drivers that do not
/// accept a provider as an argument use the process-wide provider.
pub(super) fn install_default_cryptography() {
    if CryptoProvider::get_default().is_none() {
        // The call fails only if another thread has set a provider first, and that provider serves the same purpose.
        let _ = ring::default_provider().install_default();
    }
}

/// Returns the TLS configuration for the options `tls-ca`, `tls-cert` and `tls-key`.
///
/// # Errors
/// [`Fault::Rejected`], with the name of the option, if a file is unusable, or if only one of `tls-cert` and
/// `tls-key` is set.
#[cfg(feature = "requests")]
pub(super) fn tls_config(url: &ServerUrl<'_>) -> Result<TlsConfig, Fault> {
    let roots = convert(&trusted_certificates(url, "tls-ca")?);
    let client = match (file(url, "tls-cert")?, file(url, "tls-key")?) {
        (Some(chain), Some(key)) => {
            let chain = convert(&parse_certificates(url, "tls-cert", &chain)?);
            let key = ureq::tls::PrivateKey::from_pem(&key)
                .map_err(|error| url.reject(format_args!("tls-key: {error}")))?;
            Some(ClientCert::new_with_certs(&chain, key))
        }
        (None, None) => None,
        _ => return Err(url.reject("the options tls-cert and tls-key must be set together")),
    };
    Ok(config_of(&roots, client))
}

/// Returns the TLS configuration that trusts the certificates that the system trusts.
///
/// # Errors
/// [`Fault::Rejected`] if there are no certificates. The message names the environment variable `SSL_CERT_FILE`.
#[cfg(feature = "requests")]
pub(super) fn system_tls(url: &ServerUrl<'_>) -> Result<TlsConfig, Fault> {
    Ok(config_of(&convert(&system_certificates(url, "SSL_CERT_FILE")?), None))
}

#[cfg(feature = "requests")]
pub(super) fn config_of(roots: &[Certificate<'static>], client: Option<ClientCert>) -> TlsConfig {
    let provider = std::sync::Arc::new(rustls::crypto::ring::default_provider());
    TlsConfig::builder()
        .root_certs(RootCerts::new_with_certs(roots))
        .client_cert(client)
        .unversioned_rustls_crypto_provider(provider)
        .build()
}

#[cfg(feature = "requests")]
pub(super) fn convert(certificates: &[CertificateDer<'_>]) -> Vec<Certificate<'static>> {
    certificates.iter().map(|certificate| Certificate::from_der(certificate).to_owned()).collect()
}
