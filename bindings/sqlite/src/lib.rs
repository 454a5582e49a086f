//! A loadable SQLite extension, built on the core. The extension provides the functions that `flakeid sql` generates
//! for other databases.
//!
//! `connection` stores the configuration of a connection, `functions` implements the SQL functions, and
//! `border` exchanges calls with SQLite through `extension.c`.
//!
//! The library contains its own copy of SQLite, which reads lease stores in files. This copy never opens the program's
//! databases, because two copies of SQLite in one process would release each other's POSIX locks.

// The Clippy lint expects backticks around names such as SQLite, but these names are written as plain words here.
#![allow(clippy::doc_markdown)]

mod border;
mod connection;
mod functions;
mod value;

// This crate uses only the headers of libsqlite3-sys. The import ensures that the build script of libsqlite3-sys runs
// first.
use libsqlite3_sys as _;
