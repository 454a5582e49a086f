//! The option `--layout`.

use std::ffi::OsStr;

use clap::builder::{PossibleValue, StringValueParser, TypedValueParser};
use clap::{Arg, Args, Command};
use flakeid_core::Layout;

use crate::args;
use crate::failure::Failure;
use crate::terminal;

pub(crate) const LAYOUT: &str = "FLAKEID_LAYOUT";

#[derive(Args)]
pub(crate) struct LayoutArg {
    /// Layout of the IDs: a preset or a descriptor [default: twitter]
    ///
    /// `flakeid layout` lists the presets. A descriptor is FIELDS@EPOCH/UNIT. FIELDS lists the
    /// fields from the most significant bit, separated by dots. Each field is a letter (t time, d
    /// datacenter, w worker, n node, s sequence, c clock sequence, r reserved) and a width in bits.
    /// EPOCH is an RFC 3339 time or a Unix time in milliseconds. UNIT is the length of a tick in ms
    /// or s. Example: t42.n8.s13@1420070400000/5ms
    #[arg(long, value_name = "L", allow_hyphen_values = true)]
    #[arg(value_parser = Presets, hide_possible_values = true)]
    layout: Option<String>,
}

impl LayoutArg {
    /// Returns the layout from the flag `--layout`, or `None` without the flag. Ignores the
    /// environment variable, because the caller uses the layout of an existing namespace and only
    /// checks that the flag does not contradict this layout.
    pub(crate) fn given(&self) -> Result<Option<Layout>, Failure> {
        self.layout.as_deref().map(parse).transpose()
    }

    /// Returns the layout from the flag `--layout` or, without the flag, from the environment
    /// variable. If neither is set, returns the default layout.
    pub(crate) fn resolve(&self) -> Result<Layout, Failure> {
        if let Some(text) = &self.layout {
            return parse(text);
        }
        match args::variable(LAYOUT) {
            Some(text) => text.parse().map_err(|error| args::variable_failure(error, LAYOUT)),
            None => Ok(Layout::default()),
        }
    }
}

/// A clap parser that accepts any string, because the core parses the layout later. For shell
/// completion, the parser lists the names of the presets.
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
    let layout: Layout = text.parse().map_err(|error| {
        Failure::hinted(error, "run `flakeid layout` to list the presets with their descriptors")
    })?;
    // The core accepts every epoch in a descriptor, but refuses an epoch in seconds elsewhere.
    if let Err(error) = layout.with_epoch(layout.epoch()) {
        terminal::warning(&error.to_string());
    }
    Ok(layout)
}
