//! Arguments that several commands take: where their values come from, and how they are read.

pub(crate) mod confirm;
pub(crate) mod environment;
pub(crate) mod id;
pub(crate) mod layout_arg;
pub(crate) mod node;
