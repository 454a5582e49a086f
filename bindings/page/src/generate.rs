//! Generation of IDs on the web page.

use flakeid_core::{Error, Id, Layout};
use wasm_bindgen::prelude::*;

use crate::{thrown, unix_ms};

/// A generator for one node.
#[wasm_bindgen]
pub struct Generator(flakeid_core::Generator);

#[wasm_bindgen]
impl Generator {
    /// Builds a generator for the given node. `node` must be a string of digits.
    ///
    /// # Errors
    /// `FLAKEID_INVALID_LAYOUT` if the layout is invalid or can only decode IDs;
    /// `FLAKEID_FIELD_OUT_OF_RANGE` if `node` is not a node of the layout;
    /// `FLAKEID_HORIZON_REACHED` if the layout's ticks have run out.
    #[wasm_bindgen(constructor)]
    pub fn new(layout: &str, node: &str, now: f64) -> Result<Self, JsValue> {
        set_time(now);
        let layout: Layout = layout.parse().map_err(thrown)?;
        let node = number("node", node, 0, layout.max_node()).map_err(thrown)?;
        flakeid_core::Generator::builder(layout).node(node).build().map(Self).map_err(thrown)
    }

    /// Generates at most `count` IDs without waiting, and returns one ID per line.
    ///
    /// # Errors
    /// This function returns an error if it cannot issue an ID before the next tick. This happens
    /// in the first tick of a generator, and after a generator has used up the sequence numbers of
    /// a tick.
    pub fn next(&self, count: u32, now: f64) -> Result<String, JsValue> {
        set_time(now);
        let mut ids = vec![Id::from_u64(0); count as usize];
        let generated = self.0.try_fill(&mut ids).map_err(thrown)?;
        let texts: Vec<String> = ids.iter().take(generated).map(ToString::to_string).collect();
        Ok(texts.join("\n"))
    }
}

/// Parses the number of requested IDs from a string of digits.
///
/// # Errors
/// `FLAKEID_FIELD_OUT_OF_RANGE` if the string is not a number from 1 to `most`.
#[wasm_bindgen]
pub fn count(text: &str, most: u32) -> Result<u32, JsValue> {
    let count = number("count", text, 1, most.into()).map_err(thrown)?;
    Ok(u32::try_from(count).unwrap_or(most))
}

/// Parses a number that consists only of digits. JavaScript's number conversion would also accept
/// `1e3`, `0x10` and an empty string.
fn number(field: &'static str, text: &str, min: u64, max: u64) -> Result<u64, Error> {
    let text = text.trim();
    let digits = Some(text).filter(|text| text.bytes().all(|byte| byte.is_ascii_digit()));
    let number = digits.and_then(|digits| digits.parse().ok());
    number.filter(|number| (min..=max).contains(number)).ok_or_else(|| {
        let plain = digits.is_some() && !text.is_empty();
        let value = if plain { text.to_owned() } else { format!("{text:?}") };
        Error::field_out_of_range(field, &value, min, max)
    })
}

/// Sets the time that the core uses, because the core has no clock in the browser.
#[cfg(all(target_family = "wasm", target_os = "unknown"))]
fn set_time(now: f64) {
    flakeid_core::set_host_time(unix_ms(now));
}

/// Does nothing on other targets, because the core has its own clock there. On other targets, this
/// crate is only compiled as a check, and never runs.
#[cfg(not(all(target_family = "wasm", target_os = "unknown")))]
fn set_time(now: f64) {
    let _ = unix_ms(now);
}
