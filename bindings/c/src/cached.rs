//! Ring buffers of IDs that are generated in advance.

use std::ffi::c_void;
use std::mem::{MaybeUninit, offset_of};

use flakeid::CachedGenerator;
use flakeid_core::{Error, ErrorKind, RingOptions};

use crate::border::{self, Sized32, given};
use crate::fault::Fault;
use crate::flags;
use crate::generator::GeneratorHandle;
use crate::guard::{free, guard};
use crate::last_error;
use crate::options::{self, OptionsHandle};
use crate::set;
use crate::status::Status;

// [options: ring known]
#[rustfmt::skip]
const KNOWN: u32 = flags::FLAKEID_HAS_BOOST_POWER | flags::FLAKEID_HAS_PADDING_FACTOR |
    flags::FLAKEID_HAS_REFILL_INTERVAL | flags::FLAKEID_HAS_MAX_AGE;
// [/options]

/// A function that the library calls with an error status and user_data when IDs cannot be issued.
/// While the function runs, flakeid_last_error() and the related functions describe the error.
pub type RejectedCallback = Option<unsafe extern "C" fn(status: Status, user_data: *mut c_void)>;

/// The options of a ring. Every option has a default. Initialize the struct with
/// FLAKEID_RING_CONFIG_INIT, or zero it and set struct_size. Then set the fields that you need. For
/// each field that has a flag, also set the flag in `has`. A nonzero field without its flag causes
/// FLAKEID_INVALID_OPTION.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct RingConfig {
    /// The size of the struct: sizeof(flakeid_ring_config).
    pub struct_size: u32,
    /// The FLAKEID_HAS_... flags of the fields that are set.
    pub has: u32,
    // [options: ring fields]
    /// The exponent k, from 0 to 20, that determines the ring's capacity. This field requires the
    /// flag FLAKEID_HAS_BOOST_POWER; the default is 3. The capacity is the number of IDs in 2^k
    /// full ticks, limited to the range from 2 to 2^20.
    pub boost_power: u32,
    /// The percentage of the ring's capacity below which the ring is refilled: 1 to 99. This field
    /// requires the flag FLAKEID_HAS_PADDING_FACTOR; the default is 50.
    pub padding_factor: u32,
    /// The interval at which the ring is refilled even if enough IDs are left: at least 1 ms. This
    /// field requires the flag FLAKEID_HAS_REFILL_INTERVAL; the default is a refill only when too
    /// few IDs are left. Regular refills keep the IDs of a rarely used ring fresh.
    pub refill_interval_ms: u64,
    /// The maximum age of an ID that the ring returns: at least two ticks. This field requires the
    /// flag FLAKEID_HAS_MAX_AGE; the default is 1 s or two ticks, whichever is longer. The age is
    /// measured from the beginning of the ID's tick. Older IDs are dropped and counted.
    pub max_age_ms: u64,
    /// NULL, or a function that is called each time the generator refuses to fill the ring, except
    /// when all IDs of the tick have been used. The function is called on library threads, and must
    /// not block, free the ring, fork, or throw.
    pub on_rejected_put: RejectedCallback,
    /// NULL, or a function that is called each time flakeid_cached_take() or flakeid_cached_next()
    /// returns no ID for a reason other than FLAKEID_CLOSED or FLAKEID_FORKED. The function is
    /// called on the caller's thread, possibly on several threads at the same time, and must not
    /// free the ring or throw.
    pub on_rejected_take: RejectedCallback,
    /// A pointer that the library passes to each callback function. The target of the pointer must
    /// remain valid until the generator or ring that is created with this struct is freed.
    pub user_data: *mut c_void,
    /// NULL, or a list of further options, which are set by name after the fields of this struct.
    pub options: *const OptionsHandle,
    // [/options]
}

// SAFETY: the struct contains only numbers, raw pointers and nullable function pointers, so a
// struct whose bytes are all zero is valid.
unsafe impl Sized32 for RingConfig {
    const FIRST: usize = offset_of!(RingConfig, options) + size_of::<*const OptionsHandle>();
}

/// The capacity, size and counters of a ring. Initialize the struct with FLAKEID_RING_STATS_INIT.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct RingStats {
    /// The size of the struct: sizeof(flakeid_ring_stats).
    pub struct_size: u32,
    /// Reserved; always 0.
    pub reserved: u32,
    /// The number of IDs that the ring can hold.
    pub capacity: u64,
    /// The number of IDs that are currently in the ring.
    pub size: u64,
    /// The number of IDs that the ring has returned.
    pub taken: u64,
    /// The number of IDs that the ring dropped instead of returning them, because they were older
    /// than max_age_ms.
    pub dropped_stale: u64,
    /// The number of refills that failed for a reason other than a full tick.
    pub rejected_put: u64,
    /// The number of calls, not counting flakeid_cached_poll(), that returned no ID for a reason
    /// other than FLAKEID_CLOSED or FLAKEID_FORKED.
    pub rejected_take: u64,
    /// The number of times IDs were added to the ring after the ring was first filled.
    pub refills: u64,
}

