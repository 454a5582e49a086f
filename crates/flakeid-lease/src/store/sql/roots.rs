use std::path::Path;
#[cfg(feature = "postgres")]
use std::sync::Arc;

#[cfg(feature = "postgres")]
use rustls::RootCertStore;
#[cfg(feature = "mysql")]
use rustls::crypto::{CryptoProvider, ring};
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;

use crate::store::Fault;

/// The certificates that the system trusts.
///
/// # Errors
/// [`Fault::Rejected`] if there are none.
pub(in crate::store) fn native(place: &str) -> Result<Vec<CertificateDer<'static>>, Fault> {
    let found = rustls_native_certs::load_native_certs();
    if !found.certs.is_empty() {
        return Ok(found.certs);
    }
    let why = found.errors.first().map_or_else(|| "none found".into(), ToString::to_string);
    Err(Fault::Rejected(format!(
        "{place}: no certificates of authorities that this system trusts ({why}); name a file"
    )))
}

/// The certificates in a PEM file.
///
/// # Errors
/// [`Fault::Rejected`] naming the option and the file.
pub(in crate::store) fn added(
    place: &str,
    option: &str,
    file: &Path,
) -> Result<Vec<CertificateDer<'static>>, Fault> {
    let shown = file.display();
    let rejected = |why: String| Fault::Rejected(format!("{place}: {option} {shown}: {why}"));
    let read = CertificateDer::pem_file_iter(file).map_err(|error| rejected(error.to_string()))?;
    let certs: Result<Vec<_>, _> = read.collect();
    let certs = certs.map_err(|error| rejected(error.to_string()))?;
    if certs.is_empty() {
        return Err(rejected("holds no certificate in PEM form".into()));
    }
    Ok(certs)
}

/// A store of them. Those that cannot be read are left out, as every TLS library does.
#[cfg(feature = "postgres")]
pub(in crate::store) fn roots(certs: Vec<CertificateDer<'static>>) -> Arc<RootCertStore> {
    let mut roots = RootCertStore::empty();
    roots.add_parsable_certificates(certs);
    Arc::new(roots)
}

/// The cryptography of drivers that do not let one be passed in, unless the process has chosen one.
#[cfg(feature = "mysql")]
pub(in crate::store) fn ring_by_default() {
    if CryptoProvider::get_default().is_none() {
        // Fails only if another thread was first, which is as good.
        let _ = ring::default_provider().install_default();
    }
}
