//! Keeping a lease: a plain thread that acquires, renews and releases, and tells how it goes.

mod acts;
mod event;
mod life;
mod pace;
mod source;
mod status;

pub use event::LeaseEvent;
pub(crate) use life::{Life, Lives};
pub(crate) use source::{RETRY, SharedClock, Source, Watch};
pub use status::LeaseStatus;
