use rcgen::{BasicConstraints, CertificateParams, DnType, IsCa, Issuer, KeyPair};

/// An authority's certificate, and a certificate and key that it made for a host. PEM.
pub(crate) struct Authority {
    pub(crate) own: String,
    pub(crate) certificate: String,
    pub(crate) key: String,
}

impl Authority {
    pub(crate) fn for_host(host: &str) -> Self {
        let key = KeyPair::generate().unwrap();
        let mut params = CertificateParams::new(Vec::new()).unwrap();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        // Under the name of what it signs, OpenSSL would take that for self-signed.
        params.distinguished_name.push(DnType::CommonName, "the authority");
        let own = params.self_signed(&key).unwrap().pem();
        let issuer = Issuer::new(params, key);
        let host_key = KeyPair::generate().unwrap();
        let params = CertificateParams::new(vec![host.into()]).unwrap();
        let certificate = params.signed_by(&host_key, &issuer).unwrap().pem();
        Self { own, certificate, key: host_key.serialize_pem() }
    }
}
