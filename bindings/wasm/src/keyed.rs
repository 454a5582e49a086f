//! Public IDs. The keys are in the module's memory, which scripts of the same page can read.

use flakeid_core::{Id, Layout};
use wasm_bindgen::prelude::*;

use crate::failure::thrown;

/// The core's `PublicIds`.
#[wasm_bindgen]
pub struct PublicIds(flakeid_core::PublicIds);

#[wasm_bindgen]
impl PublicIds {
    /// Builds the public IDs of a layout, for IDs from the instant `since` on.
    ///
    /// # Errors
    /// `FLAKEID_INVALID_OPTION` for the keyring, the domain or the prefix; `FLAKEID_INVALID_LAYOUT`.
    #[expect(clippy::needless_pass_by_value, reason = "the glue hands it over")]
    #[wasm_bindgen(constructor)]
    pub fn new(
        keyring: &str,
        domain: &str,
        descriptor: &str,
        prefix: Option<String>,
        since: Option<i64>,
    ) -> Result<Self, JsValue> {
        let made = descriptor.parse::<Layout>().and_then(|layout| {
            let prefix = prefix.as_deref();
            flakeid_core::PublicIds::from_text(keyring, domain, layout, prefix, since)
        });
        made.map(Self).map_err(thrown)
    }

    /// Returns the public form of an ID.
    ///
    /// # Errors
    /// `FLAKEID_INVALID_ID` for an ID with bits that the layout never sets.
    pub fn seal(&self, id: u64) -> Result<String, JsValue> {
        self.0.seal(Id::from_u64(id)).map_err(thrown)
    }

    /// Returns the public form of an ID as 64 bits.
    ///
    /// # Errors
    /// The errors of `seal`.
    #[wasm_bindgen(js_name = sealBits)]
    pub fn seal_bits(&self, id: u64) -> Result<u64, JsValue> {
        self.0.seal_bits(Id::from_u64(id)).map_err(thrown)
    }

    /// Returns the ID of a public ID, at the instant `now`.
    ///
    /// # Errors
    /// `FLAKEID_INVALID_ID`.
    pub fn open(&self, text: &str, now: i64) -> Result<u64, JsValue> {
        self.0.open_at(text, now).map(Id::to_u64).map_err(thrown)
    }
}
