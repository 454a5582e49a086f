//! The lease of a program that sends the requests itself and has no threads: WebAssembly in a browser
//! or an edge runtime, whose host has `fetch` and timers.
//!
//! A [`FetchLease`] decides everything: what to send, to which broker and when, what an answer means,
//! and in which ticks IDs may be issued. Its host does this, for ever:
//!
//! 1. [`wake`](FetchLease::wake);
//! 2. while there is a [`request`](FetchLease::request), send it, and hand over what came of it
//!    ([`answered`](FetchLease::answered));
//! 3. stop once it [`is_ended`](FetchLease::is_ended);
//! 4. wait for [`rest`](FetchLease::rest), or until somebody needs a window or closes the lease; then
//!    for [`pause`](FetchLease::pause), or until somebody closes the lease.
//!
//! A host that comes late to any of this only finds its window ended: nothing is issued outside it.

mod host;
mod keeper;
mod lease;
mod options;

pub use flakeid_protocol::http::{HttpAnswer, HttpRequest};
pub use host::{set_host_moment, set_host_random};
pub use lease::FetchLease;
pub use options::FetchOptions;
