//! The command `flakeid`, which comes with the Python package.

use std::ffi::OsString;

use pyo3::prelude::*;

/// Runs the command and returns its exit status. The first argument is the name of the program.
#[pyfunction]
#[pyo3(name = "_run")]
pub(crate) fn run(py: Python<'_>, arguments: Vec<OsString>) -> u8 {
    py.detach(|| flakeid_cli::run(arguments))
}
