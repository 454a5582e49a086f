//! Values as people type and read them, and as programs read them.

pub(crate) mod diagram;
pub(crate) mod duration;
pub(crate) mod id_json;
pub(crate) mod instant;
pub(crate) mod number;
pub(crate) mod table;
