//! URL options whose values are file names.

use flakeid_protocol::store::Fault;
use flakeid_protocol::url::ServerUrl;

/// Returns the contents of the file that a URL option names; `None` if the option is missing.
///
/// # Errors
/// [`Fault::Rejected`] if the file cannot be read.
pub(crate) fn file(url: &ServerUrl<'_>, name: &str) -> Result<Option<Vec<u8>>, Fault> {
    let Some(path) = url.option(name)? else { return Ok(None) };
    let contents = std::fs::read(&path);
    contents.map(Some).map_err(|error| {
        url.reject(format_args!(
            "the file {path}, given in the option `{name}`, cannot be read ({error})"
        ))
    })
}
