//! The libraries that `flakeid migrate` knows by name.

use std::fmt::Write as _;

use flakeid_core::{Layout, Parts};

use crate::args::layout_arg;
use crate::failure::Failure;

/// The default settings of a library that generates Snowflake-family IDs.
pub(super) struct Library {
    pub(super) name: &'static str,
    /// The layout of the library's IDs, as a preset or a descriptor.
    pub(super) layout: &'static str,
    /// The library's name for the node, or its names for the two parts of the node.
    pub(super) node: &'static [&'static str],
    /// Whether the library can generate IDs ahead of the clock even if the clock has never gone
    /// backwards.
    pub(super) runs_ahead: bool,
}

const fn library(
    name: &'static str,
    layout: &'static str,
    node: &'static [&'static str],
    runs_ahead: bool,
) -> Library {
    Library { name, layout, node, runs_ahead }
}

/// The known libraries. A table in the guide (`docs/src/how-to/moving.md`) has a row for each library, and
/// a test compares the table with this list.
pub(super) const LIBRARIES: [Library; 14] = [
    library("bwmarrin", "twitter", &["node"], false),
    library("sonyflake", "sonyflake", &["machine ID"], false),
    library("sonyflake2", "t39.s8.n16@2025-01-01T00:00:00Z/10ms", &["machine ID"], false),
    library("flake-idgen", "flakeid", &["datacenter", "worker"], false),
    library("sapphire", "discord", &["workerId", "processId"], false),
    library("snowflake-id", "plain", &["instance"], false),
    library("hutool", "twitter", &["dataCenterId", "workerId"], false),
    library("mybatis-plus", "twitter", &["datacenterId", "workerId"], false),
    library("leaf", "twitter", &["workerId"], false),
    library("baidu", "baidu", &["workerId"], false),
    library("baidu-cached", "baidu-29", &["workerId"], true),
    library("cosid", "cosid", &["machineId"], false),
    library("yitter", "js-safe", &["WorkerId"], true),
    library("tsid", "tsid", &["node"], true),
];

/// The source of the existing IDs: a library, or another generator with a known layout.
pub(super) struct Origin {
    pub(super) library: Option<&'static Library>,
    pub(super) layout: Layout,
}

impl Origin {
    /// Parses the name of a library, the name of a preset, or the descriptor of a layout.
    pub(super) fn parse(text: &str) -> Result<Self, Failure> {
        let library = LIBRARIES.iter().find(|library| library.name == text);
        let layout = library.map_or(text, |library| library.layout);
        match layout_arg::parse(layout) {
            Ok(layout) => Ok(Self { library, layout }),
            Err(Failure::Refused { error, .. }) => Err(Failure::hinted(
                error,
                format!("--from must be a layout or one of these libraries: {}", names()),
            )),
            Err(other) => Err(other),
        }
    }

    /// Formats the node for the output, with the library's own names for the node or its parts.
    pub(super) fn node(&self, parts: &Parts) -> String {
        let names = self.library.map_or(&["node"] as &[_], |library| library.node);
        match (names, parts.datacenter, parts.worker) {
            ([high, low], Some(datacenter), Some(worker)) => {
                format!("{high} {datacenter} and {low} {worker} (node {})", parts.node)
            }
            _ => format!("{} {}", names.join(", "), parts.node),
        }
    }
}

fn names() -> String {
    let names: Vec<&str> = LIBRARIES.iter().map(|library| library.name).collect();
    names.join(", ")
}

/// Returns the table of libraries that `flakeid migrate --help` shows.
pub(super) fn table() -> String {
    let mut text = String::from("Libraries, with their default settings:\n");
    for Library { name, layout, node, .. } in &LIBRARIES {
        let _ = writeln!(text, "  {name:<13} {layout:<37} {}", node.join(", "));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_library_name_parses_to_its_layout() {
        for Library { name, .. } in &LIBRARIES {
            assert!(Origin::parse(name).is_ok_and(|origin| origin.library.is_some()), "{name}");
        }
        // A library with the same name as a preset has the layout of that preset.
        for (name, preset) in Layout::presets() {
            let origin = Origin::parse(name);
            assert!(origin.is_ok_and(|origin| origin.layout == *preset), "{name}");
        }
    }
}
