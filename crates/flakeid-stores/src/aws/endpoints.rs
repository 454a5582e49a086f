//! The region and the endpoint of a service.

use super::environment::variable;
use super::profile::Profile;
use flakeid_protocol::store::Fault;
use flakeid_protocol::url::ServerUrl;

/// Returns the region: the option `region`, or else the environment variable `AWS_REGION` or `AWS_DEFAULT_REGION`, or
/// else the region of the profile.
///
/// # Errors
/// [`Fault::Rejected`] if no region is configured, or if the region contains invalid characters.
pub(crate) fn region(url: &ServerUrl<'_>) -> Result<String, Fault> {
    let found = match url.option("region")? {
        Some(region) => Some(region),
        None => variable("AWS_REGION").or_else(|| variable("AWS_DEFAULT_REGION")),
    };
    let found = found.or_else(|| Profile::read(None).ok()?.get("region"));
    let Some(region) = found else {
        return Err(url.reject(
            "the region is missing; add ?region=REGION to the URL, or set the environment variable AWS_REGION",
        ));
    };
    let is_valid = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-';
    if region.is_empty() || !region.bytes().all(is_valid) {
        return Err(url.reject(format_args!(
            "the region {region:?} is not the name of a region, such as eu-central-1"
        )));
    }
    Ok(region)
}

/// Returns the endpoint: the option `endpoint`, or else the given environment variable, or else `AWS_ENDPOINT_URL`.
/// Returns `None` for the endpoint of Amazon Web Services.
///
/// # Errors
/// [`Fault::Rejected`] if the endpoint does not have the form `http://host:port` or `https://host:port`.
pub(crate) fn endpoint(url: &ServerUrl<'_>, name: &str) -> Result<Option<String>, Fault> {
    let found = match url.option("endpoint")? {
        Some(endpoint) => Some(endpoint),
        None => variable(name).or_else(|| variable("AWS_ENDPOINT_URL")),
    };
    let Some(endpoint) = found else { return Ok(None) };
    let endpoint = endpoint.trim_end_matches('/');
    let host = endpoint.strip_prefix("http://").or_else(|| endpoint.strip_prefix("https://"));
    match host {
        Some(host) if !host.is_empty() && !host.contains(['/', '?', '#', '@']) => {
            Ok(Some(endpoint.to_owned()))
        }
        _ => Err(url.reject(
            "the endpoint does not have the form http://host:port or https://host:port; correct the option \
             `endpoint`, or the environment variable AWS_ENDPOINT_URL",
        )),
    }
}

/// Returns the domain of the partition to which a region belongs.
pub(crate) fn domain(region: &str) -> &'static str {
    if region.starts_with("cn-") { "amazonaws.com.cn" } else { "amazonaws.com" }
}
