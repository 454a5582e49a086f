//! Public IDs: the encrypted form in which outsiders see IDs.

use flakeid_core::PublicIds as Core;
use pyo3::prelude::*;

use crate::argument::{id as id_of, string};
use crate::error::raise;
use crate::layout::{Chosen, Layout};
use crate::time::from_python;

/// Public IDs of one domain: encrypted IDs that do not reveal the time, node or sequence number.
///
/// PublicIds(keyring, domain, layout="twitter", prefix=None, since=None). The keyring is the content of
/// the file that `flakeid keygen` creates. The domain is the kind of object that the IDs identify, such as
/// "user", and must not change while its public IDs are in use. A prefix consists of up to 16 lowercase
/// letters and digits, and is followed by an underscore. IDs from before `since` (an aware datetime, or
/// Unix milliseconds) cannot be opened.
///
/// Public IDs do not replace authorization: in rare cases, a random string can be opened as an ID.
#[pyclass(frozen, module = "flakeid", name = "PublicIds")]
pub(crate) struct PublicIds(Core);

#[pymethods]
impl PublicIds {
    #[new]
    #[pyo3(signature = (keyring, domain, layout=None, *, prefix=None, since=None))]
    fn new(
        keyring: &Bound<'_, PyAny>,
        domain: &Bound<'_, PyAny>,
        layout: Option<Chosen>,
        prefix: Option<&Bound<'_, PyAny>>,
        since: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Self> {
        let (keyring, domain) = (string("keyring", keyring)?, string("domain", domain)?);
        let Layout(layout) = Layout::from_chosen(layout);
        let prefix = prefix.map(|prefix| string("prefix", prefix)).transpose()?;
        let since = since.map(|since| from_python("since", since)).transpose()?;
        Core::from_text(&keyring, &domain, layout, prefix.as_deref(), since)
            .map(Self)
            .map_err(raise)
    }

    /// Returns the public form of an ID: the prefix, the current key's letter, and 11 base58 digits.
    ///
    /// Raises InvalidIdError if the ID has bits that the layout never sets.
    fn seal(&self, id: &Bound<'_, PyAny>) -> PyResult<String> {
        self.0.seal(id_of(id)?).map_err(raise)
    }

    /// Returns the public form of an ID as a 64-bit int, without the prefix and the key letter.
    ///
    /// Raises InvalidIdError if the ID has bits that the layout never sets.
    fn seal_bits(&self, id: &Bound<'_, PyAny>) -> PyResult<u64> {
        self.0.seal_bits(id_of(id)?).map_err(raise)
    }

    /// Opens a public ID and returns the original ID. If `now` (an aware datetime, or Unix
    /// milliseconds) is passed, `now` is used instead of the system clock.
    ///
    /// Raises InvalidIdError if the key, domain or prefix differs, or if the string is not a valid
    /// public ID. Also raises InvalidIdError if the ID is from before `since` or from more than a
    /// minute after `now`. The exception does not state which of these reasons applies.
    #[pyo3(signature = (text, *, now=None))]
    fn open(&self, text: &Bound<'_, PyAny>, now: Option<&Bound<'_, PyAny>>) -> PyResult<u64> {
        let text = string("text", text)?;
        let opened = match now {
            Some(now) => self.0.open_at(&text, from_python("now", now)?),
            None => self.0.open(&text),
        };
        opened.map(flakeid_core::Id::to_u64).map_err(raise)
    }

    /// The layout of the IDs.
    #[getter]
    fn layout(&self) -> Layout {
        Layout(*self.0.layout())
    }

    fn __repr__(&self) -> String {
        format!("{:?}", self.0)
    }
}