// SAFETY: the struct contains only numbers, so a struct whose bytes are all zero is valid.
unsafe impl Sized32 for RingStats {
    const FIRST: usize = offset_of!(RingStats, refills) + size_of::<u64>();
}

/// The program's callback function, and the user data that is passed to the function.
struct Rejection {
    function: unsafe extern "C" fn(status: Status, user_data: *mut c_void),
    user_data: *mut c_void,
}

// SAFETY: the header requires a function and data that are safe to use on other threads.
unsafe impl Send for Rejection {}
// SAFETY: the header requires a function and data that are safe to use on several threads at the
// same time.
unsafe impl Sync for Rejection {}

impl Rejection {
    fn tell(&self, error: &Error) {
        last_error::during(error.clone().into(), || {
            // SAFETY: the program guarantees that the function may be called until the ring is
            // freed.
            unsafe { (self.function)(error.kind().status(), self.user_data) }
        });
    }
}

impl RingConfig {
    /// Converts this struct to the core's ring options.
    ///
    /// # Safety
    /// `self.options` must be NULL or a live handle.
    unsafe fn ring_options(&self) -> Result<RingOptions, Fault> {
        set::check_flags(self.has, KNOWN)?;
        let mut options = RingOptions::new();
        self.set(&mut options)?;
        // SAFETY: the caller guarantees that `self.options` is NULL or a live handle.
        options::apply(unsafe { self.options.as_ref() }, &mut options)?;
        if self.on_rejected_put.or(self.on_rejected_take).is_none() && !self.user_data.is_null() {
            let reason = "set, but on_rejected_put and on_rejected_take are NULL";
            return Err(Error::invalid_option("user_data", reason).into());
        }
        if let Some(function) = self.on_rejected_put {
            let rejection = Rejection { function, user_data: self.user_data };
            options = options.on_rejected_put(move |error| rejection.tell(error));
        }
        if let Some(function) = self.on_rejected_take {
            let rejection = Rejection { function, user_data: self.user_data };
            options = options.on_rejected_take(move |error| rejection.tell(error));
        }
        Ok(options)
    }

    /// Sets the options in `builder` from the fields of this struct.
    #[rustfmt::skip]
    fn set(&self, builder: &mut RingOptions) -> Result<(), Fault> {
        // [options: ring set]
        set::flagged(builder, self.has, flags::FLAKEID_HAS_BOOST_POWER, "boost_power", self.boost_power)?;
        set::flagged(builder, self.has, flags::FLAKEID_HAS_PADDING_FACTOR, "padding_factor", self.padding_factor)?;
        set::flagged(builder, self.has, flags::FLAKEID_HAS_REFILL_INTERVAL, "refill_interval_ms", self.refill_interval_ms)?;
        set::flagged(builder, self.has, flags::FLAKEID_HAS_MAX_AGE, "max_age_ms", self.max_age_ms)?;
        // [/options]
        Ok(())
    }
}

/// A ring of IDs that a library thread generates in advance, so that taking an ID is several times
/// faster than generating one. The IDs of a ring are unique, and strictly increase across all
/// threads that take from the ring. IDs from the ring and IDs that the generator issues directly
/// are not ordered relative to each other. A ring is faster than its generator only in bursts or
/// below the layout's maximum rate, because the ring never contains more IDs than the generator may
/// issue. The ring returns no ID that is older than max_age_ms. Any number of threads may call
/// every function except flakeid_cached_free() at the same time. In a forked child, the ring works
/// only if its generator works, and returns no ID that the parent generated.
pub struct CachedHandle(CachedGenerator);

/// Creates a ring for a generator with a fixed node or a leased node, and fills the ring. `config`
/// may be NULL, and is not needed after the call. Waits for the first IDs in the same way as
/// flakeid_generator_next(). The caller owns the ring and must free it with flakeid_cached_free().
/// The ring keeps a reference to the generator, so the generator may be freed first. After the
/// generator is freed, calls that take IDs from the ring fail with FLAKEID_CLOSED if the node is
/// leased, and continue to work if the node is fixed. Thread-safe.
///
/// Errors: FLAKEID_FIELD_OUT_OF_RANGE (boost_power, padding_factor), FLAKEID_INVALID_OPTION (a
/// max_age_ms or refill_interval_ms that is too short, a generator with
/// FLAKEID_ROLLBACK_CLOCK_SEQUENCE, a wrong struct_size, ...), FLAKEID_NULL_ARGUMENT, and the
/// errors of flakeid_generator_next().
#[unsafe(no_mangle)]
pub unsafe extern "C" fn flakeid_cached_open(
    generator: Option<&GeneratorHandle>,
    config: *const RingConfig,
    cached: Option<&mut MaybeUninit<Box<CachedHandle>>>,
) -> Status {
    guard(|| {
        let (generator, cached) = (given(generator, "generator")?, given(cached, "cached")?);
        // SAFETY: the C caller guarantees that `config` is NULL or points to `struct_size` readable
        // bytes.
        let config = unsafe { border::read_optional(config)? };
        // SAFETY: the C caller guarantees that `config.options` is NULL or a live handle.
        let options = unsafe { config.ring_options()? };
        let ring = CachedGenerator::with(&generator.generator, options)?;
        cached.write(Box::new(CachedHandle(ring)));
        Ok(())
    })
}

