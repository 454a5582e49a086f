//! Public IDs: an encrypted form of IDs that hides the time and the node from outsiders.

mod digits;
mod key;
mod keyring;
mod public_ids;
mod speck;

pub use key::Key;
pub use keyring::Keyring;
pub use public_ids::PublicIds;
