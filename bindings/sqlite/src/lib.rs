//! A loadable SQLite extension that provides the functions of `flakeid sql`, built on the core.
//!
//! `connection` stores the configuration of a connection, `functions` implements the SQL functions, and
//! `border` exchanges calls with SQLite through `extension.c`.
//!
//! The library contains its own copy of SQLite, with which it reads lease stores in files. This copy never opens the
//! program's databases, because two copies in one process would release each other's POSIX locks.

// SQLite's names look like code to the lint, but are written as plain words.
#![allow(clippy::doc_markdown)]

mod border;
mod connection;
mod functions;
mod value;

// Only the headers of libsqlite3-sys are used. The import makes the build script of that crate run first.
use libsqlite3_sys as _;
