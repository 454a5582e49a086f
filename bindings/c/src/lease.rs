//! Nodes that are leased from a store.

use std::ffi::{c_char, c_void};
use std::mem::{MaybeUninit, offset_of};
use std::time::{SystemTime, UNIX_EPOCH};

use flakeid::{Generator, LeaseBuilder};
use flakeid_core::Error;

use crate::border::{self, Sized32, given};
use crate::config::{
    FLAKEID_HAS_DATACENTER, FLAKEID_HAS_EPOCH, FLAKEID_HAS_MAX_WAIT, FLAKEID_HAS_NODE,
    FLAKEID_HAS_SEQUENCE_MASK, FLAKEID_HAS_WORKER,
};
use crate::event::{LeaseCallback, Listener};
use crate::fault::Fault;
use crate::generator::GeneratorHandle;
use crate::guard::guard;
use crate::options::{self, OptionsHandle};
use crate::set;
use crate::status::{FLAKEID_OK, Status};

// [options: lease flags]
/// `has`: first_node and last_node are given.
pub const FLAKEID_HAS_NODES: u32 = 256;
/// `has`: window_ms is given.
pub const FLAKEID_HAS_WINDOW_MS: u32 = 512;
/// `has`: ttl_ms is given.
pub const FLAKEID_HAS_TTL: u32 = 1024;
// [/options]

// [options: lease known]
#[rustfmt::skip]
const KNOWN: u32 = FLAKEID_HAS_NODE | FLAKEID_HAS_DATACENTER | FLAKEID_HAS_WORKER |
    FLAKEID_HAS_NODES | FLAKEID_HAS_EPOCH | FLAKEID_HAS_TTL | FLAKEID_HAS_WINDOW_MS |
    FLAKEID_HAS_SEQUENCE_MASK | FLAKEID_HAS_MAX_WAIT;
// [/options]

/// The options of a lease. Start from FLAKEID_LEASE_CONFIG_INIT, or from zero with struct_size set;
/// then set the fields you need, and in `has` the flags of those that have one. A field that is
/// set without its flag is FLAKEID_INVALID_OPTION. Without options any free node of the namespace
/// "default" is leased.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct LeaseConfig {
    /// sizeof(flakeid_lease_config).
    pub struct_size: u32,
    /// FLAKEID_HAS_... flags.
    pub has: u32,
    // [options: lease fields]
    /// The layout of the IDs, which must be the namespace's: the name of a preset or a descriptor;
    /// NULL is "twitter".
    pub layout: *const c_char,
    /// The namespace to lease from: 1 to 64 of A-Z a-z 0-9 . _ -; NULL is "default". Each namespace
    /// has one layout, and nodes of its own.
    pub namespace_name: *const c_char,
    /// The name of this process, by which it prefers the node that it had last: 1 to 128 bytes;
    /// NULL is none.
    pub name: *const c_char,
    /// The node to lease, which is taken over even from a live holder; that is safe
    /// (FLAKEID_HAS_NODE; otherwise any node).
    pub node: u64,
    /// The high part of the node, in layouts that split it; requires worker
    /// (FLAKEID_HAS_DATACENTER).
    pub datacenter: u64,
    /// The low part of the node, in layouts that split it; requires datacenter
    /// (FLAKEID_HAS_WORKER).
    pub worker: u64,
    /// The first node to choose from (FLAKEID_HAS_NODES).
    pub first_node: u64,
    /// The last node to choose from (FLAKEID_HAS_NODES).
    pub last_node: u64,
    /// The instant of tick 0, in Unix milliseconds (FLAKEID_HAS_EPOCH; otherwise the layout's).
    pub epoch: i64,
    /// The largest sequence number to use: 2^k - 1 (FLAKEID_HAS_SEQUENCE_MASK; otherwise the
    /// layout's).
    pub sequence_mask: u64,
    /// The number of bits of a random sequence number with which each tick begins.
    pub sequence_start: u32,
    /// The behaviour when a tick is full: a constant FLAKEID_OVERFLOW_*.
    pub overflow: i32,
    /// The behaviour when the clock goes backwards: a constant FLAKEID_ROLLBACK_* except
    /// FLAKEID_ROLLBACK_CLOCK_SEQUENCE.
    pub rollback: i32,
    /// 1 leases only nodes that were never leased before; 0 leases any free node.
    pub never_reuse: i32,
    /// The time for which the generator issues IDs while the store is away: from two ticks to what
    /// the namespace allows (FLAKEID_HAS_WINDOW_MS; otherwise 10 s or two ticks, whichever is
    /// longer).
    pub window_ms: u64,
    /// The time after the last renewal until other processes can have the node: 1 ms to 30 days
    /// (FLAKEID_HAS_TTL; otherwise 60 s or 12 ticks, whichever is longer). Uniqueness does not
    /// depend on it.
    pub ttl_ms: u64,
    /// The longest time that a call waits without issuing an ID (FLAKEID_HAS_MAX_WAIT; otherwise 1
    /// s or two ticks, whichever is longer). Opening a lease takes at most 2 s more, to connect.
    pub max_wait_ms: u64,
    /// NULL, or a function that is called with everything that happens to the lease: on a thread of
    /// the library, one call at a time. It should be quick, and must not free the generator, fork,
    /// or throw. A lease with a function is not shared with other generators.
    pub on_event: LeaseCallback,
    /// Passed to the functions. It must live until what was opened with it is freed.
    pub user_data: *mut c_void,
    /// The clock: "gated" is the system's, exact, and read only a few times a millisecond where the
    /// processor allows that; "system" is read for every ID; "coarse" is a few milliseconds late;
    /// NULL is "gated".
    pub clock_name: *const c_char,
    /// The number of nodes to lease for this one generator, a power of two, for as many times the
    /// IDs in a tick; 0 means 1. Several nodes cannot be combined with name, node or sequence_mask.
    pub node_count: u32,
    /// Must be 0.
    pub reserved: u32,
    /// NULL, or further options by name, which are set after the fields.
    pub options: *const OptionsHandle,
    // [/options]
}

