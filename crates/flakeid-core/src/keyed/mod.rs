//! Public IDs: the encrypted form of IDs for outsiders, which hides the time and the node.

mod digits;
mod key;
mod keyring;
mod public_ids;
mod speck;

pub use key::Key;
pub use keyring::Keyring;
pub use public_ids::PublicIds;
