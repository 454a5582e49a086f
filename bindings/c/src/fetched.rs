//! The parts of the library that exist only as WebAssembly, for the Go module without cgo: leases
//! whose requests the host sends, the host's clock and memory.

use std::alloc::{Layout as Block, alloc, dealloc};
use std::ffi::{CString, c_char};
use std::mem::MaybeUninit;
use std::ptr;
use std::time::Duration;

use flakeid::LeaseEvent;
use flakeid::fetch::{FetchLease, FetchOptions, HttpAnswer};
use flakeid_core::whole_ms;

use crate::border::{self, given};
use crate::clock::ClockHandle;
use crate::config::Config;
use crate::fault::Fault;
use crate::generator::{GeneratorHandle, flakeid_generator_new};
use crate::guard::guard;
use crate::options::{self, OptionsHandle};
use crate::status::{FLAKEID_OK, Status};

/// Allocates `size` bytes for the host, or returns NULL if `size` is 0 or memory has run out.
#[unsafe(no_mangle)]
pub extern "C" fn flakeid_host_allocate(size: usize) -> *mut u8 {
    match Block::from_size_align(size, 8) {
        // SAFETY: the size is not 0.
        Ok(block) if size > 0 => unsafe { alloc(block) },
        _ => ptr::null_mut(),
    }
}

/// Frees `size` bytes that flakeid_host_allocate() returned; NULL is allowed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn flakeid_host_free(bytes: *mut u8, size: usize) {
    if let (false, Ok(block)) = (bytes.is_null(), Block::from_size_align(size, 8)) {
        // SAFETY: the host guarantees that the bytes came from `flakeid_host_allocate` with this
        // size.
        unsafe { dealloc(bytes, block) };
    }
}

#[link(wasm_import_module = "host")]
unsafe extern "C" {
    /// Writes `size` bytes that are cryptographically random.
    #[link_name = "random"]
    fn fill_randomly(bytes: *mut u8, size: usize);
}

fn random() -> u128 {
    let mut bytes = [0; 16];
    // SAFETY: `bytes` has room for its length.
    unsafe { fill_randomly(bytes.as_mut_ptr(), bytes.len()) };
    u128::from_ne_bytes(bytes)
}

/// Sets the time in Unix milliseconds, and the microseconds since a fixed point by a clock that
/// cannot be set. The host calls this function before each call that reads a clock.
#[unsafe(no_mangle)]
pub extern "C" fn flakeid_host_meet(unix_ms: i64, moment_us: u64) {
    flakeid_core::set_host_time(unix_ms);
    flakeid::fetch::set_host_moment(Duration::from_micros(moment_us));
    flakeid::fetch::set_host_random(random);
}

/// Sets the host name and the process ID that leases report to brokers. Only the first call has an
/// effect. A name of NULL is empty.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn flakeid_host_owner(name: *const c_char, pid: u32) {
    // SAFETY: the host guarantees that `name` is NULL or NUL-terminated.
    let name = unsafe { border::text(name) }.unwrap_or_default();
    flakeid::fetch::set_host_owner(&name, pid);
}

/// Returns the instant, in Unix milliseconds, until which the last call of flakeid_generator_next()
/// would have waited, or the smallest number if the call did not have to wait or may not wait.
#[unsafe(no_mangle)]
pub extern "C" fn flakeid_host_wait_until() -> i64 {
    flakeid_core::take_host_wait().map_or(i64::MIN, |(until, _)| until)
}

/// Creates a generator for a fixed node, like flakeid_generator_new() with a config that contains
/// only options by name and a clock; both may be NULL.
///
/// Errors: the errors of flakeid_generator_new().
#[unsafe(no_mangle)]
pub unsafe extern "C" fn flakeid_fixed_new(
    options: *const OptionsHandle,
    clock: *const ClockHandle,
    generator: Option<&mut MaybeUninit<Box<GeneratorHandle>>>,
) -> Status {
    let mut config = MaybeUninit::<Config>::zeroed();
    // SAFETY: a config whose bytes are all zero is valid, because it contains numbers and pointers.
    let config = unsafe { config.assume_init_mut() };
    config.struct_size = size_of::<Config>() as u32;
    config.options = options;
    config.clock = clock;
    // SAFETY: the host guarantees that both pointers are NULL or live handles.
    unsafe { flakeid_generator_new(config, generator) }
}

/// Opens a lease from the brokers at `url`, without sending a request.
///
/// Errors: FLAKEID_INVALID_LAYOUT, FLAKEID_FIELD_OUT_OF_RANGE, FLAKEID_INVALID_OPTION,
/// FLAKEID_NULL_ARGUMENT.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn flakeid_fetched_open(
    url: *const c_char,
    options: Option<&OptionsHandle>,
    generator: Option<&mut MaybeUninit<Box<GeneratorHandle>>>,
) -> Status {
    guard(|| {
        let generator = given(generator, "generator")?;
        // SAFETY: the host guarantees that `url` is NULL or NUL-terminated.
        let url = unsafe { border::text(url) }.ok_or(Fault::Null { argument: "url" })?;
        // A lease without a layout would adopt the namespace's layout, but the default of the C
        // library is a layout.
        let layout = options::layout(options, None, None)?;
        let mut given = FetchOptions::new(Some(layout));
        for (name, text) in options.into_iter().flat_map(OptionsHandle::others) {
            given = given.with(name, text);
        }
        let lease = FetchLease::open(&url, given)?;
        generator.write(Box::new(GeneratorHandle::fixed(lease)));
        Ok(())
    })
}

