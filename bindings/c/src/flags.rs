//! The flags for the `has` field of option structs. Each flag means that one or two fields of the
//! struct are set.

#![allow(clippy::unreadable_literal, reason = "options.toml contains the numbers")]

// [options: all flags]
/// The flag in `has` for the `node` field.
pub const FLAKEID_HAS_NODE: u32 = 1;
/// The flag in `has` for the `datacenter` field.
pub const FLAKEID_HAS_DATACENTER: u32 = 2;
/// The flag in `has` for the `worker` field.
pub const FLAKEID_HAS_WORKER: u32 = 4;
/// The flag in `has` for the `epoch` field.
pub const FLAKEID_HAS_EPOCH: u32 = 8;
/// The flag in `has` for the `sequence_mask` field.
pub const FLAKEID_HAS_SEQUENCE_MASK: u32 = 16;
/// The flag in `has` for the `max_ahead_ms` field.
pub const FLAKEID_HAS_MAX_AHEAD: u32 = 32;
/// The flag in `has` for the `max_wait_ms` field.
pub const FLAKEID_HAS_MAX_WAIT: u32 = 64;
/// The flag in `has` for the `window_start` and `window_fence` fields.
pub const FLAKEID_HAS_WINDOW: u32 = 128;
/// The flag in `has` for the `first_node` and `last_node` fields.
pub const FLAKEID_HAS_NODES: u32 = 256;
/// The flag in `has` for the `window_ms` field.
pub const FLAKEID_HAS_WINDOW_MS: u32 = 512;
/// The flag in `has` for the `ttl_ms` field.
pub const FLAKEID_HAS_TTL: u32 = 1024;
/// The flag in `has` for the `boost_power` field.
pub const FLAKEID_HAS_BOOST_POWER: u32 = 2048;
/// The flag in `has` for the `padding_factor` field.
pub const FLAKEID_HAS_PADDING_FACTOR: u32 = 4096;
/// The flag in `has` for the `refill_interval_ms` field.
pub const FLAKEID_HAS_REFILL_INTERVAL: u32 = 8192;
/// The flag in `has` for the `max_age_ms` field.
pub const FLAKEID_HAS_MAX_AGE: u32 = 16384;
/// The flag in `has` for the `max_window_ms` field.
pub const FLAKEID_HAS_MAX_WINDOW: u32 = 32768;
/// The flag in `has` for the `max_skew_ms` field.
pub const FLAKEID_HAS_MAX_SKEW: u32 = 65536;
/// The flag in `has` for the `quiet_ms` field.
pub const FLAKEID_HAS_QUIET: u32 = 131072;
/// The flag in `has` for the `open_wait_ms` field.
pub const FLAKEID_HAS_OPEN_WAIT: u32 = 262144;
// [/options]
