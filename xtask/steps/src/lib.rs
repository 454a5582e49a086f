//! Running programs and handling files, for the project's own tools: every step is printed, and every
//! failure says which step or file it was.

#![expect(clippy::missing_errors_doc, reason = "an error always is a step or a file that failed")]
#![expect(clippy::must_use_candidate, reason = "paths and names, which nobody asks for in vain")]

mod beside;
pub mod files;
mod inputs;
pub mod packages;
pub mod servers;
mod step;
pub mod suites;
mod times;
pub mod venv;
pub mod workspace;

pub use step::{Failed, Outcome, Step, root, target_folder};
pub use times::{Choice, Times};