/// The state that the host reads after each step of a lease.
#[repr(C)]
pub struct LeaseStep {
    /// The microseconds until the next call of flakeid_fetched_wake(), if no call needs a window.
    pub rest_us: u64,
    /// The microseconds of the pause after a failure, during which no call causes a request.
    pub pause_us: u64,
    /// The number of completed attempts to acquire or renew a node.
    pub attempts: u64,
    /// The number of grants and renewals that took effect.
    pub gains: u64,
    /// The number of nodes granted so far.
    pub grants: u64,
    /// The longest time that opening the lease may take, in milliseconds.
    pub open_timeout_ms: u64,
    /// 1 if the lease was closed and all its requests were sent, otherwise 0.
    pub is_ended: u64,
}

/// Prepares the next request if one is due.
#[unsafe(no_mangle)]
pub extern "C" fn flakeid_fetched_wake(generator: Option<&GeneratorHandle>) -> Status {
    guard(|| {
        given(generator, "generator")?.generator.lease()?.borrow_mut().wake();
        Ok(())
    })
}

/// Writes the state of a lease to `step`.
#[unsafe(no_mangle)]
pub extern "C" fn flakeid_fetched_step(
    generator: Option<&GeneratorHandle>,
    step: Option<&mut MaybeUninit<LeaseStep>>,
) -> Status {
    guard(|| {
        let mut lease = given(generator, "generator")?.generator.lease()?.borrow_mut();
        let micros = |time: Duration| u64::try_from(time.as_micros()).unwrap_or(u64::MAX);
        let (attempts, gains) = lease.attempts_and_gains();
        given(step, "step")?.write(LeaseStep {
            rest_us: micros(lease.rest()),
            pause_us: micros(lease.pause()),
            attempts,
            gains,
            grants: lease.status().grants,
            open_timeout_ms: whole_ms(lease.open_timeout()),
            is_ended: lease.is_ended().into(),
        });
        Ok(())
    })
}

/// A request that the host must send. The strings are owned by the struct.
#[derive(Default)]
pub struct Request {
    strings: [CString; 4],
    timeout_ms: u64,
}

/// Returns the request that the host must send now, or NULL if no request is due. The host frees
/// the request with flakeid_fetched_request_free().
#[unsafe(no_mangle)]
pub extern "C" fn flakeid_fetched_request(
    generator: Option<&GeneratorHandle>,
) -> Option<Box<Request>> {
    let request = generator?.generator.lease().ok()?.borrow_mut().request()?;
    let authorization = request.authorization.unwrap_or_default();
    // None of the four contains a NUL: the URL is parsed, and JSON escapes control characters.
    let string = |bytes: Vec<u8>| CString::new(bytes).unwrap_or_default();
    Some(Box::new(Request {
        strings: [
            string(request.method.into()),
            string(request.url.into()),
            string(authorization.into()),
            string(request.body),
        ],
        timeout_ms: whole_ms(request.timeout),
    }))
}

/// Returns one string of a request: the method (0), the URL (1), the value of the `Authorization`
/// header or an empty string (2), or the body as JSON (3).
#[unsafe(no_mangle)]
pub extern "C" fn flakeid_fetched_request_string(
    request: Option<&Request>,
    index: usize,
) -> *const c_char {
    request
        .and_then(|request| request.strings.get(index))
        .map_or(c"".as_ptr(), |text| text.as_ptr())
}

/// Returns the time limit for the whole response, in milliseconds.
#[unsafe(no_mangle)]
pub extern "C" fn flakeid_fetched_request_timeout(request: Option<&Request>) -> u64 {
    request.map_or(0, |request| request.timeout_ms)
}

/// Frees a request; NULL is allowed.
#[unsafe(no_mangle)]
pub extern "C" fn flakeid_fetched_request_free(request: Option<Box<Request>>) {
    drop(request);
}

/// Handles the response to the request: its status and its body of `size` bytes. If `status` is 0,
/// the request failed, and the body is the reason.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn flakeid_fetched_answered(
    generator: Option<&GeneratorHandle>,
    status: u32,
    body: *const u8,
    size: usize,
) -> Status {
    guard(|| {
        let lease = given(generator, "generator")?.generator.lease()?;
        let body = match size {
            0 => Vec::new(),
            // SAFETY: the host guarantees that `body` points to `size` readable bytes.
            _ => unsafe { std::slice::from_raw_parts(body, size) }.to_vec(),
        };
        lease.borrow_mut().answered(match u16::try_from(status) {
            Ok(0) | Err(_) => Err(String::from_utf8_lossy(&body).into_owned()),
            Ok(status) => Ok(HttpAnswer::new(status, body)),
        });
        Ok(())
    })
}

