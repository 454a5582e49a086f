//! The creation of namespaces.

use std::ffi::c_char;
use std::mem::{MaybeUninit, offset_of};

use flakeid::NamespaceBuilder;
use flakeid_core::whole_ms;

use crate::border::{self, Sized32, given};
use crate::fault::Fault;
use crate::flags;
use crate::guard::guard;
use crate::options::{self, OptionsHandle};
use crate::set;
use crate::status::Status;

// [options: namespace known]
#[rustfmt::skip]
const KNOWN: u32 = flags::FLAKEID_HAS_EPOCH | flags::FLAKEID_HAS_MAX_AHEAD |
    flags::FLAKEID_HAS_MAX_WINDOW | flags::FLAKEID_HAS_MAX_SKEW | flags::FLAKEID_HAS_QUIET;
// [/options]

/// The options of a new namespace. Initialize the struct with FLAKEID_NAMESPACE_CONFIG_INIT, or zero
/// it and set struct_size. Then set the fields that you need. For each field that has a flag, also
/// set the flag in `has`. A nonzero field without its flag causes FLAKEID_INVALID_OPTION.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct NamespaceConfig {
    /// The size of the struct: sizeof(flakeid_namespace_config).
    pub struct_size: u32,
    /// The FLAKEID_HAS_... flags of the fields that are set.
    pub has: u32,
    // [options: namespace fields]
    /// The layout of the IDs: a preset's name or a descriptor; NULL means "twitter".
    pub layout: *const c_char,
    /// The instant of tick 0, in Unix milliseconds. This field requires the flag FLAKEID_HAS_EPOCH;
    /// the default is the layout's epoch.
    pub epoch: i64,
    /// The longest window of a lease, for which processes can issue IDs while the store is
    /// unavailable: from two ticks to a day. This field requires the flag FLAKEID_HAS_MAX_WINDOW;
    /// the default is 10 s or four ticks, whichever is longer.
    pub max_window_ms: u64,
    /// The longest time by which a window may start ahead of the clock: at most a day. This field
    /// requires the flag FLAKEID_HAS_MAX_AHEAD; the default is 20 s or four ticks, whichever is
    /// longer.
    pub max_ahead_ms: u64,
    /// The largest allowed difference between a host's clock and the store's clock: 1 ms to a day.
    /// This field requires the flag FLAKEID_HAS_MAX_SKEW; the default is 1 s.
    pub max_skew_ms: u64,
    /// The time for which the store grants no nodes after a restart, a failover or a restore: at
    /// most a week. This field requires the flag FLAKEID_HAS_QUIET; the default is the longest
    /// window, four times the allowed difference between clocks and a tick, but at least 15 s.
    pub quiet_ms: u64,
    /// The exponent k: brokers lease blocks of 2^k nodes, and processes lease nodes from the
    /// brokers; 0 means 0. With 0, processes lease single nodes from the store.
    pub block_bits: u32,
    /// 1 if the store does not record which process held which node; 0 if it does.
    pub no_history: i32,
    /// Whether the store has never had a namespace with this name, so that it grants nodes at once:
    /// 1 or 0. If this is untrue, IDs may be issued twice. Never set this option when a program
    /// starts: it is untrue after the store has lost its data.
    pub fresh: i32,
    /// Reserved; must be 0.
    pub reserved: u32,
    /// NULL, or a list of further options, which are set by name after the fields of this struct.
    pub options: *const OptionsHandle,
    // [/options]
}

// SAFETY: the struct is `repr(C)` and begins with a `u32`. The struct contains only numbers and raw
// pointers, so all bytes may be zero.
unsafe impl Sized32 for NamespaceConfig {
    const FIRST: usize = offset_of!(NamespaceConfig, options) + size_of::<*const OptionsHandle>();
}

