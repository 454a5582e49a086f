//! Leases for programs that have no threads and send their own requests. An example is WebAssembly in a browser or an
//! edge runtime, whose host provides `fetch` and timers.
//!
//! A [`FetchLease`] decides when to send a request, and to which broker. It also interprets each response, and
//! determines the ticks in which IDs may be issued. The host repeats these steps:
//!
//! 1. Call [`wake`](FetchLease::wake).
//! 2. While [`request`](FetchLease::request) returns a request, send the request, and pass the response or the failure
//!    to [`answered`](FetchLease::answered).
//! 3. Stop if the lease [`is_ended`](FetchLease::is_ended).
//! 4. Wait for [`rest`](FetchLease::rest), or until a caller needs a window or closes the lease. Then wait for
//!    [`pause`](FetchLease::pause), or until a caller closes the lease.
//!
//! If the host runs a step late, the window can end, but no ID is ever issued outside the window.

mod host;
mod keeper;
mod lease;
mod options;

pub use flakeid_protocol::http::{HttpAnswer, HttpRequest};
pub use host::{set_host_moment, set_host_owner, set_host_random};
pub use lease::FetchLease;
pub use options::FetchOptions;
