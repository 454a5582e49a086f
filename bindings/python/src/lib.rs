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

use pyo3::prelude::*;

/// 64-bit, K-ordered IDs of the Snowflake family.
#[pymodule(gil_used = false)]
mod _flakeid {
    use pyo3::prelude::*;

    use crate::direct::DirectMethod;

    #[pymodule_export]
    use crate::bounds::{decode, lower_bound, upper_bound};
    #[pymodule_export]
    use crate::cached::CachedGenerator;
    #[pymodule_export]
    use crate::callback::after_fork;
    #[pymodule_export]
    use crate::clock::ManualClock;
    #[pymodule_export]
    use crate::command::run;
    #[pymodule_export]
    use crate::event::LeaseEvent;
    #[pymodule_export]
    use crate::exit::{close_leases, end};
    #[pymodule_export]
    use crate::generator::Generator;
    #[pymodule_export]
    use crate::keyed::PublicIds;
    #[pymodule_export]
    use crate::layout::Layout;
    #[pymodule_export]
    use crate::lease::{auto, lease};
    #[pymodule_export]
    use crate::local::LocalGenerator;
    #[pymodule_export]
    use crate::namespace::create_namespace;
    #[pymodule_export]
    use crate::parts::Parts;
    #[pymodule_export]
    use crate::stats::{RingStats, Stats};
    #[pymodule_export]
    use crate::status::Lease;
    #[pymodule_export]
    use crate::text::{
        from_base32, from_base36, from_base58, from_base58_flickr, from_base62, from_bytes,
        from_decimal, from_hex, from_uuid, from_zbase32, to_base32, to_base36, to_base58,
        to_base58_flickr, to_base62, to_bytes, to_decimal, to_hex, to_uuid, to_zbase32,
    };

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        let py = module.py();
        crate::generator::NextId::add(py)?;
        crate::generator::TryNextId::add(py)?;
        crate::local::NextId::add(py)?;
        crate::cached::NextId::add(py)?;
        crate::cached::Take::add(py)?;
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }
}