impl NamespaceConfig {
    /// Returns a builder with the options of this struct.
    ///
    /// # Safety
    /// The strings of this struct must be NULL or NUL-terminated, and `options` must be NULL or a
    /// live handle.
    unsafe fn builder(&self, url: &str, name: &str) -> Result<NamespaceBuilder, Fault> {
        set::check_flags(self.has, KNOWN)?;
        set::check_reserved(self.reserved)?;
        // SAFETY: the caller guarantees that strings are NULL or NUL-terminated, and that handles are NULL
        // or live.
        let (layout, by_name) = unsafe { (border::text(self.layout), self.options.as_ref()) };
        let epoch = set::given(self.has, flags::FLAKEID_HAS_EPOCH, "epoch", self.epoch)?;
        let layout = options::layout(by_name, layout, epoch)?;
        let mut builder = NamespaceBuilder::new(url, name, layout)?;
        self.set(&mut builder)?;
        options::apply(by_name, &mut builder)?;
        Ok(builder)
    }

    /// Sets the options of the builder from the fields of this struct.
    #[rustfmt::skip]
    fn set(&self, builder: &mut NamespaceBuilder) -> Result<(), Fault> {
        // [options: namespace set]
        set::flagged(builder, self.has, flags::FLAKEID_HAS_MAX_AHEAD, "max_ahead_ms", self.max_ahead_ms)?;
        set::flagged(builder, self.has, flags::FLAKEID_HAS_MAX_WINDOW, "max_window_ms", self.max_window_ms)?;
        set::flagged(builder, self.has, flags::FLAKEID_HAS_MAX_SKEW, "max_skew_ms", self.max_skew_ms)?;
        set::flagged(builder, self.has, flags::FLAKEID_HAS_QUIET, "quiet_ms", self.quiet_ms)?;
        set::unless_zero(builder, "block_bits", self.block_bits)?;
        set::flag(builder, "history", true, "no_history", self.no_history)?;
        set::flag(builder, "fresh", false, "fresh", self.fresh)?;
        // [/options]
        Ok(())
    }
}

/// Creates the namespace `name` in the store at `url`, with the tables or keys that the store needs
/// for it. `name` consists of 1 to 64 characters of A-Z a-z 0-9 . _ -. `config` may be NULL. Writes
/// to `wait_ms` the time, in milliseconds, until the store can grant nodes; `wait_ms` may be NULL.
///
/// A server cannot distinguish a namespace that never existed from a namespace that it has lost.
/// Therefore, the store grants nothing until all leases that it may have lost have ended: 15 s with
/// the default bounds, and the first IDs are then up to 18 s ahead of the clock. Each assumed bound
/// is the larger of the default bound and the bound in `config`. If the lost namespace may have had
/// larger bounds, create it with the command `flakeid leases init --lost`. An embedded store
/// (sqlite) detects its losses, so its nodes can usually be leased at once.
///
/// If the namespace already exists with the same layout, the same blocks and the given options,
/// nothing changes, so every process can call this function when it starts. On a database server,
/// the function requires a user who may create tables. Thread-safe.
///
/// Errors: FLAKEID_INVALID_OPTION (also if the namespace exists with a value other than a given
/// option), FLAKEID_FIELD_OUT_OF_RANGE, FLAKEID_INVALID_LAYOUT, FLAKEID_STORE_REJECTED (the namespace
/// exists with another layout or other blocks, the URL of a broker, missing permissions, ...),
/// FLAKEID_STORE_UNAVAILABLE, FLAKEID_NULL_ARGUMENT.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn flakeid_create_namespace(
    url: *const c_char,
    name: *const c_char,
    config: *const NamespaceConfig,
    wait_ms: Option<&mut MaybeUninit<u64>>,
) -> Status {
    guard(|| {
        // SAFETY: the C caller guarantees that strings are NULL or NUL-terminated.
        let (url, name) = unsafe { (border::text(url), border::text(name)) };
        let (url, name) = (given(url, "url")?, given(name, "name")?);
        // SAFETY: the C caller guarantees that `config` is NULL or points to `struct_size` readable
        // bytes, and that the pointers in `config` are valid.
        let created = unsafe { border::read_optional(config)?.builder(&url, &name)? }.create()?;
        if let Some(wait_ms) = wait_ms {
            wait_ms.write(whole_ms(created.wait));
        }
        Ok(())
    })
}
