//! The JSON types for IDs, their holders, layouts, time ranges, guesses and statistics. The command, the server, the `SQLite`
//! extension and the web page share these types, so that the JSON keys are the same everywhere.
//!
//! IDs are strings, because 64-bit JSON numbers lose digits in JavaScript.

mod bounds_json;
mod guess_json;
mod holder_json;
mod id_json;
mod id_text;
mod identifier;
mod instant;
mod layout_json;
mod overview;
mod stats_json;
mod time_range;

pub use bounds_json::BoundsJson;
pub use guess_json::GuessJson;
#[doc(hidden)]
pub use holder_json::{HeldJson, HolderJson};
pub use id_json::{IdJson, layout_name};
pub use id_text::entered_id;
pub use identifier::Identifier;
pub use instant::parse_instant;
pub use layout_json::{LayoutJson, layout_obstacle};
pub use overview::{Bars, TopNodes};
pub use stats_json::{FiguresJson, StatsJson};
pub use time_range::{Bound, EndNames, TimeRange};
