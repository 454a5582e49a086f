//! The logic of lease requests to brokers over HTTP: the content of requests, the choice of brokers, and the meaning of
//! responses. This module does not access the network.

mod address;
mod answer;
mod brokers;
mod exchange;
mod json;

pub use answer::{AnswerJson, Failure, HttpAnswer, checked_instant, in_range, no_broker};
pub use brokers::Brokers;
pub use exchange::{Exchange, HttpRequest, Reply};
pub use json::{AcquireJson, GrantJson, ReleaseJson, RenewJson, RenewedJson};