/// Takes the next ID from the ring. Does not wait for a refill, but waits if the generator is
/// leased and the ring must restart with another node. Thread-safe.
///
/// Errors: FLAKEID_RING_EMPTY, FLAKEID_CLOCK_ROLLBACK (the ring's IDs are too far ahead of the
/// clock), FLAKEID_CLOSED, FLAKEID_FORKED, FLAKEID_NULL_ARGUMENT; with a leased generator, also the
/// errors of flakeid_generator_next().
#[unsafe(no_mangle)]
pub extern "C" fn flakeid_cached_take(
    cached: Option<&CachedHandle>,
    id: Option<&mut MaybeUninit<u64>>,
) -> Status {
    guard(|| {
        let (cached, id) = (given(cached, "cached")?, given(id, "id")?);
        id.write(cached.0.take()?.to_u64());
        Ok(())
    })
}

/// Takes the next ID from the ring if an ID is available. Never waits, never restarts the ring with
/// another node, and never increases rejected_take. Use this function if the caller must not wait,
/// or can do other work until an ID is available. flakeid_cached_take() and flakeid_cached_next()
/// report why no ID is available. Thread-safe.
///
/// Errors: FLAKEID_RING_EMPTY (no ID is available, for any reason), FLAKEID_NULL_ARGUMENT.
#[unsafe(no_mangle)]
pub extern "C" fn flakeid_cached_poll(
    cached: Option<&CachedHandle>,
    id: Option<&mut MaybeUninit<u64>>,
) -> Status {
    guard(|| {
        let (cached, id) = (given(cached, "cached")?, given(id, "id")?);
        id.write(cached.0.poll().ok_or_else(nothing_at_hand)?.to_u64());
        Ok(())
    })
}

#[cold]
fn nothing_at_hand() -> Error {
    Error::new(ErrorKind::RingEmpty, "the ring contains no IDs at the moment; retry later", None)
}

/// Takes the next ID from the ring. If the ring is empty, waits for a refill, but not longer than
/// the generator's max_wait_ms. Thread-safe.
///
/// Errors: FLAKEID_RING_EMPTY, and the errors of flakeid_generator_next().
#[unsafe(no_mangle)]
pub extern "C" fn flakeid_cached_next(
    cached: Option<&CachedHandle>,
    id: Option<&mut MaybeUninit<u64>>,
) -> Status {
    guard(|| {
        let (cached, id) = (given(cached, "cached")?, given(id, "id")?);
        id.write(cached.0.next_id()?.to_u64());
        Ok(())
    })
}

/// Writes the capacity, size and counters of the ring to `stats`. Thread-safe.
///
/// Errors: FLAKEID_INVALID_OPTION (a wrong struct_size), FLAKEID_NULL_ARGUMENT.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn flakeid_cached_stats(
    cached: Option<&CachedHandle>,
    stats: *mut RingStats,
) -> Status {
    guard(|| {
        let ring = &given(cached, "cached")?.0;
        let now = ring.stats();
        let now = RingStats {
            struct_size: 0,
            reserved: 0,
            capacity: ring.capacity(),
            size: now.size,
            taken: now.taken,
            dropped_stale: now.dropped_stale,
            rejected_put: now.rejected_put,
            rejected_take: now.rejected_take,
            refills: now.refills,
        };
        // SAFETY: the C caller guarantees that `stats` points to `struct_size` writable bytes.
        unsafe { border::write_sized(&now, stats) }
    })
}

/// Closes the ring without freeing it. Use this function if other threads may still be using the
/// ring. Later calls, and calls that are waiting, fail with FLAKEID_CLOSED. IDs that are still in
/// the ring are never issued; the generator remains open. Ends the ring's thread in the same way as
/// flakeid_cached_free(), which must still be called to free the memory. A second call does
/// nothing. Thread-safe.
///
/// Errors: FLAKEID_NULL_ARGUMENT.
#[unsafe(no_mangle)]
pub extern "C" fn flakeid_cached_close(cached: Option<&CachedHandle>) -> Status {
    guard(|| {
        given(cached, "cached")?.0.close();
        Ok(())
    })
}

/// Frees the ring; NULL is allowed. No other call may use the handle during or after this call.
/// Ends the ring's thread and waits until the thread has finished, including any running call to
/// on_rejected_put. No callback is called after this function has returned. IDs that are still in
/// the ring are never issued.
#[unsafe(no_mangle)]
pub extern "C" fn flakeid_cached_free(cached: Option<Box<CachedHandle>>) {
    free(cached);
}
