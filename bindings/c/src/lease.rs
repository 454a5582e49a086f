//! Generators whose nodes are leased from a store.

use std::ffi::{c_char, c_void};
use std::mem::{MaybeUninit, offset_of};
use std::time::{SystemTime, UNIX_EPOCH};

use flakeid::LeaseBuilder;
use flakeid_core::Error;

use crate::border::{self, Sized32, given};
use crate::event::{LeaseCallback, Listener};
use crate::fault::Fault;
use crate::flags;
use crate::generator::GeneratorHandle;
use crate::guard::guard;
use crate::options::{self, OptionsHandle};
use crate::set;
use crate::status::{FLAKEID_OK, Status};

// [options: lease known]
#[rustfmt::skip]
const KNOWN: u32 = flags::FLAKEID_HAS_NODE | flags::FLAKEID_HAS_DATACENTER |
    flags::FLAKEID_HAS_WORKER | flags::FLAKEID_HAS_NODES | flags::FLAKEID_HAS_EPOCH |
    flags::FLAKEID_HAS_TTL | flags::FLAKEID_HAS_WINDOW_MS | flags::FLAKEID_HAS_SEQUENCE_MASK |
    flags::FLAKEID_HAS_MAX_WAIT | flags::FLAKEID_HAS_OPEN_WAIT;
// [/options]

/// The options of a lease. Without options, the lease is for any free node of the namespace
/// "default". Initialize the struct with FLAKEID_LEASE_CONFIG_INIT, or zero it and set struct_size.
/// Then set the fields that you need. For each field that has a flag, also set the flag in `has`. A
/// nonzero field without its flag causes FLAKEID_INVALID_OPTION.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct LeaseConfig {
    /// The size of the struct: sizeof(flakeid_lease_config).
    pub struct_size: u32,
    /// The FLAKEID_HAS_... flags of the fields that are set.
    pub has: u32,
    // [options: lease fields]
    /// The layout of the IDs: a preset's name or a descriptor; NULL means "twitter". A lease must
    /// use the layout of its namespace.
    pub layout: *const c_char,
    /// The namespace from which to lease a node: 1 to 64 characters from the set A-Z a-z 0-9 . _ -;
    /// NULL means "default". Each namespace has one layout and its own nodes.
    pub namespace_name: *const c_char,
    /// The name of this process, 1 to 128 bytes long; NULL means none. If possible, the process
    /// gets the last node that was leased under its name.
    pub name: *const c_char,
    /// The node to lease. This field requires the flag FLAKEID_HAS_NODE; the default is any node.
    /// Taking over the node is safe even while another process holds it.
    pub node: u64,
    /// The high part of the node, in layouts that split the node; must be set together with worker.
    /// This field requires the flag FLAKEID_HAS_DATACENTER.
    pub datacenter: u64,
    /// The low part of the node, in layouts that split the node; must be set together with
    /// datacenter. This field requires the flag FLAKEID_HAS_WORKER.
    pub worker: u64,
    /// The first node of the range from which to lease a node. This field requires the flag
    /// FLAKEID_HAS_NODES.
    pub first_node: u64,
    /// The last node of the range from which to lease a node. This field requires the flag
    /// FLAKEID_HAS_NODES.
    pub last_node: u64,
    /// The instant of tick 0, in Unix milliseconds. This field requires the flag FLAKEID_HAS_EPOCH;
    /// the default is the layout's epoch.
    pub epoch: i64,
    /// The largest sequence number to use, which must have the form 2^k - 1. This field requires
    /// the flag FLAKEID_HAS_SEQUENCE_MASK; the default is the layout's largest sequence number.
    pub sequence_mask: u64,
    /// The number of random bits in the first sequence number of each tick.
    pub sequence_start: u32,
    /// The behaviour when a tick has no IDs left: FLAKEID_OVERFLOW_WAIT, FLAKEID_OVERFLOW_ERROR or
    /// FLAKEID_OVERFLOW_BORROW (default: FLAKEID_OVERFLOW_WAIT).
    pub overflow: i32,
    /// The behaviour when the clock goes backwards: FLAKEID_ROLLBACK_CONTINUE,
    /// FLAKEID_ROLLBACK_ERROR or FLAKEID_ROLLBACK_WAIT (default: FLAKEID_ROLLBACK_CONTINUE).
    pub rollback: i32,
    /// 1 to lease only nodes that have never been leased; 0 to lease any free node.
    pub never_reuse: i32,
    /// The time for which the generator issues IDs while the store is unavailable: from two ticks
    /// to the longest window that the namespace allows. This field requires the flag
    /// FLAKEID_HAS_WINDOW_MS; the default is 10 s or two ticks, whichever is longer.
    pub window_ms: u64,
    /// The time for which the node stays reserved after the last renewal: 1 ms to 30 days. This
    /// field requires the flag FLAKEID_HAS_TTL; the default is 60 s or 12 ticks, whichever is
    /// longer. Uniqueness does not depend on this time.
    pub ttl_ms: u64,
    /// The longest time that a call waits without issuing an ID. This field requires the flag
    /// FLAKEID_HAS_MAX_WAIT; the default is 1 s or two ticks, whichever is longer. Opening a lease
    /// may take up to 2 s longer because of the connection to the store, or as long as open_wait_ms
    /// if the store grants nothing after a restart.
    pub max_wait_ms: u64,
    /// NULL, or a function that is called for each lease event, on a library thread, one call at a
    /// time. The function should return quickly, may close and free the generator, and must not
    /// fork or throw. A lease with an event function is not shared with other generators.
    pub on_event: LeaseCallback,
    /// A pointer that the library passes to each callback function. The target of the pointer must
    /// remain valid until the generator or ring that is created with this struct is freed.
    pub user_data: *mut c_void,
    /// The clock: "gated", "system" or "coarse"; NULL means "gated". With "gated", the time is
    /// exact, and on suitable processors the system clock is read only a few times per millisecond.
    /// With "system", the system clock is read for every ID. With "coarse", the time lags behind
    /// the system clock by a few milliseconds, and is never ahead of the system clock.
    pub clock_name: *const c_char,
    /// The number of nodes to lease for this generator, which must be a power of two; 0 means 1. In
    /// every tick, the generator can issue the IDs of all these nodes. Several nodes cannot be
    /// combined with name, node or sequence_mask.
    pub node_count: u32,
    /// Reserved; must be 0.
    pub reserved: u32,
    /// NULL, or a list of further options, which are set by name after the fields of this struct.
    pub options: *const OptionsHandle,
    /// The longest time that opening a lease waits while the store grants nothing, for example
    /// after a restart. This field requires the flag FLAKEID_HAS_OPEN_WAIT; the default is 30 s. If
    /// the store would grant a node only later, opening fails at once.
    pub open_wait_ms: u64,
    // [/options]
}

