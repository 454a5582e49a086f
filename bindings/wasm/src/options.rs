//! From a JavaScript object of options to a generator.

use std::time::Duration;

use flakeid_core::{Error, GeneratorBuilder, Layout, Window};
use wasm_bindgen::prelude::*;

use crate::clock::ManualClock;
use crate::failure::thrown;
use crate::generator::Generator;
use crate::host;
use crate::number::{Texts, field, instant, optional};

/// The options' texts, in the order of `OPTIONS` in `node/wasm/lib/backend.js`.
struct Options(Texts);

impl Options {
    fn checked_layout(&self) -> Result<Layout, Error> {
        let layout: Layout = self.0.get(0).map_or(Ok(Layout::default()), |text| text.parse())?;
        match self.0.get(1) {
            None => Ok(layout),
            Some(epoch) => layout.with_epoch(instant(&epoch)),
        }
    }

    fn builder(&self) -> Result<GeneratorBuilder, Error> {
        let layout = self.checked_layout()?;
        let (most_datacenter, most_worker) = layout.max_datacenter_and_worker().unwrap_or_default();
        let mut builder = flakeid_core::Generator::builder(layout);
        if let Some(node) = optional("node", self.0.get(2), layout.max_node())? {
            builder = builder.node(node);
        }
        if let Some(datacenter) = optional("datacenter", self.0.get(3), most_datacenter)? {
            builder = builder.datacenter(datacenter);
        }
        if let Some(worker) = optional("worker", self.0.get(4), most_worker)? {
            builder = builder.worker(worker);
        }
        if let Some(mask) = optional("sequence_mask", self.0.get(5), layout.max_sequence())? {
            builder = builder.sequence_mask(mask);
        }
        if let Some(text) = self.0.get(6) {
            let most = u64::from(layout.max_sequence().count_ones());
            let bits = text.parse();
            builder = builder.sequence_start(
                bits.map_err(|_| Error::field_out_of_range("sequence_start", &text, 0, most))?,
            );
        }
        if let Some(overflow) = self.0.get(7) {
            builder = builder.overflow(overflow.parse()?);
        }
        if let Some(rollback) = self.0.get(8) {
            builder = builder.rollback(rollback.parse()?);
        }
        if let Some(ms) = optional("max_ahead_ms", self.0.get(9), u64::MAX)? {
            builder = builder.max_ahead(Duration::from_millis(ms));
        }
        if let Some(ms) = optional("max_wait_ms", self.0.get(10), u64::MAX)? {
            builder = builder.max_wait(Duration::from_millis(ms));
        }
        if let (Some(start), Some(fence)) = (self.0.get(11), self.0.get(12)) {
            let start = field("window start", &start, u64::MAX)?;
            builder = builder.window(Window::new(start, field("window fence", &fence, u64::MAX)?)?);
        }
        Ok(builder)
    }
}

/// Makes a generator; it is this late now.
///
/// # Errors
/// As the core's `GeneratorBuilder::build`.
#[wasm_bindgen]
pub fn open(
    options: Vec<JsValue>,
    clock: Option<ManualClock>,
    now: f64,
) -> Result<Generator, JsValue> {
    host::set_time(now);
    let open = || {
        let mut builder = Options(Texts::new(options)).builder()?;
        if let Some(ManualClock(clock)) = clock {
            builder = builder.clock(clock);
        }
        builder.build()
    };
    open().map(Generator::new).map_err(thrown)
}