// SAFETY: numbers, raw pointers, and a function that may be NULL.
unsafe impl Sized32 for LeaseConfig {
    const FIRST: usize = offset_of!(LeaseConfig, user_data) + size_of::<*mut c_void>();
}

/// The state of a lease. Start from FLAKEID_LEASE_STATUS_INIT.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct LeaseStatus {
    /// sizeof(flakeid_lease_status).
    pub struct_size: u32,
    /// 1 if the node belongs to another process from the fence on.
    pub fenced_off: i32,
    /// The first tick of the present grant.
    pub start: u64,
    /// The first tick that may not be used; every renewal moves it up.
    pub fence: u64,
    /// When that tick begins, in Unix milliseconds. IDs go on until then while the store is away.
    pub fence_unix_ms: i64,
    /// Until when no other process can have the node, in Unix milliseconds of the store's clock.
    pub expires_unix_ms: i64,
    /// How far in the future that is by this host's clock, in milliseconds; negative if it is past.
    pub expires_in_ms: i64,
    /// How many renewals the store confirmed.
    pub renewals: u64,
    /// How many nodes were granted so far. 0 in a forked child that has issued no ID yet: the other
    /// fields are 0 then too.
    pub grants: u64,
    /// How many attempts to acquire or renew failed.
    pub failures: u64,
    /// Why the latest attempt failed; FLAKEID_OK if it succeeded.
    pub last_error: Status,
    /// 0.
    pub reserved: u32,
}

// SAFETY: numbers only.
unsafe impl Sized32 for LeaseStatus {
    const FIRST: usize = offset_of!(LeaseStatus, reserved) + size_of::<u32>();
}

impl LeaseConfig {
    /// Returns the builder of a lease with these options.
    ///
    /// # Safety
    /// `url` and the strings are NULL or end in NUL; `options` is NULL or a living handle.
    unsafe fn builder(&self, url: *const c_char) -> Result<LeaseBuilder, Fault> {
        set::check_flags(self.has, KNOWN)?;
        set::check_reserved(self.reserved)?;
        // SAFETY: the caller guarantees this.
        let (url, layout, by_name) =
            unsafe { (border::text(url), border::text(self.layout), self.options.as_ref()) };
        let epoch = set::given(self.has, FLAKEID_HAS_EPOCH, "epoch", self.epoch)?;
        let layout = options::layout(by_name, layout, epoch)?;
        let mut builder = match url {
            Some(url) => Generator::lease(&url, layout)?,
            None => Generator::auto(layout)?,
        };
        // SAFETY: the caller guarantees this.
        unsafe { self.set(&mut builder)? };
        options::apply(by_name, &mut builder)?;
        Ok(builder)
    }

