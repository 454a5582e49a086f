//! Encryption and decryption of public IDs. The keys stay in the page's memory.

use flakeid_core::{Layout, PublicIds};
use wasm_bindgen::prelude::*;

use crate::{id, thrown, unix_ms};

fn public_ids(
    keyring: &str,
    domain: &str,
    layout: &str,
    prefix: &str,
) -> Result<PublicIds, JsValue> {
    let layout: Layout = layout.parse().map_err(thrown)?;
    let prefix = (!prefix.is_empty()).then_some(prefix);
    PublicIds::from_text(keyring, domain, layout, prefix, None).map_err(thrown)
}

/// Encrypts an ID into a public ID.
///
/// # Errors
/// `FLAKEID_INVALID_OPTION` if the keyring, the domain or the prefix is invalid;
/// `FLAKEID_INVALID_LAYOUT` if the layout is invalid; `FLAKEID_INVALID_ID` if the ID is invalid.
#[wasm_bindgen]
pub fn seal(
    keyring: &str,
    domain: &str,
    layout: &str,
    prefix: &str,
    text: &str,
) -> Result<String, JsValue> {
    let ids = public_ids(keyring, domain, layout, prefix)?;
    id(text, "decimal").and_then(|id| ids.seal(id)).map_err(thrown)
}

/// Decrypts a public ID.
///
/// # Errors
/// This function returns the same errors as [`seal`].
#[wasm_bindgen]
pub fn open(
    keyring: &str,
    domain: &str,
    layout: &str,
    prefix: &str,
    text: &str,
    now: f64,
) -> Result<String, JsValue> {
    let ids = public_ids(keyring, domain, layout, prefix)?;
    let opened = ids.open_at(text.trim(), unix_ms(now));
    opened.map(|id| id.to_string()).map_err(thrown)
}
