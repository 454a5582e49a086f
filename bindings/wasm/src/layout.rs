//! The properties of layouts, and functions that pack and unpack IDs. Callers pass a layout as its descriptor or name.

use flakeid_core::{Error, GivenParts, Id, Layout, Parts};
use wasm_bindgen::prelude::*;

use crate::failure::thrown;
use crate::number::{Texts, instant, optional};

#[inline(never)]
fn parse(descriptor: &str) -> Result<Layout, JsValue> {
    descriptor.parse().map_err(thrown)
}

/// Returns the names of the presets.
#[wasm_bindgen]
#[must_use]
pub fn presets() -> Vec<String> {
    Layout::presets().iter().map(|(name, _)| (*name).to_owned()).collect()
}

/// Returns the descriptor of the default layout.
#[wasm_bindgen(js_name = defaultLayout)]
#[must_use]
pub fn default_layout() -> String {
    Layout::default().to_string()
}

/// A layout and its properties.
#[wasm_bindgen]
pub struct Figures(Layout);

#[wasm_bindgen]
impl Figures {
    /// Parses the descriptor or name of a layout.
    ///
    /// # Errors
    /// `FLAKEID_INVALID_LAYOUT` if the layout is invalid.
    #[wasm_bindgen(constructor)]
    pub fn new(descriptor: &str) -> Result<Self, JsValue> {
        parse(descriptor).map(Self)
    }

    /// The layout's canonical descriptor.
    #[must_use]
    pub fn descriptor(&self) -> String {
        self.0.to_string()
    }

    /// The name of the layout, or undefined if the layout is not a preset.
    #[wasm_bindgen(js_name = presetName)]
    #[must_use]
    pub fn preset_name(&self) -> Option<String> {
        self.0.preset_name().map(str::to_owned)
    }

    /// The number of bits in an ID.
    #[must_use]
    pub fn width(&self) -> u32 {
        self.0.width()
    }

    /// Whether the layout splits the node into a datacenter and a worker.
    #[wasm_bindgen(js_name = isSplit)]
    #[must_use]
    pub fn is_split(&self) -> bool {
        self.0.is_split()
    }

    /// Whether JavaScript numbers can represent every ID of the layout exactly.
    #[wasm_bindgen(js_name = fitsF64)]
    #[must_use]
    pub fn fits_f64(&self) -> bool {
        self.0.fits_f64()
    }

    /// Whether generators can use the layout.
    #[wasm_bindgen(js_name = canGenerate)]
    #[must_use]
    pub fn can_generate(&self) -> bool {
        self.0.can_generate()
    }

    /// The number of IDs that one node can issue per second.
    #[wasm_bindgen(js_name = idsPerSecond)]
    #[must_use]
    pub fn ids_per_second(&self) -> f64 {
        self.0.ids_per_second()
    }

    /// Returns the following properties of the layout, in this order: `epoch`, `unit_ms`, `max_tick`, `max_node`,
    /// `max_sequence`, `max_clock_sequence`, `ids_per_tick`, `horizon`, `fits_i64_until`, the largest datacenter and
    /// the largest worker. The last two numbers are 0 if the layout does not split the node.
    #[must_use]
    pub fn numbers(&self) -> Vec<u64> {
        let layout = &self.0;
        let (datacenter, worker) = layout.max_datacenter_and_worker().unwrap_or_default();
        vec![
            layout.epoch().cast_unsigned(),
            layout.unit_ms(),
            layout.max_tick(),
            layout.max_node(),
            layout.max_sequence(),
            layout.max_clock_sequence(),
            layout.ids_per_tick(),
            layout.horizon().cast_unsigned(),
            layout.fits_i64_until().cast_unsigned(),
            datacenter,
            worker,
        ]
    }
}

/// Replaces the epoch of a layout, and returns the descriptor of the new layout.
///
/// # Errors
/// `FLAKEID_INVALID_LAYOUT` if the layout or the epoch is invalid.
#[wasm_bindgen(js_name = withEpoch)]
pub fn with_epoch(descriptor: &str, unix_ms: i64) -> Result<String, JsValue> {
    let layout = parse(descriptor)?.with_epoch(unix_ms).map_err(thrown)?;
    Ok(layout.to_string())
}

/// Unpacks an ID into its parts, in this order: tick, Unix milliseconds, node, datacenter, worker, clock sequence,
/// sequence. The value is 0 for fields that the layout does not have.
///
/// # Errors
/// `FLAKEID_INVALID_LAYOUT` if the layout is invalid; `FLAKEID_INVALID_ID` if the ID does not belong to the layout.
#[wasm_bindgen]
pub fn unpack(descriptor: &str, id: u64) -> Result<Vec<u64>, JsValue> {
    let parts = parse(descriptor)?.unpack(Id::from_u64(id)).map_err(thrown)?;
    Ok(vec![
        parts.tick,
        parts.unix_ms.cast_unsigned(),
        parts.node,
        parts.datacenter.unwrap_or_default(),
        parts.worker.unwrap_or_default(),
        parts.clock_sequence,
        parts.sequence,
    ])
}

/// Returns the smallest ID in the tick that contains the given instant.
///
/// # Errors
/// `FLAKEID_INVALID_LAYOUT` if the layout is invalid.
#[wasm_bindgen(js_name = lowerBound)]
pub fn lower_bound(descriptor: &str, unix_ms: i64) -> Result<u64, JsValue> {
    Ok(parse(descriptor)?.lower_bound(unix_ms).to_u64())
}

/// Returns the largest ID in the tick that contains the given instant.
///
/// # Errors
/// `FLAKEID_INVALID_LAYOUT` if the layout is invalid.
#[wasm_bindgen(js_name = upperBound)]
pub fn upper_bound(descriptor: &str, unix_ms: i64) -> Result<u64, JsValue> {
    Ok(parse(descriptor)?.upper_bound(unix_ms).to_u64())
}

/// Parses the parts of an ID, and derives missing parts. The strings are in the order of `PARTS` in
/// `node/lib/wasm.js`.
fn parse_parts(layout: &Layout, texts: &Texts) -> Result<Parts, Error> {
    let (most_datacenter, most_worker) = layout.max_datacenter_and_worker().unwrap_or_default();
    let mut given = GivenParts::default();
    given.datacenter = optional("datacenter", texts.get(3), most_datacenter)?;
    given.worker = optional("worker", texts.get(4), most_worker)?;
    given.node = optional("node", texts.get(2), layout.max_node())?;
    given.clock_sequence = optional("clock_sequence", texts.get(5), layout.max_clock_sequence())?;
    given.sequence = optional("sequence", texts.get(6), layout.max_sequence())?;
    given.tick = optional("tick", texts.get(0), layout.max_tick())?;
    given.unix_ms = texts.get(1).map(|text| instant(&text));
    layout.complete(&given)
}

/// Packs the given parts into an ID.
///
/// # Errors
/// `FLAKEID_INVALID_LAYOUT` if the layout is invalid; `FLAKEID_FIELD_OUT_OF_RANGE` if a part does not fit into its
/// field; `FLAKEID_INVALID_OPTION` if a part is missing or contradicts another part; the errors of the core's
/// `tick_at`.
#[wasm_bindgen]
pub fn pack(descriptor: &str, texts: Vec<JsValue>) -> Result<u64, JsValue> {
    let layout = parse(descriptor)?;
    let id = parse_parts(&layout, &Texts::new(texts)).and_then(|parts| layout.pack(&parts));
    id.map(Id::to_u64).map_err(thrown)
}
