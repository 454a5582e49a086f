//! The native half of the npm package `flakeid-core`: plain functions that call the crates
//! `flakeid` and `flakeid-core`.
//!
//! The classes that users see are implemented in JavaScript (`node/lib`), for speed: in an add-on,
//! calling a class method costs several times as much as calling a plain function. The comment at
//! the top of `node/lib/api.js` lists the functions, with the types of their arguments and results.

#![expect(unreachable_pub, reason = "the macro accepts only public objects with public fields")]
#![expect(clippy::needless_pass_by_value, reason = "the macro passes arguments by value")]
#![expect(clippy::trivially_copy_pass_by_ref, reason = "N-API values borrow from `Env`")]

mod cached;
mod dispatch;
mod environment;
mod function;
mod generator;
mod handle;
mod keyed;
mod layout;
mod lease;
mod lease_tasks;
mod leases;
mod local;
mod namespace;
mod off_loop;
mod options;
mod ring;
mod slots;
