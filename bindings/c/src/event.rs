//! The events of a lease. The lease's own thread reports these events to the program.

use std::cell::Cell;
use std::ffi::{CString, c_char, c_void};
use std::ptr;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use flakeid::LeaseEvent as Core;

use crate::status::{FLAKEID_OK, Status};

/// A node was granted.
pub const FLAKEID_LEASE_ACQUIRED: i32 = 1;
/// The store confirmed a renewal, which raised the fence.
pub const FLAKEID_LEASE_RENEWED: i32 = 2;
/// The generator loses its node at the fence, usually because another process has taken over the
/// node. The generator then requests a node again, unless its node is fixed and another process has
/// taken over that node.
pub const FLAKEID_LEASE_FENCED_OFF: i32 = 3;
/// The store refused a request.
pub const FLAKEID_LEASE_REFUSED: i32 = 4;
/// The store does not respond. The generator continues to issue IDs until the fence.
pub const FLAKEID_LEASE_STORE_LOST: i32 = 5;
/// The store responds again.
pub const FLAKEID_LEASE_STORE_FOUND: i32 = 6;
/// This host's clock and the store's clock are too far apart.
pub const FLAKEID_LEASE_CLOCK_SKEW: i32 = 7;
/// The node was released.
pub const FLAKEID_LEASE_RELEASED: i32 = 8;

/// A lease event. The struct and its message are valid only until the callback returns.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct LeaseEvent {
    /// The size of flakeid_lease_event in the loaded library. Later releases may add fields at the
    /// end of the struct.
    pub struct_size: u32,
    /// The kind of the event: one of FLAKEID_LEASE_...; later releases may add kinds.
    pub kind: i32,
    /// The node that was acquired, lost or released, or whose lease was renewed; 0 for other
    /// events.
    pub node: u64,
    /// If a node was acquired, the first tick that may be used; otherwise 0.
    pub start: u64,
    /// If a node was acquired or its lease was renewed, the first tick that must not be used;
    /// otherwise 0.
    pub fence: u64,
    /// The status of the failure that caused the event, or FLAKEID_OK.
    pub status: Status,
    /// Reserved; always 0.
    pub reserved: u32,
    /// The message of the failure that caused the event, or NULL.
    pub message: *const c_char,
}

/// A function that the library calls for each event, with the event and user_data, on the lease's
/// own thread.
pub type LeaseCallback =
    Option<unsafe extern "C" fn(event: *const LeaseEvent, user_data: *mut c_void)>;

thread_local! {
    /// The listener whose callback is running on this thread, or null.
    static CALLING: Cell<*const Listener> = const { Cell::new(ptr::null()) };
}

/// The program's callback, which is not called after [`silence`](Self::silence) has returned.
pub(crate) struct Listener {
    function: unsafe extern "C" fn(event: *const LeaseEvent, user_data: *mut c_void),
    user_data: *mut c_void,
    is_silent: AtomicBool,
    /// The process ID and the number of running calls: `pid << 32 | calls`. A forked child ignores
    /// its parent's calls.
    calls: AtomicU64,
}

// SAFETY: the header requires a function and data that are safe to use on other threads.
unsafe impl Send for Listener {}
// SAFETY: the header requires a function and data that are safe to use on other threads, and only
// one thread at a time calls the function.
unsafe impl Sync for Listener {}

impl Listener {
    pub(crate) fn new(
        function: unsafe extern "C" fn(event: *const LeaseEvent, user_data: *mut c_void),
        user_data: *mut c_void,
    ) -> Self {
        let (is_silent, calls) = (AtomicBool::new(false), AtomicU64::new(0));
        Self { function, user_data, is_silent, calls }
    }

    pub(crate) fn tell(&self, event: &Core) {
        self.count(|calls| calls + 1);
        if !self.is_silent.load(Ordering::SeqCst) {
            CALLING.set(self);
            self.call(event);
            CALLING.set(ptr::null());
        }
        self.count(|calls| calls.saturating_sub(1));
    }

    fn count(&self, change: impl Fn(u64) -> u64) {
        let pid = u64::from(std::process::id());
        let next = |word: u64| {
            let calls = if word >> 32 == pid { word & u64::from(u32::MAX) } else { 0 };
            Some(pid << 32 | change(calls))
        };
        // `next` always returns a value, so the update cannot fail.
        let _ = self.calls.fetch_update(Ordering::SeqCst, Ordering::SeqCst, next);
    }

    fn is_calling(&self) -> bool {
        let word = self.calls.load(Ordering::SeqCst);
        word >> 32 == u64::from(std::process::id()) && word & u64::from(u32::MAX) > 0
    }

    fn call(&self, event: &Core) {
        let kind = match event {
            Core::Acquired { .. } => FLAKEID_LEASE_ACQUIRED,
            Core::Renewed { .. } => FLAKEID_LEASE_RENEWED,
            Core::FencedOff { .. } => FLAKEID_LEASE_FENCED_OFF,
            Core::Refused { .. } => FLAKEID_LEASE_REFUSED,
            Core::StoreLost { .. } => FLAKEID_LEASE_STORE_LOST,
            Core::StoreFound => FLAKEID_LEASE_STORE_FOUND,
            Core::ClockSkew { .. } => FLAKEID_LEASE_CLOCK_SKEW,
            Core::Released { .. } => FLAKEID_LEASE_RELEASED,
            // The C interface has no constant for this kind of event yet.
            _ => return,
        };
        let error = event.error();
        // The core's messages contain no NUL character, so the conversion cannot fail.
        let message = error.map(|error| CString::new(error.to_string()).unwrap_or_default());
        let event = LeaseEvent {
            struct_size: size_of::<LeaseEvent>() as u32,
            kind,
            node: event.node().unwrap_or(0),
            start: event.start().unwrap_or(0),
            fence: event.fence().unwrap_or(0),
            status: error.map_or(FLAKEID_OK, |error| error.kind().status()),
            reserved: 0,
            message: message.as_ref().map_or(ptr::null(), |text| text.as_ptr()),
        };
        // SAFETY: the program guarantees that the function may be called until the generator is
        // freed.
        unsafe { (self.function)(&raw const event, self.user_data) };
    }

    /// Prevents further calls to the callback, and waits until no call is running, but only until
    /// `end`, if there is an end. The callback itself does not wait for its own return.
    pub(crate) fn silence(&self, end: Option<Instant>) {
        self.is_silent.store(true, Ordering::SeqCst);
        let may_wait = || end.is_none_or(|end| Instant::now() < end);
        while self.is_calling() && !ptr::eq(CALLING.get(), self) && may_wait() {
            thread::sleep(Duration::from_millis(1));
        }
    }
}
