//! The native half of the npm package `flakeid-core`: plain functions over `flakeid-core`.
//!
//! The classes that users see are JavaScript (`node/lib`), because a class method of an add-on
//! costs several times a plain function. What crosses the border, and in which form, is written
//! at the top of `node/lib/api.js`.

#![expect(unreachable_pub, reason = "the macro takes objects only if all of it is public")]
#![expect(clippy::needless_pass_by_value, reason = "the macro hands arguments over")]
#![expect(clippy::trivially_copy_pass_by_ref, reason = "values borrow from the environment")]

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
mod options;
mod ring;
mod slots;
