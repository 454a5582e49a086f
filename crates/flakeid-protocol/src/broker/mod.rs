//! The broker's side of the protocol, without input or output.

mod block;
mod blocks;
mod expiries;
mod history;
mod unrecorded;

pub use blocks::{Blocks, Denial};
pub use unrecorded::sub_grant_of;
