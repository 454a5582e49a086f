//! The certificates that a TLS connection to an SQL server trusts.

use std::path::Path;

#[cfg(feature = "mysql")]
use rustls::crypto::{CryptoProvider, ring};
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;

use crate::store::Fault;

/// The certificates in the PEM file that an option names, else those that the system trusts.
///
/// # Errors
/// [`Fault::Rejected`] if there are none, naming the option and the file.
pub(in crate::store) fn trusted_certificates(
    shown: &str,
    option: &str,
    file: Option<&Path>,
) -> Result<Vec<CertificateDer<'static>>, Fault> {
    let Some(file) = file else { return system_certificates(shown, option) };
    let path = file.display();
    let rejected = |why: String| Fault::Rejected(format!("{shown}: {option} {path}: {why}"));
    let found =
        CertificateDer::pem_file_iter(file).and_then(Iterator::collect::<Result<Vec<_>, _>>);
    let certificates = found.map_err(|error| rejected(error.to_string()))?;
    if certificates.is_empty() {
        return Err(rejected("the file holds no certificate in PEM form".into()));
    }
    Ok(certificates)
}

fn system_certificates(shown: &str, option: &str) -> Result<Vec<CertificateDer<'static>>, Fault> {
    let found = rustls_native_certs::load_native_certs();
    if !found.certs.is_empty() {
        return Ok(found.certs);
    }
    let why = found.errors.first().map_or_else(|| "none found".into(), ToString::to_string);
    Err(Fault::Rejected(format!(
        "{shown}: this system trusts no certificate authority ({why}): name a PEM file by {option}"
    )))
}

/// Chooses the cryptography of drivers to which none can be passed, unless the process has chosen one.
#[cfg(feature = "mysql")]
pub(in crate::store) fn install_default_cryptography() {
    if CryptoProvider::get_default().is_none() {
        // Fails only if another thread was first, which is as good.
        let _ = ring::default_provider().install_default();
    }
}