// SAFETY: the struct is `repr(C)` and begins with a `u32`. The struct contains only numbers, raw
// pointers, and a function that may be NULL, so all bytes may be zero.
unsafe impl Sized32 for LeaseConfig {
    const FIRST: usize = offset_of!(LeaseConfig, user_data) + size_of::<*mut c_void>();
}

/// The state of a lease. Initialize the struct with FLAKEID_LEASE_STATUS_INIT.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct LeaseStatus {
    /// The size of the struct: sizeof(flakeid_lease_status).
    pub struct_size: u32,
    /// 1 if the generator loses its node at the fence, usually because another process has taken
    /// over the node; otherwise 0.
    pub fenced_off: i32,
    /// The first tick of the current grant.
    pub start: u64,
    /// The first tick that the generator must not use; every renewal raises the fence.
    pub fence: u64,
    /// The instant at which the fence tick begins, in Unix milliseconds. While the store is
    /// unavailable, the generator continues to issue IDs until this instant.
    pub fence_unix_ms: i64,
    /// The instant until which the node is reserved for this process, in Unix milliseconds,
    /// according to the store's clock.
    pub expires_unix_ms: i64,
    /// The time from now until expires_unix_ms, in milliseconds, according to this host's clock.
    /// The time is negative if expires_unix_ms is in the past.
    pub expires_in_ms: i64,
    /// The number of renewals that the store has confirmed.
    pub renewals: u64,
    /// The number of times that the generator has obtained its nodes from the store. In a forked
    /// child that has not issued an ID yet, this field and all others are 0.
    pub grants: u64,
    /// The number of failed attempts to acquire a node or to renew its lease.
    pub failures: u64,
    /// The status of the latest attempt to acquire a node or to renew its lease; FLAKEID_OK if the
    /// attempt succeeded.
    pub last_error: Status,
    /// Reserved; always 0.
    pub reserved: u32,
}

