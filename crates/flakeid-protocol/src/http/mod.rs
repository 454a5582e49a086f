//! Brokers over HTTP, without a socket: what is sent to which broker, and what the answers mean.

mod address;
mod answer;
mod brokers;
mod exchange;
mod json;

pub use answer::{AnswerJson, Failure, HttpAnswer, checked_instant, in_range, no_broker};
pub use brokers::Brokers;
pub use exchange::{Demand, Exchange, HttpRequest, Reply};
pub use json::{AcquireJson, GrantJson, ReleaseJson, RenewJson, RenewedJson};
