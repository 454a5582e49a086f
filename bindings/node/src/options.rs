//! Conversion of JavaScript's values: options are passed by name, as strings; numbers as decimal strings
//! if a u64 may not hold them, and otherwise as `BigInt`.

use flakeid::LeaseBuilder;
use flakeid_core::{Error, GeneratorBuilder, Layout, RingOptions, SetByName};
use napi::bindgen_prelude::BigInt;
use napi_derive::napi;

/// The options of a generator or a lease.
#[napi(object, object_to_js = false)]
pub struct OptionTexts {
    /// A descriptor or a preset's name.
    pub layout: Option<String>,
    /// Unix milliseconds of tick 0.
    pub epoch: Option<String>,
    /// The others: a name, its value as text, the next name and so on.
    pub settings: Vec<String>,
}

impl OptionTexts {
    /// Returns the layout of the descriptor with the epoch, or the default layout without a descriptor.
    pub(crate) fn layout(&self) -> Result<Layout, Error> {
        let layout =
            self.layout.as_ref().map_or(Ok(Layout::default()), |descriptor| descriptor.parse())?;
        self.epoch.as_ref().map_or(Ok(layout), |epoch| layout.with_epoch(instant(epoch)))
    }

    /// Returns the builder with the other options.
    pub(crate) fn apply<B: SetByName>(&self, builder: B) -> Result<B, Error> {
        apply(builder, &self.settings)
    }
}

/// Sets options, given as a name, its value as a string, the next name and so on.
pub(crate) fn apply<B: SetByName>(builder: B, settings: &[String]) -> Result<B, Error> {
    let (pairs, _) = settings.as_chunks::<2>();
    pairs.iter().try_fold(builder, |builder, [name, text]| builder.set(name, text))
}

/// The options that there are, as `name: kind, name: kind`.
#[napi(catch_unwind)]
pub(crate) fn generator_options() -> String {
    GeneratorBuilder::described()
}

/// The same of a lease.
#[napi(catch_unwind)]
pub(crate) fn lease_options() -> String {
    LeaseBuilder::described()
}

/// The same of a ring.
#[napi(catch_unwind)]
pub(crate) fn ring_options() -> String {
    RingOptions::described()
}

/// Parses a field or option that must be a u64; the core checks its range further.
pub(crate) fn field(name: &'static str, text: &str, most: u64) -> Result<u64, Error> {
    text.parse().map_err(|_| Error::field_out_of_range(name, &text, 0, most))
}

/// Parses a field or option that may be missing.
pub(crate) fn optional(
    name: &'static str,
    text: Option<&String>,
    most: u64,
) -> Result<Option<u64>, Error> {
    text.map(|text| field(name, text, most)).transpose()
}

/// Parses an instant. An instant that an i64 cannot hold becomes the nearest one that it can, which
/// every layout and every clock treats the same way.
pub(crate) fn instant(text: &str) -> i64 {
    let nearest = if text.starts_with('-') { i64::MIN } else { i64::MAX };
    text.parse().unwrap_or(nearest)
}

/// Returns a `BigInt` that the caller has checked to be within u64.
pub(crate) fn bits(number: &BigInt) -> u64 {
    number.get_u64().1
}

/// Returns a `BigInt` that the caller has checked to be within i64.
pub(crate) fn signed(number: &BigInt) -> i64 {
    number.get_i64().0
}

// [options: generator spelling]
#[rustfmt::skip]
pub(crate) const SPELLING: flakeid_core::Spelling<'static> = flakeid_core::Spelling {
    options: &[
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
        ("boost_power", "boostPower"),
        ("padding_factor", "paddingFactor"),
        ("refill_interval_ms", "refillIntervalMs"),
        ("max_age_ms", "maxAgeMs"),
    ],
    fields: &[
        ("unix_ms", "unixMs"),
        ("clock_sequence", "clockSequence"),
    ],
};
// [/options]
