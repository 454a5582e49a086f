//! IDs made beforehand.

use std::ffi::c_void;
use std::mem::{MaybeUninit, offset_of};

use flakeid::CachedGenerator;
use flakeid_core::{Error, ErrorKind, RingOptions};

use crate::border::{self, Sized32, given};
use crate::fault::Fault;
use crate::generator::GeneratorHandle;
use crate::guard::guard;
use crate::last_error;
use crate::options::{self, OptionsHandle};
use crate::set;
use crate::status::Status;

// [options: ring flags]
/// `has`: boost_power is given.
pub const FLAKEID_HAS_BOOST_POWER: u32 = 2048;
/// `has`: padding_factor is given.
pub const FLAKEID_HAS_PADDING_FACTOR: u32 = 4096;
/// `has`: refill_interval_ms is given.
pub const FLAKEID_HAS_REFILL_INTERVAL: u32 = 8192;
/// `has`: max_age_ms is given.
pub const FLAKEID_HAS_MAX_AGE: u32 = 16384;
// [/options]

// [options: ring known]
#[rustfmt::skip]
const KNOWN: u32 = FLAKEID_HAS_BOOST_POWER | FLAKEID_HAS_PADDING_FACTOR |
    FLAKEID_HAS_REFILL_INTERVAL | FLAKEID_HAS_MAX_AGE;
// [/options]

/// A function that is called when IDs were refused, with the reason and user_data. While it runs,
/// flakeid_last_error() and its companions say more.
pub type RejectedCallback = Option<unsafe extern "C" fn(status: Status, user_data: *mut c_void)>;

/// The options of a ring. Start from FLAKEID_RING_CONFIG_INIT, or from zero with struct_size set;
/// then set the fields you need, and in `has` the flags of those that have one. A field that is
/// set without its flag is FLAKEID_INVALID_OPTION. All have defaults.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct RingConfig {
    /// sizeof(flakeid_ring_config).
    pub struct_size: u32,
    /// FLAKEID_HAS_... flags.
    pub has: u32,
    // [options: ring fields]
    /// The power k of the ring's capacity, the IDs of 2^k full ticks: 0 to 20; at least 2 IDs and
    /// at most 2^20 (FLAKEID_HAS_BOOST_POWER; otherwise 3).
    pub boost_power: u32,
    /// The percentage of IDs below which the ring is refilled: 1 to 99 (FLAKEID_HAS_PADDING_FACTOR;
    /// otherwise 50).
    pub padding_factor: u32,
    /// The interval at which the ring is refilled even if enough IDs are left, which keeps a seldom
    /// used ring fresh: at least 1 ms (FLAKEID_HAS_REFILL_INTERVAL; otherwise only when too few IDs
    /// are left).
    pub refill_interval_ms: u64,
    /// The largest age of an ID that the ring hands out, from the beginning of the ID's tick: at
    /// least two ticks (FLAKEID_HAS_MAX_AGE; otherwise 1 s or two ticks, whichever is longer).
    /// Older IDs are dropped and counted.
    pub max_age_ms: u64,
    /// NULL, or a function that is called each time the generator refuses to fill the ring for
    /// another reason than a full tick. It is called on threads of the library, and must not block,
    /// free the ring, fork, or throw.
    pub on_rejected_put: RejectedCallback,
    /// NULL, or a function that is called each time a call gets no ID for another reason than
    /// FLAKEID_CLOSED and FLAKEID_FORKED. It is called on the caller's thread, so possibly on
    /// several at the same time, and must not free the ring or throw.
    pub on_rejected_take: RejectedCallback,
    /// Passed to the functions. It must live until what was opened with it is freed.
    pub user_data: *mut c_void,
    /// NULL, or further options by name, which are set after the fields.
    pub options: *const OptionsHandle,
    // [/options]
}

// SAFETY: numbers, a raw pointer, and functions that may be NULL.
unsafe impl Sized32 for RingConfig {
    const FIRST: usize = offset_of!(RingConfig, options) + size_of::<*const OptionsHandle>();
}

/// What a ring holds, and what happened to it. Start from FLAKEID_RING_STATS_INIT.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct RingStats {
    /// sizeof(flakeid_ring_stats).
    pub struct_size: u32,
    /// 0.
    pub reserved: u32,
    /// IDs that the ring can hold.
    pub capacity: u64,
    /// IDs in the ring now.
    pub size: u64,
    /// IDs handed out.
    pub taken: u64,
    /// IDs dropped because they were older than max_age_ms. They are never handed out.
    pub dropped_stale: u64,
    /// Refills that the generator refused for another reason than a full tick.
    pub rejected_put: u64,
    /// Calls that got no ID for another reason than FLAKEID_CLOSED and FLAKEID_FORKED.
    pub rejected_take: u64,
    /// Portions put into the ring after the first filling.
    pub refills: u64,
}

// SAFETY: numbers only.
unsafe impl Sized32 for RingStats {
    const FIRST: usize = offset_of!(RingStats, refills) + size_of::<u64>();
}

/// A program's function, and what it is called with.
struct Rejection {
    function: unsafe extern "C" fn(status: Status, user_data: *mut c_void),
    user_data: *mut c_void,
}

// SAFETY: the header demands a function and data that may be used from other threads.
unsafe impl Send for Rejection {}
// SAFETY: as above, by several at the same time.
unsafe impl Sync for Rejection {}

impl Rejection {
    fn tell(&self, error: &Error) {
        last_error::during(error.clone().into(), || {
            // SAFETY: the program said that it may be called like this until the ring is freed.
            unsafe { (self.function)(error.kind().status(), self.user_data) }
        });
    }
}

