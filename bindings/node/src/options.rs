//! Conversion of values from JavaScript. Options are passed by name, as strings. Numbers that might not fit into a u64
//! are passed as decimal strings, and all other numbers as `BigInt`s.

use flakeid::{LeaseBuilder, NamespaceBuilder};
use flakeid_core::{Error, GeneratorBuilder, Layout, RingOptions, SetByName};
use napi::bindgen_prelude::BigInt;
use napi_derive::napi;

/// The options of a generator, a lease or a namespace.
#[napi(object, object_to_js = false)]
pub struct OptionTexts {
    /// The layout, as a descriptor or a preset's name.
    pub layout: Option<String>,
    /// The epoch, in Unix milliseconds.
    pub epoch: Option<String>,
    /// The other options, as an array of strings in which names and values alternate.
    pub settings: Vec<String>,
}

impl OptionTexts {
    /// Returns the layout with the given descriptor and epoch, or the default layout if there is no descriptor.
    pub(crate) fn layout(&self) -> Result<Layout, Error> {
        let layout =
            self.layout.as_ref().map_or(Ok(Layout::default()), |descriptor| descriptor.parse())?;
        self.epoch.as_ref().map_or(Ok(layout), |epoch| layout.with_epoch(instant(epoch)))
    }

    /// Sets all options except the layout and the epoch, and returns the builder.
    pub(crate) fn apply<B: SetByName>(&self, builder: B) -> Result<B, Error> {
        apply(builder, &self.settings)
    }
}

/// Sets options from a list of strings in which names and values alternate, and returns the builder.
pub(crate) fn apply<B: SetByName>(builder: B, settings: &[String]) -> Result<B, Error> {
    let (pairs, _) = settings.as_chunks::<2>();
    pairs.iter().try_fold(builder, |builder, [name, text]| builder.set(name, text))
}

/// Returns the names of the generator options and the kinds of their values, in the form `name: kind, name: kind`.
#[napi(catch_unwind)]
pub(crate) fn generator_options() -> String {
    GeneratorBuilder::described()
}

/// Returns the names of the lease options and the kinds of their values, in the form `name: kind, name: kind`.
#[napi(catch_unwind)]
pub(crate) fn lease_options() -> String {
    LeaseBuilder::described()
}

/// Returns the names of the namespace options and the kinds of their values, in the form `name: kind, name: kind`.
#[napi(catch_unwind)]
pub(crate) fn namespace_options() -> String {
    NamespaceBuilder::described()
}

/// Returns the names of the ring options and the kinds of their values, in the form `name: kind, name: kind`.
#[napi(catch_unwind)]
pub(crate) fn ring_options() -> String {
    RingOptions::described()
}

/// Parses the value of a field or an option as a u64. The core checks the range of the value.
pub(crate) fn field(name: &'static str, text: &str, most: u64) -> Result<u64, Error> {
    text.parse().map_err(|_| Error::field_out_of_range(name, &text, 0, most))
}

/// Parses the value of a field or an option that may be absent.
pub(crate) fn optional(
    name: &'static str,
    text: Option<&String>,
    most: u64,
) -> Result<Option<u64>, Error> {
    text.map(|text| field(name, text, most)).transpose()
}

/// Parses an instant in Unix milliseconds. An instant that does not fit into an i64 is replaced by the nearest i64.
/// Every layout and every clock treats the replacement in the same way as the original instant.
pub(crate) fn instant(text: &str) -> i64 {
    let nearest = if text.starts_with('-') { i64::MIN } else { i64::MAX };
    text.parse().unwrap_or(nearest)
}

/// Returns the value of a `BigInt`. The caller must have checked that the value fits into a u64.
pub(crate) fn bits(number: &BigInt) -> u64 {
    number.get_u64().1
}

/// Returns the value of a `BigInt`. The caller must have checked that the value fits into an i64.
pub(crate) fn signed(number: &BigInt) -> i64 {
    number.get_i64().0
}

#[rustfmt::skip]
pub(crate) const SPELLING: flakeid_core::Spelling<'static> = flakeid_core::Spelling {
    options: &[
        // [options: all names]
        ("nodes_from", "nodes[0]"),
        ("nodes_to", "nodes[1]"),
        ("node_count", "nodeCount"),
        ("ttl_ms", "ttlMs"),
        ("window_ms", "windowMs"),
        ("window_start", "window.start"),
        ("window_fence", "window.fence"),
        ("sequence_mask", "sequenceMask"),
        ("sequence_start", "sequenceStart"),
        ("max_ahead_ms", "maxAheadMs"),
        ("max_wait_ms", "maxWaitMs"),
        ("open_wait_ms", "openWaitMs"),
        ("boost_power", "boostPower"),
        ("padding_factor", "paddingFactor"),
        ("refill_interval_ms", "refillIntervalMs"),
        ("max_age_ms", "maxAgeMs"),
        ("max_window_ms", "maxWindowMs"),
        ("max_skew_ms", "maxSkewMs"),
        ("quiet_ms", "quietMs"),
        ("block_bits", "blockBits"),
        // [/options]
    ],
    fields: &[
        // [options: id names]
        ("unix_ms", "unixMs"),
        ("clock_sequence", "clockSequence"),
        ("create_namespace", "createNamespace()"),
        ("next_id", "nextIdAsync()"),
        // [/options]
    ],
};
