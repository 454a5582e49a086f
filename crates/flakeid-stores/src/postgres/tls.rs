//! TLS for `PostgreSQL` connections, with the certificate verification that libpq's options specify.

use std::sync::Arc;

use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{self, CryptoProvider, ring};
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{
    CertificateError, ClientConfig, DigitallySignedStruct, Error, RootCertStore, SignatureScheme,
};
use tokio_postgres::config::SslMode;

use crate::certificates::{system_certificates, trusted_certificates};
use flakeid_protocol::store::Fault;
use flakeid_protocol::url::ServerUrl;

/// The checks that a server's certificate must pass.
pub(super) enum Verification {
    /// The certificate is not verified. The connection is protected only against passive eavesdropping.
    Nothing,
    /// The certificate must be issued by one of these certificate authorities.
    Authority(Vec<CertificateDer<'static>>),
    /// The certificate must be issued for the server's host name, by one of these certificate authorities.
    Host(Vec<CertificateDer<'static>>),
}

/// Returns the SSL mode and the certificate verification that libpq's options specify. The verification is `None` for a
/// connection without TLS.
pub(super) fn mode(url: &ServerUrl<'_>) -> Result<(SslMode, Option<Verification>), Fault> {
    const FILE: &str = "sslrootcert";
    let (mode, file) = (url.option("sslmode")?, url.option(FILE)?);
    let mode = mode.as_deref().unwrap_or("prefer");
    let is_system = file.as_deref() == Some("system");
    if is_system && mode != "verify-full" {
        return Err(url.reject(
            "sslrootcert=system requires sslmode=verify-full, because a certificate of any public \
             authority proves nothing about the host otherwise",
        ));
    }
    let authorities =
        || if is_system { system_certificates(url, FILE) } else { trusted_certificates(url, FILE) };
    Ok(match mode {
        "disable" => (SslMode::Disable, None),
        "prefer" => (SslMode::Prefer, Some(Verification::Nothing)),
        "require" if file.is_none() => (SslMode::Require, Some(Verification::Nothing)),
        "require" | "verify-ca" => {
            (SslMode::Require, Some(Verification::Authority(authorities()?)))
        }
        "verify-full" => (SslMode::Require, Some(Verification::Host(authorities()?))),
        _ => {
            return Err(
                url.reject("sslmode must be disable, prefer, require, verify-ca or verify-full")
            );
        }
    })
}

/// Builds the client configuration for the TLS library.
///
/// # Errors
/// [`Fault::Rejected`] if no certificate of a trusted authority can be parsed.
pub(super) fn config(shown: &str, verification: Verification) -> Result<ClientConfig, Fault> {
    let rejected = |error: &dyn std::fmt::Display| Fault::Rejected(format!("{shown}: {error}"));
    let provider = Arc::new(ring::default_provider());
    let builder = ClientConfig::builder_with_provider(provider.clone())
        .with_safe_default_protocol_versions()
        .map_err(|error| rejected(&error))?;
    let verifier = |authorities: Vec<CertificateDer<'static>>| {
        let mut roots = RootCertStore::empty();
        // Certificates that cannot be parsed are ignored, as in many TLS libraries.
        roots.add_parsable_certificates(authorities);
        let built = WebPkiServerVerifier::builder_with_provider(roots.into(), provider.clone());
        built.build().map_err(|error| rejected(&error))
    };
    let verifier: Arc<dyn ServerCertVerifier> = match verification {
        Verification::Nothing => Arc::new(AnyHost { authority: None, provider: provider.clone() }),
        Verification::Authority(authorities) => {
            let authority = Some(verifier(authorities)?);
            Arc::new(AnyHost { authority, provider: provider.clone() })
        }
        Verification::Host(authorities) => verifier(authorities)?,
    };
    let builder = builder.dangerous().with_custom_certificate_verifier(verifier);
    Ok(builder.with_no_client_auth())
}

/// A certificate verifier that ignores the host name. If authorities are given, one of them must have issued the
/// certificate; otherwise, the verifier accepts every certificate.
#[derive(Debug)]
struct AnyHost {
    authority: Option<Arc<WebPkiServerVerifier>>,
    provider: Arc<CryptoProvider>,
}

impl ServerCertVerifier for AnyHost {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server_name: &ServerName<'_>,
        ocsp: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        let Some(authority) = &self.authority else { return Ok(ServerCertVerified::assertion()) };
        // The verifier compares the host name last, so a host name mismatch means that all other checks have passed.
        match authority.verify_server_cert(end_entity, intermediates, server_name, ocsp, now) {
            Err(Error::InvalidCertificate(
                CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. },
            )) => Ok(ServerCertVerified::assertion()),
            verified => verified,
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let algorithms = &self.provider.signature_verification_algorithms;
        crypto::verify_tls12_signature(message, cert, signed, algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let algorithms = &self.provider.signature_verification_algorithms;
        crypto::verify_tls13_signature(message, cert, signed, algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider.signature_verification_algorithms.supported_schemes()
    }
}
