//! Options as JavaScript hands them over: by name, as text.

use flakeid_core::{Error, GeneratorBuilder, Layout, RingOptions, SetByName};
use flakeid_lease::LeaseBuilder;
use napi_derive::napi;

use crate::number::instant;

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
    /// The layout of the descriptor, the default one unless given, with the epoch.
    pub(crate) fn layout(&self) -> Result<Layout, Error> {
        let layout =
            self.layout.as_ref().map_or(Ok(Layout::default()), |descriptor| descriptor.parse())?;
        self.epoch.as_ref().map_or(Ok(layout), |epoch| layout.with_epoch(instant(epoch)))
    }

    /// The builder with the other options.
    pub(crate) fn apply<B: SetByName>(&self, builder: B) -> Result<B, Error> {
        apply(builder, &self.settings)
    }
}

/// Sets options given as a name, its value as text, the next name and so on.
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
