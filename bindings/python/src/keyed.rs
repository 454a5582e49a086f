//! The public form of IDs.

use flakeid_core::PublicIds as Core;
use pyo3::prelude::*;

use crate::argument::{id as id_of, string};
use crate::error::raise;
use crate::layout::{Chosen, Layout};
use crate::time::from_python;

/// IDs of one domain as outsiders see them: encrypted, so that they tell neither a time nor a node nor a
/// number.
///
/// PublicIds(keyring, domain, layout="twitter", prefix=None, since=None). The keyring is the text of the file
/// that `flakeid keygen` makes. The domain says what the IDs are of, such as "user", and is fixed for as long
/// as their public form is in use. A prefix of up to 16 lower-case letters and digits stands before an
/// underscore. IDs from before `since` (an aware datetime, or Unix milliseconds) do not open.
///
/// It hides; it does not authorise: a text that was made up may open as some ID, if seldom.
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

    /// The public form of an ID: the prefix, the letter of the current key, and 11 digits of base58.
    ///
    /// InvalidIdError if the ID has bits that the layout never sets.
    fn seal(&self, id: &Bound<'_, PyAny>) -> PyResult<String> {
        self.0.seal(id_of(id)?).map_err(raise)
    }

    /// The public form of an ID as an int of 64 bits, without its prefix and without the letter of the key.
    ///
    /// InvalidIdError if the ID has bits that the layout never sets.
    fn seal_bits(&self, id: &Bound<'_, PyAny>) -> PyResult<u64> {
        self.0.seal_bits(id_of(id)?).map_err(raise)
    }

    /// The ID of a public ID; `now` (an aware datetime, or Unix milliseconds) stands for the system's clock.
    ///
    /// InvalidIdError, which does not say why: another key, domain or prefix, a text that was made up, or an
    /// ID from before `since` or from more than a minute after now.
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
