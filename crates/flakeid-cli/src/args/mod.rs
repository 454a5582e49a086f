//! Arguments that several commands take.

pub(crate) mod confirm;
pub(crate) mod environment;
pub(crate) mod layout_arg;
pub(crate) mod node;