// SAFETY: the struct is `repr(C)`, begins with a `u32`, and contains only numbers, which may be
// zero.
unsafe impl Sized32 for LeaseStatus {
    const FIRST: usize = offset_of!(LeaseStatus, reserved) + size_of::<u32>();
}

impl LeaseConfig {
    /// Returns a lease builder with the options of this struct.
    ///
    /// # Safety
    /// `url` and the strings of this struct must be NULL or NUL-terminated, and `options` must be
    /// NULL or a live handle.
    unsafe fn builder(&self, url: *const c_char) -> Result<LeaseBuilder, Fault> {
        set::check_flags(self.has, KNOWN)?;
        set::check_reserved(self.reserved)?;
        // SAFETY: the caller guarantees that strings are NULL or NUL-terminated, and that handles are NULL
        // or live.
        let (url, layout, by_name) =
            unsafe { (border::text(url), border::text(self.layout), self.options.as_ref()) };
        let epoch = set::given(self.has, flags::FLAKEID_HAS_EPOCH, "epoch", self.epoch)?;
        let layout = options::layout(by_name, layout, epoch)?;
        let mut builder = match url {
            Some(url) => flakeid::lease(&url, layout)?,
            None => flakeid::auto(layout)?,
        };
        // SAFETY: this function and `set` require the same guarantees from the caller.
        unsafe { self.set(&mut builder)? };
        options::apply(by_name, &mut builder)?;
        Ok(builder)
    }

    /// Sets the options of the builder from the fields of this struct.
    ///
    /// # Safety
    /// The requirements of [`builder`](Self::builder) apply.
    #[rustfmt::skip]
    unsafe fn set(&self, builder: &mut LeaseBuilder) -> Result<(), Fault> {
        // [options: lease set]
        // SAFETY: the caller guarantees that `namespace_name` is NULL or NUL-terminated.
        unsafe { set::text(builder, "namespace", self.namespace_name)? };
        // SAFETY: the caller guarantees that `name` is NULL or NUL-terminated.
        unsafe { set::text(builder, "name", self.name)? };
        set::flagged(builder, self.has, flags::FLAKEID_HAS_NODE, "node", self.node)?;
        set::flagged(builder, self.has, flags::FLAKEID_HAS_DATACENTER, "datacenter", self.datacenter)?;
        set::flagged(builder, self.has, flags::FLAKEID_HAS_WORKER, "worker", self.worker)?;
        set::flagged(builder, self.has, flags::FLAKEID_HAS_NODES, "nodes_from", self.first_node)?;
        set::flagged(builder, self.has, flags::FLAKEID_HAS_NODES, "nodes_to", self.last_node)?;
        set::unless_zero(builder, "node_count", self.node_count)?;
        set::flagged(builder, self.has, flags::FLAKEID_HAS_TTL, "ttl_ms", self.ttl_ms)?;
        set::flagged(builder, self.has, flags::FLAKEID_HAS_WINDOW_MS, "window_ms", self.window_ms)?;
        set::choice(builder, "overflow", &["wait", "error", "borrow"], self.overflow)?;
        set::choice(builder, "rollback", &["continue", "error", "wait", "clock-sequence"], self.rollback)?;
        set::flagged(builder, self.has, flags::FLAKEID_HAS_SEQUENCE_MASK, "sequence_mask", self.sequence_mask)?;
        set::unless_zero(builder, "sequence_start", self.sequence_start)?;
        set::flagged(builder, self.has, flags::FLAKEID_HAS_MAX_WAIT, "max_wait_ms", self.max_wait_ms)?;
        set::flagged(builder, self.has, flags::FLAKEID_HAS_OPEN_WAIT, "open_wait_ms", self.open_wait_ms)?;
        // SAFETY: the caller guarantees that `clock_name` is NULL or NUL-terminated.
        unsafe { set::text(builder, "clock", self.clock_name)? };
        set::flag(builder, "reuse", true, "never_reuse", self.never_reuse)?;
        // [/options]
        Ok(())
    }

