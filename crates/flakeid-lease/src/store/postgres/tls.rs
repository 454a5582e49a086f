//! TLS with what libpq's options ask to verify.

use std::path::PathBuf;
use std::sync::Arc;

use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{self, CryptoProvider, ring};
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{
    CertificateError, ClientConfig, DigitallySignedStruct, Error, RootCertStore, SignatureScheme,
};
use tokio_postgres::config::SslMode;

use crate::store::Fault;
use crate::store::sql::trusted_certificates;

/// What is verified of a server's certificate. Authorities are the system's or a file's.
pub(super) enum Verification {
    /// Nothing: this protects against listeners only.
    Nothing,
    /// Its authority.
    Authority(Option<PathBuf>),
    /// Its authority and its host.
    Host(Option<PathBuf>),
}

/// What libpq's options ask for; `None` is no TLS.
pub(super) fn mode(
    shown: &str,
    mode: &str,
    root: Option<PathBuf>,
) -> Result<(SslMode, Option<Verification>), Fault> {
    let system = root.as_ref().is_some_and(|file| file.as_os_str() == "system");
    if system && mode != "verify-full" {
        return Err(Fault::Rejected(format!(
            "{shown}: sslrootcert=system trusts every public authority, which proves nothing \
             without sslmode=verify-full"
        )));
    }
    let root = root.filter(|_| !system);
    Ok(match mode {
        "disable" => (SslMode::Disable, None),
        "prefer" => (SslMode::Prefer, Some(Verification::Nothing)),
        "require" if root.is_none() => (SslMode::Require, Some(Verification::Nothing)),
        "require" | "verify-ca" => (SslMode::Require, Some(Verification::Authority(root))),
        "verify-full" => (SslMode::Require, Some(Verification::Host(root))),
        _ => {
            return Err(Fault::Rejected(format!(
                "{shown}: sslmode must be disable, prefer, require, verify-ca or verify-full"
            )));
        }
    })
}

/// The TLS library's configuration.
///
/// # Errors
/// [`Fault::Rejected`] if there are no authorities to trust.
pub(super) fn config(shown: &str, verification: &Verification) -> Result<ClientConfig, Fault> {
    let rejected = |error: &dyn std::fmt::Display| Fault::Rejected(format!("{shown}: {error}"));
    let provider = Arc::new(ring::default_provider());
    let builder = ClientConfig::builder_with_provider(provider.clone())
        .with_safe_default_protocol_versions()
        .map_err(|error| rejected(&error))?;
    let authority = match verification {
        Verification::Nothing => None,
        Verification::Authority(file) | Verification::Host(file) => {
            let mut roots = RootCertStore::empty();
            // Those that cannot be read are left out, as every TLS library does.
            roots.add_parsable_certificates(trusted_certificates(
                shown,
                "sslrootcert",
                file.as_deref(),
            )?);
            let built =
                WebPkiServerVerifier::builder_with_provider(roots.into(), provider.clone()).build();
            Some(built.map_err(|error| rejected(&error))?)
        }
    };
    let builder = builder.dangerous();
    let builder = match (verification, authority) {
        (Verification::Host(_), Some(strict)) => builder.with_custom_certificate_verifier(strict),
        (_, authority) => {
            builder.with_custom_certificate_verifier(Arc::new(AnyHost { authority, provider }))
        }
    };
    Ok(builder.with_no_client_auth())
}

/// Takes a certificate for any host, from one authority if there is one.
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
        // The name is compared last, so nothing else can be wrong when only it is.
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
