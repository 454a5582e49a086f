//! The Python module `flakeid._flakeid`. Each function converts its arguments, calls the core once
//! and converts the result.

#![expect(
    clippy::doc_markdown,
    reason = "doc comments become docstrings, which Python shows as plain text"
)]

mod argument;
mod bounds;
mod buffer;
mod cached;
mod callback;
mod clock;
mod command;
mod direct;
mod error;
mod event;
mod exit;
mod generator;
mod guarded;
mod interpreter;
mod keyed;
mod layout;
mod lease;
mod local;
mod namespace;
mod parts;
mod polled;
mod settings;
mod stats;
mod status;
mod text;
mod time;
mod waiting;

use pyo3::prelude::*;
use pyo3::types::PyModule;

use direct::DirectMethod;

/// Adds functions to a module.
macro_rules! functions {
    ($module:ident, $($path:path),* $(,)?) => {
        $($module.add_function(wrap_pyfunction!($path, $module)?)?;)*
    };
}

/// Defines the classes and functions of the package flakeid.
#[pymodule(gil_used = false)]
fn _flakeid(module: &Bound<'_, PyModule>) -> PyResult<()> {
    let py = module.py();
    // The check precedes the first class, because pyo3 creates each class only once per process, and
    // the classes would then belong to the subinterpreter.
    interpreter::require_main(py)?;
    module.add_class::<cached::CachedGenerator>()?;
    module.add_class::<clock::ManualClock>()?;
    module.add_class::<event::LeaseEvent>()?;
    module.add_class::<generator::Generator>()?;
    module.add_class::<keyed::PublicIds>()?;
    module.add_class::<layout::Layout>()?;
    module.add_class::<local::LocalGenerator>()?;
    module.add_class::<parts::Parts>()?;
    module.add_class::<stats::RingStats>()?;
    module.add_class::<stats::Stats>()?;
    module.add_class::<status::Lease>()?;
    functions!(
        module,
        bounds::decode,
        bounds::lower_bound,
        bounds::upper_bound,
        callback::after_fork,
        command::run,
        exit::close_leases,
        exit::end,
        lease::auto,
        lease::lease,
        namespace::create_namespace,
        text::from_base32,
        text::from_base36,
        text::from_base58,
        text::from_base58_flickr,
        text::from_base62,
        text::from_bytes,
        text::from_decimal,
        text::from_hex,
        text::from_uuid,
        text::from_zbase32,
        text::to_base32,
        text::to_base36,
        text::to_base58,
        text::to_base58_flickr,
        text::to_base62,
        text::to_bytes,
        text::to_decimal,
        text::to_hex,
        text::to_uuid,
        text::to_zbase32,
    );
    generator::NextId::add(py)?;
    generator::TryNextId::add(py)?;
    local::NextId::add(py)?;
    cached::NextId::add(py)?;
    cached::Take::add(py)?;
    module.add("__version__", env!("CARGO_PKG_VERSION"))
}
