//! Encryption and decryption of public IDs. The keys are in the module's memory, which scripts on the same page can
//! read.

use flakeid_core::{Id, Layout};
use wasm_bindgen::prelude::*;

use crate::failure::thrown;

/// The core's `PublicIds`.
#[wasm_bindgen]
pub struct PublicIds(flakeid_core::PublicIds);

#[wasm_bindgen]
impl PublicIds {
    /// Creates a converter between the IDs of a layout and public IDs. `since` is an instant in Unix milliseconds. If
    /// `since` is given, `open` rejects IDs from before this instant.
    ///
    /// # Errors
    /// `FLAKEID_INVALID_OPTION` if the keyring, the domain or the prefix is invalid; `FLAKEID_INVALID_LAYOUT` if the
    /// layout is invalid.
    #[expect(clippy::needless_pass_by_value, reason = "the glue passes the argument by value")]
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

    /// Encrypts an ID, and returns the public ID as a string.
    ///
    /// # Errors
    /// `FLAKEID_INVALID_ID` if the ID has bits that the layout never sets.
    pub fn seal(&self, id: u64) -> Result<String, JsValue> {
        self.0.seal(Id::from_u64(id)).map_err(thrown)
    }

    /// Encrypts an ID, and returns the public ID as a 64-bit number, without the prefix and the key letter.
    ///
    /// # Errors
    /// This function returns the same errors as `seal`.
    #[wasm_bindgen(js_name = sealBits)]
    pub fn seal_bits(&self, id: u64) -> Result<u64, JsValue> {
        self.0.seal_bits(Id::from_u64(id)).map_err(thrown)
    }

    /// Decrypts a public ID, and returns the ID. `now` is the current time in Unix milliseconds.
    ///
    /// # Errors
    /// `FLAKEID_INVALID_ID` if the public ID is invalid, or if the ID is from before `since` or more than a minute
    /// ahead of `now`.
    pub fn open(&self, text: &str, now: i64) -> Result<u64, JsValue> {
        self.0.open_at(text, now).map(Id::to_u64).map_err(thrown)
    }
}
