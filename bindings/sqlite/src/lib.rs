//! A loadable extension of SQLite: the functions of `flakeid sql` over the core.
//!
//! `connection` keeps what a connection was configured with, `functions` has the functions of SQL, and
//! `border` is called by SQLite, through `extension.c`.
//!
//! The library has a copy of SQLite of its own, in which stores of leases in files are read. It never opens a
//! database of the program: two copies in one process would undo each other's POSIX locks.

// SQLite's names have no underscores and are of no interest to Markdown.
#![allow(clippy::doc_markdown)]

mod border;
mod connection;
mod functions;
mod value;

// Only its headers are used; named so that its build script runs first.
use libsqlite3_sys as _;
