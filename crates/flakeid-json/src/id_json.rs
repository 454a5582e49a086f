//! An ID and its fields as JSON.

use std::fmt::Display;

use flakeid_core::{Error, Field, Id, Layout, TextForm};
use serde::{Serialize, Serializer};

/// An ID in every text form, with the fields of its layout. The JSON keys are in the same order as the fields. IDs
/// are strings, because 64-bit JSON numbers lose digits in JavaScript.
///
/// ```
/// use flakeid_core::{Id, Layout};
/// use flakeid_json::IdJson;
///
/// let id = Id::from_u64(1_541_815_603_606_036_480);
/// let json = serde_json::to_value(IdJson::new(id, &Layout::TWITTER, "twitter")?)?;
/// assert_eq!((&json["id"], &json["node"]), (&"1541815603606036480".into(), &378.into()));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Serialize)]
pub struct IdJson<'a> {
    id: AsString<Id>,
    layout: &'a str,
    timestamp: AsString<flakeid_core::Rfc3339>,
    unix_ms: i64,
    tick: u64,
    node: u64,
    datacenter: Option<u64>,
    worker: Option<u64>,
    clock_sequence: Option<u64>,
    sequence: u64,
    hex: AsString<flakeid_core::Text>,
    base32: AsString<flakeid_core::Text>,
    base36: AsString<flakeid_core::Text>,
    base58: AsString<flakeid_core::Text>,
    base62: AsString<flakeid_core::Text>,
    base58_flickr: AsString<flakeid_core::Text>,
    zbase32: AsString<flakeid_core::Text>,
    uuid: AsString<flakeid_core::Text>,
}

/// A value that is serialized as a JSON string without an intermediate copy.
struct AsString<T>(T);

impl<T: Display> Serialize for AsString<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&self.0)
    }
}

impl<'a> IdJson<'a> {
    /// Decodes an ID. The caller passes the layout's [`layout_name`] as `name`, so that the name is computed only once
    /// for many IDs.
    ///
    /// # Errors
    /// [`InvalidId`](flakeid_core::ErrorKind::InvalidId) if the ID does not belong to the layout.
    pub fn new(id: Id, layout: &Layout, name: &'a str) -> Result<Self, Error> {
        let parts = layout.unpack(id)?;
        let text = |form: TextForm| AsString(form.encode(id));
        Ok(Self {
            id: AsString(id),
            layout: name,
            timestamp: AsString(layout.timestamp(parts.unix_ms)),
            unix_ms: parts.unix_ms,
            tick: parts.tick,
            node: parts.node,
            datacenter: parts.datacenter,
            worker: parts.worker,
            clock_sequence: has(layout, Field::ClockSequence).then_some(parts.clock_sequence),
            sequence: parts.sequence,
            hex: text(TextForm::Hex),
            base32: text(TextForm::Base32),
            base36: text(TextForm::Base36),
            base58: text(TextForm::Base58),
            base62: text(TextForm::Base62),
            base58_flickr: text(TextForm::Base58Flickr),
            zbase32: text(TextForm::Zbase32),
            uuid: text(TextForm::Uuid),
        })
    }
}

/// Returns the name of a preset, or the descriptor of any other layout. Every layout option accepts names and
/// descriptors.
#[must_use]
pub fn layout_name(layout: &Layout) -> String {
    layout.preset_name().map_or_else(|| layout.to_string(), str::to_owned)
}

fn has(layout: &Layout, field: Field) -> bool {
    layout.fields().any(|span| span.field == field)
}
