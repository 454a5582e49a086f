//! IDs made in the page.

use flakeid_core::{Id, Layout};
use wasm_bindgen::prelude::*;

use crate::{thrown, unix_ms};

/// A generator for one node.
#[wasm_bindgen]
pub struct Generator(flakeid_core::Generator);

#[wasm_bindgen]
impl Generator {
    /// # Errors
    /// `FLAKEID_INVALID_LAYOUT`, `FLAKEID_FIELD_OUT_OF_RANGE` for the node.
    #[wasm_bindgen(constructor)]
    pub fn new(layout: &str, node: u64, now: f64) -> Result<Self, JsValue> {
        set_time(now);
        let layout: Layout = layout.parse().map_err(thrown)?;
        flakeid_core::Generator::builder(layout).node(node).build().map(Self).map_err(thrown)
    }

    /// As many IDs as there are now, at most `count`, one in each line.
    ///
    /// # Errors
    /// Why there was none: in the first tick of a generator, and after a full one, the next comes first.
    pub fn next(&self, count: u32, now: f64) -> Result<String, JsValue> {
        set_time(now);
        let mut ids = vec![Id::from_u64(0); count as usize];
        let made = self.0.try_fill(&mut ids).map_err(thrown)?;
        let texts: Vec<String> = ids.iter().take(made).map(ToString::to_string).collect();
        Ok(texts.join("\n"))
    }
}

/// The core's time, which is JavaScript's here.
#[cfg(all(target_family = "wasm", target_os = "unknown"))]
fn set_time(now: f64) {
    flakeid_core::set_host_time(unix_ms(now));
}

/// Elsewhere, where this crate is only checked, the core has a clock of its own.
#[cfg(not(all(target_family = "wasm", target_os = "unknown")))]
fn set_time(now: f64) {
    let _ = unix_ms(now);
}
