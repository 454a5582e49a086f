//! Descriptions of single IDs, layouts and time ranges.

use flakeid_core::{Error, Layout, TextForm};
use flakeid_json::{
    BoundsJson, EndNames, GuessJson, IdJson, Identifier, LayoutJson, TimeRange, layout_name,
};
use serde::Serialize;
use wasm_bindgen::prelude::*;

use crate::{id, json, thrown, unix_ms};

/// A description of a layout, and of the collision risk of random nodes.
#[derive(Serialize)]
struct DescribedLayout {
    #[serde(flatten)]
    layout: LayoutJson,
    random_nodes: RandomNodes,
}

/// The largest numbers of processes that can choose random nodes without exceeding a given
/// probability of a collision. The three probabilities are 1 in 1,000, 1 in 100 and 1 in 2.
#[derive(Serialize)]
struct RandomNodes {
    thousandth: u64,
    hundredth: u64,
    half: u64,
}

impl RandomNodes {
    /// Solves the birthday problem for n processes, which form n(n-1)/2 pairs. The two processes of
    /// a pair have the same node with a probability of 1/nodes. The probability that all nodes are
    /// distinct is therefore about exp(-n(n-1)/(2 nodes)).
    fn new(layout: &Layout) -> Self {
        let nodes = layout.max_node() as f64 + 1.0;
        let most = |chance: f64| {
            let pairs = -2.0 * nodes * (1.0 - chance).ln();
            // The result is larger than 0 and smaller than 2^33, so the cast is safe.
            (0.5 + (0.25 + pairs).sqrt()) as u64
        };
        Self { thousandth: most(0.001), hundredth: most(0.01), half: most(0.5) }
    }
}

/// Returns a list with the description of each preset, in the format of [`layout`].
///
/// # Errors
/// This function never returns an error.
#[wasm_bindgen]
pub fn presets(now: f64) -> Result<String, JsValue> {
    let described = |(_, layout): &(&str, Layout)| described(layout, now);
    json(&Layout::presets().iter().map(described).collect::<Vec<_>>())
}

fn described(layout: &Layout, now: f64) -> DescribedLayout {
    DescribedLayout {
        layout: LayoutJson::new(layout, unix_ms(now)),
        random_nodes: RandomNodes::new(layout),
    }
}

/// Describes the fields and the capacity of a layout. `text` is the name of a preset or a
/// descriptor.
///
/// # Errors
/// `FLAKEID_INVALID_LAYOUT` if `text` is not a valid layout.
#[wasm_bindgen]
pub fn layout(text: &str, now: f64) -> Result<String, JsValue> {
    json(&described(&text.parse().map_err(thrown)?, now))
}

/// Decodes an ID with the given layout, and returns the ID's fields and all its text forms.
///
/// # Errors
/// `FLAKEID_INVALID_ID` if the ID is invalid; `FLAKEID_INVALID_LAYOUT` if the layout is invalid.
#[wasm_bindgen]
pub fn inspect(text: &str, form: &str, layout: &str) -> Result<String, JsValue> {
    let described = || -> Result<_, Error> { Ok((layout.parse::<Layout>()?, id(text, form)?)) };
    let (layout, id) = described().map_err(thrown)?;
    let name = layout_name(&layout);
    json(&IdJson::new(id, &layout, &name).map_err(thrown)?)
}

/// Describes another identifier, such as a UUID or a ULID, or a number that JavaScript may have
/// rounded. Returns an empty string if `text` is none of these.
#[wasm_bindgen]
#[must_use]
pub fn identify(text: &str) -> String {
    Identifier::recognize(text).map_or(String::new(), |found| found.to_string())
}

/// Returns the names of the text forms, separated by spaces.
#[wasm_bindgen]
#[must_use]
pub fn forms() -> String {
    TextForm::ALL.map(TextForm::name).join(" ")
}

/// The smallest and the largest ID of a time range, the SQL condition for the range, and warnings.
#[derive(Serialize)]
struct DescribedRange<'a> {
    #[serde(flatten)]
    bounds: BoundsJson<'a>,
    condition: String,
    warnings: Vec<String>,
}

/// Computes the smallest and the largest ID of a time range. Either end of the range may be an
/// empty string, but not both.
///
/// # Errors
/// `FLAKEID_INVALID_OPTION` if a time or the column is invalid, if both ends are empty, or if the
/// ends are in the wrong order; `FLAKEID_INVALID_LAYOUT` if the layout is invalid.
#[wasm_bindgen]
pub fn bounds(layout: &str, from: &str, to: &str, column: &str) -> Result<String, JsValue> {
    let layout: Layout = layout.parse().map_err(thrown)?;
    let [from, to] = [from, to].map(|text| Some(text.trim()).filter(|text| !text.is_empty()));
    let range = TimeRange::parse(&layout, &EndNames::FIELDS, from, to).map_err(thrown)?;
    let name = layout_name(&layout);
    json(&DescribedRange {
        bounds: BoundsJson::new(&range, &name),
        condition: range.condition(column.trim()).map_err(thrown)?,
        warnings: range.warnings(),
    })
}

/// Guesses which presets could have produced the IDs. Returns a list of these presets, in which the
/// most likely preset comes first. Returns an empty list if `texts` contains no IDs.
///
/// # Errors
/// `FLAKEID_INVALID_ID` if a string is not an ID in the given text form.
#[wasm_bindgen]
pub fn guess(texts: &str, form: &str, now: f64) -> Result<String, JsValue> {
    let lines = texts.split_whitespace().map(|text| id(text, form));
    let ids = lines.collect::<Result<Vec<_>, _>>().map_err(thrown)?;
    if ids.is_empty() {
        return Ok("[]".to_owned());
    }
    let guesses = flakeid_core::guess(&ids, unix_ms(now));
    let all = guesses.iter().map(|guess| GuessJson::new(guess, &guesses, &ids));
    json(&all.collect::<Vec<_>>())
}
