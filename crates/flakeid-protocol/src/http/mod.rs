//! Lease requests to brokers over HTTP, without network access: the content of requests, the choice of brokers, and the
//! meaning of responses.

mod address;
mod answer;
mod brokers;
mod exchange;
mod json;

pub use answer::{AnswerJson, Failure, HttpAnswer, checked_instant, in_range, no_broker};
pub use brokers::Brokers;
pub use exchange::{Exchange, HttpRequest, Reply};
pub use json::{AcquireJson, GrantJson, ReleaseJson, RenewJson, RenewedJson};
