//! The functions with which JavaScript uses layouts, the parts of IDs, and the text forms of IDs.

use flakeid_core::{Error, GivenParts, Id, Layout, Parts, TextForm};
use napi::bindgen_prelude::{BigInt, BigUint64Array};
use napi::{Env, Result};
use napi_derive::napi;

use crate::environment::thrown;
use crate::options::{bits, instant, optional, signed};

/// The properties of a layout.
#[napi(object, object_from_js = false)]
pub struct Figures {
    /// The canonical descriptor.
    pub descriptor: String,
    /// The name of the preset with this descriptor; absent if no preset has this descriptor.
    pub preset_name: Option<String>,
    /// The number of bits that the layout uses, out of 64.
    pub width: u32,
    /// Whether the node is split into a datacenter and a worker.
    pub is_split: bool,
    /// Whether a JavaScript number can represent every ID exactly.
    pub fits_f64: bool,
    /// Whether generators can use the layout.
    pub can_generate: bool,
    /// The number of IDs that one node can issue in a second.
    pub ids_per_second: f64,
    /// The numeric properties of the layout, in this order: epoch, unitMs, maxTick, maxNode,
    /// maxSequence, maxClockSequence, idsPerTick, horizon, fitsI64Until, maxDatacenter and
    /// maxWorker.
    pub numbers: BigUint64Array,
}

/// The parts to pack into an ID, as decimal strings.
#[napi(object, object_to_js = false)]
pub struct PartTexts {
    /// The tick; if absent, `unixMs` determines the tick.
    pub tick: Option<String>,
    /// Any instant within the tick, in Unix milliseconds.
    pub unix_ms: Option<String>,
    /// The node; if absent, the datacenter and the worker determine the node.
    pub node: Option<String>,
    /// The high-order bits of a split node.
    pub datacenter: Option<String>,
    /// The low-order bits of a split node.
    pub worker: Option<String>,
    /// The clock sequence.
    pub clock_sequence: Option<String>,
    /// The sequence number.
    pub sequence: Option<String>,
}

fn parse(env: &Env, descriptor: &str) -> Result<Layout> {
    descriptor.parse().map_err(|error: Error| thrown(env, &error))
}

/// Returns the names of the presets.
#[napi(catch_unwind)]
pub(crate) fn presets() -> Vec<&'static str> {
    Layout::presets().iter().map(|(name, _)| *name).collect()
}

/// Returns the descriptor of the default layout.
#[napi(catch_unwind)]
pub(crate) fn default_layout() -> String {
    Layout::default().to_string()
}

/// Returns the properties of a layout.
#[napi(catch_unwind)]
pub(crate) fn describe_layout(env: Env, descriptor: String) -> Result<Figures> {
    let layout = parse(&env, &descriptor)?;
    let (max_datacenter, max_worker) = layout.max_datacenter_and_worker().unwrap_or_default();
    Ok(Figures {
        descriptor: layout.to_string(),
        preset_name: layout.preset_name().map(str::to_owned),
        width: layout.width(),
        is_split: layout.is_split(),
        fits_f64: layout.fits_f64(),
        can_generate: layout.can_generate(),
        ids_per_second: layout.ids_per_second(),
        // No layout covers instants before 1970, so every instant fits into a u64.
        numbers: BigUint64Array::new(vec![
            layout.epoch().cast_unsigned(),
            layout.unit_ms(),
            layout.max_tick(),
            layout.max_node(),
            layout.max_sequence(),
            layout.max_clock_sequence(),
            layout.ids_per_tick(),
            layout.horizon().cast_unsigned(),
            layout.fits_i64_until().cast_unsigned(),
            max_datacenter,
            max_worker,
        ]),
    })
}

/// Replaces the epoch in a layout's descriptor, and returns the new descriptor.
#[napi(catch_unwind)]
pub(crate) fn with_epoch(env: Env, descriptor: String, unix_ms: BigInt) -> Result<String> {
    let layout = parse(&env, &descriptor)?.with_epoch(signed(&unix_ms));
    Ok(layout.map_err(|error| thrown(&env, &error))?.to_string())
}