/// Returns FLAKEID_OK if the last call on the lease failed because the lease had no window, and
/// the lease can still get one within `left_ms`. Otherwise, returns the error of
/// flakeid_fetched_why().
#[unsafe(no_mangle)]
pub extern "C" fn flakeid_fetched_may_wait(
    generator: Option<&GeneratorHandle>,
    left_ms: u64,
) -> Status {
    guard(|| {
        let lease = given(generator, "generator")?.generator.lease()?.borrow();
        if lease.lacks_window() && !lease.cannot_succeed(Duration::from_millis(left_ms)) {
            return Ok(());
        }
        Err(lease.why().into())
    })
}

/// Fails with the error that explains why the lease has no window.
#[unsafe(no_mangle)]
pub extern "C" fn flakeid_fetched_why(generator: Option<&GeneratorHandle>) -> Status {
    guard(|| Err(given(generator, "generator")?.generator.lease()?.borrow().why().into()))
}

/// The state of a lease, like flakeid_lease_status.
#[repr(C)]
pub struct FetchedStatus {
    /// 1 if the node is lost from its fence onward, otherwise 0.
    pub fenced_off: u64,
    /// The first tick of the current grant.
    pub start: u64,
    /// The first tick that must not be used.
    pub fence: u64,
    /// The start of the fence's tick, in Unix milliseconds.
    pub fence_unix_ms: i64,
    /// The time until which no other process can lease the node, in Unix milliseconds.
    pub expires_unix_ms: i64,
    /// The number of renewals that the store confirmed.
    pub renewals: u64,
    /// The number of nodes granted so far.
    pub grants: u64,
    /// The number of failed attempts.
    pub failures: u64,
    /// The status of the latest attempt.
    pub last_error: u64,
}

/// Writes the state of a generator's lease to `status`.
///
/// Errors: FLAKEID_INVALID_OPTION (a fixed node), FLAKEID_NULL_ARGUMENT.
#[unsafe(no_mangle)]
pub extern "C" fn flakeid_fetched_status(
    generator: Option<&GeneratorHandle>,
    status: Option<&mut MaybeUninit<FetchedStatus>>,
) -> Status {
    guard(|| {
        let lease = given(generator, "generator")?.generator.lease()?.borrow();
        let now = lease.status();
        let last_error = now.last_error.as_ref().map_or(FLAKEID_OK, |error| error.kind().status());
        given(status, "status")?.write(FetchedStatus {
            fenced_off: now.fenced_off.into(),
            start: now.start,
            fence: now.fence,
            fence_unix_ms: now.fence_unix_ms,
            expires_unix_ms: now.expires_unix_ms,
            renewals: now.renewals,
            grants: now.grants,
            failures: now.failures,
            last_error: u64::try_from(last_error).unwrap_or_default(),
        });
        Ok(())
    })
}

/// An event of a lease, like flakeid_lease_event.
#[repr(C)]
pub struct FetchedEvent {
    /// The kind of the event: its position in the list of kinds, from 1; 0 if there is no event.
    pub kind: u64,
    /// The node that was acquired, renewed, lost or released; otherwise 0.
    pub node: u64,
    /// The first usable tick of a node that was acquired; otherwise 0.
    pub start: u64,
    /// The first tick that must not be used; otherwise 0.
    pub fence: u64,
}

/// Removes the oldest pending event and writes it to `event`. The event's error, if any, becomes
/// the last error, and its status is returned.
#[unsafe(no_mangle)]
pub extern "C" fn flakeid_fetched_event(
    generator: Option<&GeneratorHandle>,
    event: Option<&mut MaybeUninit<FetchedEvent>>,
) -> Status {
    guard(|| {
        let next = given(generator, "generator")?.generator.lease()?.borrow_mut().next_event();
        let to = given(event, "event")?;
        let Some(next) = next else {
            to.write(FetchedEvent { kind: 0, node: 0, start: 0, fence: 0 });
            return Ok(());
        };
        to.write(FetchedEvent {
            kind: kind_of(&next),
            node: next.node().unwrap_or(0),
            start: next.start().unwrap_or(0),
            fence: next.fence().unwrap_or(0),
        });
        next.error().map_or(Ok(()), |error| Err(error.clone().into()))
    })
}

fn kind_of(event: &LeaseEvent) -> u64 {
    match event {
        LeaseEvent::Acquired { .. } => 1,
        LeaseEvent::Renewed { .. } => 2,
        LeaseEvent::FencedOff { .. } => 3,
        LeaseEvent::Refused { .. } => 4,
        LeaseEvent::StoreLost { .. } => 5,
        LeaseEvent::StoreFound => 6,
        LeaseEvent::ClockSkew { .. } => 7,
        LeaseEvent::Released { .. } => 8,
        // The Go module has no constant for this kind of event yet.
        _ => u64::MAX,
    }
}
