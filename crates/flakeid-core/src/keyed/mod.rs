//! The keyed public form of IDs: what outsiders see instead of the time and the node.

mod digits;
mod key;
mod keyring;
mod public_ids;
mod speck;

pub use key::Key;
pub use keyring::Keyring;
pub use public_ids::PublicIds;