/// Packs parts into an ID.
#[napi(catch_unwind)]
pub(crate) fn pack(env: Env, descriptor: String, parts: PartTexts) -> Result<BigInt> {
    let layout = parse(&env, &descriptor)?;
    let id = parse_parts(&layout, &parts).and_then(|parts| layout.pack(&parts));
    Ok(id.map_err(|error| thrown(&env, &error))?.to_u64().into())
}

fn parse_parts(layout: &Layout, texts: &PartTexts) -> std::result::Result<Parts, Error> {
    let (most_datacenter, most_worker) = layout.max_datacenter_and_worker().unwrap_or_default();
    let most_clock_sequence = layout.max_clock_sequence();
    let mut given = GivenParts::default();
    given.datacenter = optional("datacenter", texts.datacenter.as_ref(), most_datacenter)?;
    given.worker = optional("worker", texts.worker.as_ref(), most_worker)?;
    given.node = optional("node", texts.node.as_ref(), layout.max_node())?;
    given.clock_sequence =
        optional("clock_sequence", texts.clock_sequence.as_ref(), most_clock_sequence)?;
    given.sequence = optional("sequence", texts.sequence.as_ref(), layout.max_sequence())?;
    given.tick = optional("tick", texts.tick.as_ref(), layout.max_tick())?;
    given.unix_ms = texts.unix_ms.as_deref().map(instant);
    layout.complete(&given)
}

/// Returns the parts of an ID, in this order: tick, unixMs, node, datacenter, worker, clockSequence
/// and sequence.
#[napi(catch_unwind)]
pub(crate) fn unpack(env: Env, descriptor: String, id: BigInt) -> Result<BigUint64Array> {
    let parts = parse(&env, &descriptor)?.unpack(Id::from_u64(bits(&id)));
    let parts = parts.map_err(|error| thrown(&env, &error))?;
    Ok(BigUint64Array::new(vec![
        parts.tick,
        parts.unix_ms.cast_unsigned(),
        parts.node,
        parts.datacenter.unwrap_or_default(),
        parts.worker.unwrap_or_default(),
        parts.clock_sequence,
        parts.sequence,
    ]))
}

/// Returns the smallest ID in the tick that contains an instant.
#[napi(catch_unwind)]
pub(crate) fn lower_bound(env: Env, descriptor: String, unix_ms: BigInt) -> Result<BigInt> {
    Ok(parse(&env, &descriptor)?.lower_bound(signed(&unix_ms)).to_u64().into())
}

/// Returns the largest ID in the tick that contains an instant.
#[napi(catch_unwind)]
pub(crate) fn upper_bound(env: Env, descriptor: String, unix_ms: BigInt) -> Result<BigInt> {
    Ok(parse(&env, &descriptor)?.upper_bound(signed(&unix_ms)).to_u64().into())
}

/// Throws the out-of-range error for a value that does not fit into its field or into a JavaScript
/// number.
#[napi(catch_unwind, ts_return_type = "never")]
pub(crate) fn out_of_range(env: Env, name: String, value: String, most: BigInt) -> Result<()> {
    const NAMES: [&str; 9] = [
        "node",
        "datacenter",
        "worker",
        "clock_sequence",
        "sequence",
        "unix_ms",
        "n",
        "ms",
        "size",
    ];
    let name = NAMES.into_iter().find(|known| *known == name).unwrap_or("value");
    let least = u64::from(name == "size");
    Err(thrown(&env, &Error::field_out_of_range(name, &value, least, bits(&most))))
}

/// Returns an ID in the text form with the given name.
#[napi(catch_unwind)]
pub(crate) fn encode_text(env: Env, form: String, id: BigInt) -> Result<String> {
    let form: TextForm = form.parse().map_err(|error: Error| thrown(&env, &error))?;
    Ok(Id::from_u64(bits(&id)).to_text(form).to_string())
}

/// Parses an ID in the text form with the given name.
#[napi(catch_unwind)]
pub(crate) fn decode_text(env: Env, form: String, text: String) -> Result<BigInt> {
    let id = form.parse::<TextForm>().and_then(|form| form.decode(&text));
    Ok(id.map_err(|error| thrown(&env, &error))?.to_u64().into())
}