    /// Sets the options of the fields.
    ///
    /// # Safety
    /// As [`builder`](Self::builder).
    #[rustfmt::skip]
    unsafe fn set(&self, builder: &mut LeaseBuilder) -> Result<(), Fault> {
        // [options: lease set]
        // SAFETY: the caller guarantees that strings are NULL or end in NUL.
        unsafe { set::text(builder, "namespace", self.namespace_name)? };
        // SAFETY: the caller guarantees that strings are NULL or end in NUL.
        unsafe { set::text(builder, "name", self.name)? };
        set::flagged(builder, self.has, FLAKEID_HAS_NODE, "node", self.node)?;
        set::flagged(builder, self.has, FLAKEID_HAS_DATACENTER, "datacenter", self.datacenter)?;
        set::flagged(builder, self.has, FLAKEID_HAS_WORKER, "worker", self.worker)?;
        set::flagged(builder, self.has, FLAKEID_HAS_NODES, "nodes_from", self.first_node)?;
        set::flagged(builder, self.has, FLAKEID_HAS_NODES, "nodes_to", self.last_node)?;
        set::unless_zero(builder, "node_count", self.node_count.into())?;
        set::flagged(builder, self.has, FLAKEID_HAS_TTL, "ttl_ms", self.ttl_ms)?;
        set::flagged(builder, self.has, FLAKEID_HAS_WINDOW_MS, "window_ms", self.window_ms)?;
        set::choice(builder, "overflow", &["wait", "error", "borrow"], self.overflow)?;
        set::choice(builder, "rollback", &["continue", "error", "wait", "clock-sequence"], self.rollback)?;
        set::flagged(builder, self.has, FLAKEID_HAS_SEQUENCE_MASK, "sequence_mask", self.sequence_mask)?;
        set::unless_zero(builder, "sequence_start", self.sequence_start.into())?;
        set::flagged(builder, self.has, FLAKEID_HAS_MAX_WAIT, "max_wait_ms", self.max_wait_ms)?;
        // SAFETY: the caller guarantees that strings are NULL or end in NUL.
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

/// Leases a node from the store at `url` and makes a generator of it: unique among all processes
/// that lease from the same namespace. `url` is sqlite:///path, postgresql://..., mysql://...,
/// redis://... or etcd://...; NULL takes what the environment's FLAKEID_STORE and FLAKEID_NAMESPACE
/// say, and otherwise the embedded store, a file for this user on this host. `config` may be NULL;
/// it, its strings and `url` are not needed any more after the call.
///
/// A thread of the library renews the lease. Generators of one process with the same options share
/// one. In a forked child the generator leases a node of its own at its first ID there. The caller
/// owns the generator, and flakeid_generator_free() gives the node back. If the process ends
/// without that, the node is free after ttl_ms. Waits at most max_wait_ms plus 2 s. Any thread.
///
/// FLAKEID_STORE_UNAVAILABLE, FLAKEID_STORE_REJECTED (a wrong password, no such namespace, another
/// layout, the embedded store in a container, ...), FLAKEID_NO_FREE_NODE, FLAKEID_CLOCK_SKEW,
/// FLAKEID_FENCE_IN_FUTURE, FLAKEID_INVALID_LAYOUT, FLAKEID_FIELD_OUT_OF_RANGE,
/// FLAKEID_INVALID_OPTION, FLAKEID_NULL_ARGUMENT.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn flakeid_generator_open(
    url: *const c_char,
    config: *const LeaseConfig,
    generator: Option<&mut MaybeUninit<Box<GeneratorHandle>>>,
) -> Status {
    guard(|| {
        let generator = given(generator, "generator")?;
        // SAFETY: C promises that `config` is as large as it says.
        let config = unsafe { border::read_optional(config)? };
        // SAFETY: C promises that strings end in NUL.
        let builder = unsafe { config.builder(url)? };
        generator.write(Box::new(GeneratorHandle::leased(builder, config.listener()?)?));
        Ok(())
    })
}

/// The state of a generator's lease. Any thread.
///
/// FLAKEID_INVALID_OPTION (a generator of flakeid_generator_new(), struct_size),
/// FLAKEID_NULL_ARGUMENT.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn flakeid_generator_lease(
    generator: Option<&GeneratorHandle>,
    status: *mut LeaseStatus,
) -> Status {
    guard(|| {
        let Some(now) = given(generator, "generator")?.generator.lease_status() else {
            let reason = "the node of this generator is fixed; flakeid_generator_open() leases one";
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
        // SAFETY: C promises that `status` is as large as it says.
        unsafe { border::write_sized(&status_now, status) }
    })
}

fn until(unix_ms: i64) -> i64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_millis();
    unix_ms.saturating_sub(i64::try_from(now).unwrap_or(i64::MAX))
}