impl RingConfig {
    /// Returns the core's options.
    ///
    /// # Safety
    /// `options` is NULL or a living handle.
    unsafe fn ring_options(&self) -> Result<RingOptions, Fault> {
        set::check_flags(self.has, KNOWN)?;
        let mut options = RingOptions::new();
        self.set(&mut options)?;
        // SAFETY: the caller guarantees this.
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

    /// Sets the options of the fields.
    #[rustfmt::skip]
    fn set(&self, builder: &mut RingOptions) -> Result<(), Fault> {
        // [options: ring set]
        set::flagged(builder, self.has, FLAKEID_HAS_BOOST_POWER, "boost_power", self.boost_power.into())?;
        set::flagged(builder, self.has, FLAKEID_HAS_PADDING_FACTOR, "padding_factor", self.padding_factor.into())?;
        set::flagged(builder, self.has, FLAKEID_HAS_REFILL_INTERVAL, "refill_interval_ms", self.refill_interval_ms)?;
        set::flagged(builder, self.has, FLAKEID_HAS_MAX_AGE, "max_age_ms", self.max_age_ms)?;
        // [/options]
        Ok(())
    }
}

/// A ring of IDs that a thread of the library makes in advance, so that taking one is several times
/// faster. Its IDs are unique, and strictly increase across all threads that take from it, but are
/// not in order with IDs of the generator itself. It is fast in bursts, or below the layout's rate:
/// it never holds more than the generator may issue, and hands out nothing older than max_age_ms.
/// Every function but flakeid_cached_free() may be called by any number of threads at the same
/// time. In a forked child it works, or fails, as its generator does there, and hands out nothing
/// of the parent's ring.
pub struct CachedHandle(CachedGenerator);

/// Makes a ring over a generator, fixed or leased, and fills it; `config` may be NULL, and is not
/// needed any more after the call. Waits as flakeid_generator_next(). The caller owns the ring and
/// frees it with flakeid_cached_free(). The ring keeps a reference of its own, so the generator may
/// be freed before it: the ring of a leased generator is FLAKEID_CLOSED from then on, any other
/// goes on. Any thread.
///
/// FLAKEID_FIELD_OUT_OF_RANGE (boost_power, padding_factor), FLAKEID_INVALID_OPTION (a max_age_ms
/// or refill_interval_ms that is too short, FLAKEID_ROLLBACK_CLOCK_SEQUENCE, struct_size, ...),
/// FLAKEID_NULL_ARGUMENT, and those of flakeid_generator_next().
#[unsafe(no_mangle)]
pub unsafe extern "C" fn flakeid_cached_open(
    generator: Option<&GeneratorHandle>,
    config: *const RingConfig,
    cached: Option<&mut MaybeUninit<Box<CachedHandle>>>,
) -> Status {
    guard(|| {
        let (generator, cached) = (given(generator, "generator")?, given(cached, "cached")?);
        // SAFETY: C promises that `config` is as large as it says.
        let config = unsafe { border::read_optional(config)? };
        // SAFETY: C promises that the handle of its options lives.
        let options = unsafe { config.ring_options()? };
        let ring = CachedGenerator::with(&generator.generator, options)?;
        cached.write(Box::new(CachedHandle(ring)));
        Ok(())
    })
}

/// The next ID of the ring, without waiting for a refill. Only the ring of a leased generator may
/// wait, and only to start again with another node. Any thread.
///
/// FLAKEID_RING_EMPTY, FLAKEID_CLOCK_ROLLBACK (its IDs are too far ahead of the clock),
/// FLAKEID_CLOSED, FLAKEID_FORKED, FLAKEID_NULL_ARGUMENT; of a leased generator also those of
/// flakeid_generator_next().
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

/// The next ID of the ring, if it has one to hand out: never waits, never begins with another node,
/// and counts no refusal. For callers that may not wait, or that have something to do before they
/// call flakeid_cached_take() or flakeid_cached_next(), which say why there is none. Any thread.
///
/// FLAKEID_RING_EMPTY, whatever the reason; FLAKEID_NULL_ARGUMENT.
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
    Error::new(ErrorKind::RingEmpty, "the ring has no ID at hand", None)
}

/// The next ID of the ring; waits for a refill, asleep, at most the generator's max_wait_ms. Any
/// thread.
///
/// FLAKEID_RING_EMPTY, and those of flakeid_generator_next().
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

/// What the ring holds, and what happened to it. Any thread.
///
/// FLAKEID_INVALID_OPTION (struct_size), FLAKEID_NULL_ARGUMENT.
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
        // SAFETY: C promises that `stats` is as large as it says.
        unsafe { border::write_sized(&now, stats) }
    })
}

/// Ends the ring without freeing it, for programs that do not know which calls of other threads are
/// under way: calls that begin later are FLAKEID_CLOSED, and so are those that wait. IDs that are left
/// in it are never issued; its generator goes on. Ends the ring's thread as flakeid_cached_free() does,
/// which has still to be called and frees the memory. Nothing the second time. Any thread.
///
/// FLAKEID_NULL_ARGUMENT.
#[unsafe(no_mangle)]
pub extern "C" fn flakeid_cached_close(cached: Option<&CachedHandle>) -> Status {
    guard(|| {
        given(cached, "cached")?.0.close();
        Ok(())
    })
}

/// Frees the ring; NULL is allowed. No other call may use the handle meanwhile or later. Ends the
/// ring's thread and waits for it, and so for a call of on_rejected_put that is under way; no call
/// follows. IDs that are left in the ring are never issued.
#[unsafe(no_mangle)]
pub extern "C" fn flakeid_cached_free(cached: Option<Box<CachedHandle>>) {
    let _ = guard(|| {
        drop(cached);
        Ok(())
    });
}
