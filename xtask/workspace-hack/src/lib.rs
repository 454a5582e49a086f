//! An empty crate: `Cargo.toml` documents its purpose.
