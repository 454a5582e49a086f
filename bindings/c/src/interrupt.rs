//! Waits that the program can end, for example when the thread is interrupted.

use std::cell::Cell;
use std::ffi::c_void;

use flakeid_core::internal::set_interrupt;

/// A function that the library calls with user_data on a thread that waits. The function returns a
/// nonzero value to end the wait, and must not throw.
pub type InterruptCallback = Option<unsafe extern "C" fn(user_data: *mut c_void) -> i32>;

thread_local! {
    static CURRENT: Cell<(InterruptCallback, *mut c_void)> =
        const { Cell::new((None, std::ptr::null_mut())) };
}

/// Whether the program's function ends the waits of this thread.
fn is_over() -> bool {
    match CURRENT.get() {
        // SAFETY: the program guarantees that the function may be called with this data until the
        // program sets another function.
        (Some(function), user_data) => unsafe { function(user_data) != 0 },
        (None, _) => false,
    }
}

/// Sets a function with which the calling thread can end its own waits; NULL removes the function.
/// Every call of this thread that waits for an ID or a lease then calls the function at least every
/// 100 ms. If the function returns a nonzero value, the call makes one last attempt. If that
/// attempt gets nothing, the call fails as if max_wait_ms had passed. The program must remove the
/// function before user_data becomes invalid and before the thread ends. Other threads have their
/// own functions.
#[unsafe(no_mangle)]
pub extern "C" fn flakeid_set_interrupt(function: InterruptCallback, user_data: *mut c_void) {
    CURRENT.set((function, user_data));
    set_interrupt(function.map(|_| is_over as fn() -> bool));
}
