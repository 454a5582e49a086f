//! Which layout to use.

use std::ffi::OsStr;

use clap::builder::{PossibleValue, StringValueParser, TypedValueParser};
use clap::{Arg, Args, Command};
use flakeid_core::Layout;

use crate::args::environment;
use crate::failure::Failure;

pub(crate) const LAYOUT: &str = "FLAKEID_LAYOUT";

#[derive(Args)]
pub(crate) struct LayoutChoice {
    /// Layout of the IDs: a preset or a descriptor [default: twitter]
    ///
    /// `flakeid layout` lists the presets. A descriptor is FIELDS@EPOCH/UNIT: fields from the most
    /// significant bit (t time, d datacenter, w worker, n node, s sequence, c clock sequence,
    /// r reserved), each with its width in bits; the epoch in Unix milliseconds or RFC 3339; the
    /// unit in ms or s. Example: t42.n8.s13@1420070400000/5ms
    #[arg(long, value_name = "L", allow_hyphen_values = true)]
    #[arg(value_parser = Presets, hide_possible_values = true)]
    layout: Option<String>,
}

impl LayoutChoice {
    /// From the flag, else from the environment, else the default.
    pub(crate) fn resolve(&self) -> Result<Layout, Failure> {
        if let Some(text) = &self.layout {
            return parse(text);
        }
        match environment::variable(LAYOUT) {
            Some(text) => text.parse().map_err(|error| {
                let hint = format!("it comes from the environment variable {LAYOUT}");
                Failure::hinted(error, hint)
            }),
            None => Ok(Layout::default()),
        }
    }
}

/// Takes any text, which the core will read; shells complete the presets.
#[derive(Clone)]
pub(crate) struct Presets;

impl TypedValueParser for Presets {
    type Value = String;

    fn parse_ref(
        &self,
        command: &Command,
        arg: Option<&Arg>,
        value: &OsStr,
    ) -> Result<String, clap::Error> {
        StringValueParser::new().parse_ref(command, arg, value)
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(Box::new(Layout::presets().iter().map(|(name, _)| PossibleValue::new(*name))))
    }
}

pub(crate) fn parse(text: &str) -> Result<Layout, Failure> {
    text.parse().map_err(|error| {
        Failure::hinted(error, "`flakeid layout` lists the presets with their descriptors")
    })
}
