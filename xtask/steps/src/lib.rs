//! Runs programs and handles files for the project's own tools. Each step is printed, and each
//! error contains the step or the file.

#![expect(clippy::missing_errors_doc, reason = "every error is a failed step or file")]
#![expect(clippy::must_use_candidate, reason = "these functions return paths and names")]

pub mod files;
pub mod machine;
pub mod packages;
pub mod plan;
pub mod servers;
mod step;
pub mod suites;
pub mod venv;
pub mod workspace;

pub use step::{Failed, Outcome, Step, root, target_folder};
