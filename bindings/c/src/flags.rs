//! The flags for the field `has` of option structs. Each flag means that one or two fields of the
//! struct are set.

// [options: all flags]
/// The flag in `has` for the field node.
pub const FLAKEID_HAS_NODE: u32 = 1;
/// The flag in `has` for the field datacenter.
pub const FLAKEID_HAS_DATACENTER: u32 = 2;
/// The flag in `has` for the field worker.
pub const FLAKEID_HAS_WORKER: u32 = 4;
/// The flag in `has` for the field epoch.
pub const FLAKEID_HAS_EPOCH: u32 = 8;
/// The flag in `has` for the field sequence_mask.
pub const FLAKEID_HAS_SEQUENCE_MASK: u32 = 16;
/// The flag in `has` for the field max_ahead_ms.
pub const FLAKEID_HAS_MAX_AHEAD: u32 = 32;
/// The flag in `has` for the field max_wait_ms.
pub const FLAKEID_HAS_MAX_WAIT: u32 = 64;
/// The flag in `has` for the fields window_start and window_fence.
pub const FLAKEID_HAS_WINDOW: u32 = 128;
/// The flag in `has` for the fields first_node and last_node.
pub const FLAKEID_HAS_NODES: u32 = 256;
/// The flag in `has` for the field window_ms.
pub const FLAKEID_HAS_WINDOW_MS: u32 = 512;
/// The flag in `has` for the field ttl_ms.
pub const FLAKEID_HAS_TTL: u32 = 1024;
/// The flag in `has` for the field boost_power.
pub const FLAKEID_HAS_BOOST_POWER: u32 = 2048;
/// The flag in `has` for the field padding_factor.
pub const FLAKEID_HAS_PADDING_FACTOR: u32 = 4096;
/// The flag in `has` for the field refill_interval_ms.
pub const FLAKEID_HAS_REFILL_INTERVAL: u32 = 8192;
/// The flag in `has` for the field max_age_ms.
pub const FLAKEID_HAS_MAX_AGE: u32 = 16384;
// [/options]