    fn listener(&self) -> Result<Option<Listener>, Fault> {
        match self.on_event {
            Some(function) => Ok(Some(Listener::new(function, self.user_data))),
            None if self.user_data.is_null() => Ok(None),
            None => Err(Error::invalid_option("user_data", "set, but on_event is NULL").into()),
        }
    }
}

/// Leases a node from the store at `url`, and creates a generator whose IDs are unique among all
/// processes that lease from the same namespace. `url` is sqlite:///path, postgresql://...,
/// mysql://..., redis://... or etcd://... If `url` is NULL, the environment variables FLAKEID_STORE
/// and FLAKEID_NAMESPACE select the store and the namespace; the default is the store that root has
/// named in /etc/flakeid/store, or else a file for this user on this host. `config` may be NULL; the
/// struct, its strings and `url` are not needed after the call.
///
/// A library thread renews the lease. Generators in one process that have the same options share
/// one lease. In a forked child, the generator leases another node for its first ID. The caller
/// owns the generator, and flakeid_generator_free() releases the node. If the process ends without
/// calling flakeid_generator_free(), the node becomes free after ttl_ms. flakeid_generator_open()
/// waits at most max_wait_ms plus 2 s, or open_wait_ms while a restarted store grants nothing.
/// Thread-safe.
///
/// Errors: FLAKEID_STORE_UNAVAILABLE, FLAKEID_STORE_REJECTED (a wrong password, a missing
/// namespace, a layout other than the namespace's, the embedded store in a container, ...),
/// FLAKEID_NO_FREE_NODE, FLAKEID_CLOCK_SKEW, FLAKEID_FENCE_IN_FUTURE, FLAKEID_INVALID_LAYOUT,
/// FLAKEID_FIELD_OUT_OF_RANGE, FLAKEID_INVALID_OPTION, FLAKEID_NULL_ARGUMENT.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn flakeid_generator_open(
    url: *const c_char,
    config: *const LeaseConfig,
    generator: Option<&mut MaybeUninit<Box<GeneratorHandle>>>,
) -> Status {
    guard(|| {
        let generator = given(generator, "generator")?;
        // SAFETY: the C caller guarantees that `config` is NULL or points to `struct_size` readable
        // bytes.
        let config = unsafe { border::read_optional(config)? };
        // SAFETY: the C caller guarantees that strings are NULL or NUL-terminated.
        let builder = unsafe { config.builder(url)? };
        generator.write(Box::new(GeneratorHandle::leased(builder, config.listener()?)?));
        Ok(())
    })
}

/// Writes the state of a generator's lease to `status`. Thread-safe.
///
/// Errors: FLAKEID_INVALID_OPTION (a generator that flakeid_generator_new() created, or an invalid
/// struct_size), FLAKEID_NULL_ARGUMENT.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn flakeid_generator_lease(
    generator: Option<&GeneratorHandle>,
    status: *mut LeaseStatus,
) -> Status {
    guard(|| {
        let lease = flakeid::Lease::of(&given(generator, "generator")?.generator);
        let Some(now) = lease.map(|lease| lease.status()) else {
            let reason = "this generator has a fixed node; lease a node with \
                          flakeid_generator_open()";
            return Err(Error::invalid_option("lease", reason).into());
        };
        let status_now = LeaseStatus {
            struct_size: 0,
            fenced_off: now.fenced_off.into(),
            start: now.start,
            fence: now.fence,
            fence_unix_ms: now.fence_unix_ms,
            expires_unix_ms: now.expires_unix_ms,
            expires_in_ms: if now.grants == 0 { 0 } else { until(now.expires_unix_ms) },
            renewals: now.renewals,
            grants: now.grants,
            failures: now.failures,
            last_error: now.last_error.map_or(FLAKEID_OK, |error| error.kind().status()),
            reserved: 0,
        };
        // SAFETY: the C caller guarantees that `status` is NULL or points to `struct_size` writable
        // bytes.
        unsafe { border::write_sized(&status_now, status) }
    })
}

fn until(unix_ms: i64) -> i64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_millis();
    unix_ms.saturating_sub(i64::try_from(now).unwrap_or(i64::MAX))
}
