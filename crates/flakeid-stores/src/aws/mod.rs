//! Requests to Amazon Web Services: credentials, signatures, regions and endpoints.

mod credentials;
mod encoding;
mod endpoints;
mod environment;
mod profile;
mod signature;

pub(crate) use credentials::Provider;
pub(crate) use credentials::between;
pub(crate) use encoding::encode;
pub(crate) use endpoints::{domain, endpoint, region};
pub(crate) use signature::Signed;
