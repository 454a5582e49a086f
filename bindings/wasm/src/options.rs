//! Builds generators from JavaScript options.

use flakeid_core::{Error, GeneratorBuilder, Layout, SetByName};
use wasm_bindgen::prelude::*;

use crate::clock::{self, ManualClock};
use crate::failure::thrown;
use crate::generator::Generator;
use crate::number::{Texts, instant};

/// Returns the names and kinds of the generator options, in the form `name: kind, name: kind`.
#[wasm_bindgen(js_name = generatorOptions)]
#[must_use]
pub fn generator_options() -> String {
    GeneratorBuilder::described()
}

/// Parses options. The first two strings are the layout and the epoch. The following strings come in pairs: the name
/// and the value of an option.
fn builder(texts: &Texts) -> Result<GeneratorBuilder, Error> {
    let mut layout: Layout = texts.get(0).map_or(Ok(Layout::default()), |text| text.parse())?;
    if let Some(epoch) = texts.get(1) {
        layout = layout.with_epoch(instant(&epoch))?;
    }
    let mut builder = flakeid_core::Generator::builder(layout);
    let mut index = 2;
    while let (Some(name), Some(text)) = (texts.get(index), texts.get(index + 1)) {
        builder.set_text(&name, &text)?;
        index += 2;
    }
    Ok(builder)
}

/// Builds a generator. `now` is the result of `Date.now()`.
///
/// # Errors
/// The errors of the core's `GeneratorBuilder::build`.
#[wasm_bindgen]
pub fn open(
    options: Vec<JsValue>,
    clock: Option<ManualClock>,
    now: f64,
) -> Result<Generator, JsValue> {
    clock::set_time(now);
    let open = || {
        let mut builder = builder(&Texts::new(options))?;
        if let Some(ManualClock(clock)) = clock {
            builder = builder.clock(clock);
        }
        builder.build()
    };
    open().map(Generator::new).map_err(thrown)
}
