//! Layouts, which define the meaning of an ID's bits. In C, a layout is a string: the name of a
//! preset, or a descriptor. NULL means the default layout.

use std::ffi::{CString, c_char};
use std::mem::{MaybeUninit, offset_of};
use std::sync::LazyLock;

use flakeid_core::{Error, Id, Layout};

use crate::border::{self, Sized32, given};
use crate::guard::{guard, write_result};
use crate::parts::Parts;
use crate::status::Status;

/// The size, in bytes, of a buffer that can hold the canonical descriptor of any layout, including
/// the final NUL.
pub const FLAKEID_DESCRIPTOR_SIZE: usize = 128;

/// The size, in bytes, of a buffer that can hold any timestamp, including the final NUL.
pub const FLAKEID_TIMESTAMP_SIZE: usize = 32;

/// The properties of a layout. Initialize the struct with FLAKEID_LAYOUT_INFO_INIT.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct LayoutInfo {
    /// The size of the struct: sizeof(flakeid_layout_info).
    pub struct_size: u32,
    /// The number of bits that the layout uses, out of 64.
    pub width: u32,
    /// The instant of tick 0, in Unix milliseconds.
    pub epoch: i64,
    /// The length of a tick in milliseconds.
    pub unit_ms: u64,
    /// The largest tick.
    pub max_tick: u64,
    /// The largest node number; 0 if the layout has no node field.
    pub max_node: u64,
    /// The largest datacenter number; 0 if the layout does not split the node.
    pub max_datacenter: u64,
    /// The largest worker number; 0 if the layout does not split the node.
    pub max_worker: u64,
    /// The largest value of the clock sequence; 0 if the layout has no clock sequence.
    pub max_clock_sequence: u64,
    /// The largest sequence number.
    pub max_sequence: u64,
    /// The number of IDs that one node can issue in one tick.
    pub ids_per_tick: u64,
    /// The number of IDs that one node can issue in one second.
    pub ids_per_second: f64,
    /// The first instant after the layout's last tick, in Unix milliseconds.
    pub horizon: i64,
    /// The instant, in Unix milliseconds, before which all IDs are positive as signed 64-bit
    /// integers.
    pub fits_i64_until: i64,
    /// 1 if the layout splits the node into a datacenter and a worker, otherwise 0.
    pub is_split: u32,
    /// 1 if generators can use the layout; 0 if the layout can only decode IDs.
    pub can_generate: u32,
    /// 1 if IDs have at most 53 bits, so that a double can represent every ID exactly; otherwise 0.
    pub fits_f64: u32,
    /// Reserved; always 0.
    pub reserved: u32,
}

// SAFETY: the struct is `repr(C)`, begins with a `u32`, and contains only numbers, which may be
// zero.
unsafe impl Sized32 for LayoutInfo {
    const FIRST: usize = offset_of!(LayoutInfo, reserved) + size_of::<u32>();
}

impl From<&Layout> for LayoutInfo {
    fn from(layout: &Layout) -> Self {
        let (max_datacenter, max_worker) = layout.max_datacenter_and_worker().unwrap_or_default();
        Self {
            struct_size: 0,
            width: layout.width(),
            epoch: layout.epoch(),
            unit_ms: layout.unit_ms(),
            max_tick: layout.max_tick(),
            max_node: layout.max_node(),
            max_datacenter,
            max_worker,
            max_clock_sequence: layout.max_clock_sequence(),
            max_sequence: layout.max_sequence(),
            ids_per_tick: layout.ids_per_tick(),
            ids_per_second: layout.ids_per_second(),
            horizon: layout.horizon(),
            fits_i64_until: layout.fits_i64_until(),
            is_split: layout.is_split().into(),
            can_generate: layout.can_generate().into(),
            fits_f64: layout.fits_f64().into(),
            reserved: 0,
        }
    }
}

/// Parses a layout from a C string.
///
/// # Safety
/// `layout` must be NULL or point to a NUL-terminated string.
unsafe fn read(layout: *const c_char) -> Result<Layout, Error> {
    // SAFETY: the caller guarantees that `layout` is NULL or NUL-terminated.
    border::layout(unsafe { border::text(layout) })
}

/// Checks that `layout` is NULL, the name of a preset, or a valid descriptor. Returns FLAKEID_OK or
/// FLAKEID_INVALID_LAYOUT. Thread-safe.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn flakeid_layout_check(layout: *const c_char) -> Status {
    // SAFETY: the C caller guarantees that strings are NULL or NUL-terminated.
    guard(|| Ok(unsafe { read(layout) }.map(|_| ())?))
}

/// Writes the canonical descriptor of a layout as a string. FLAKEID_DESCRIPTOR_SIZE bytes are
/// always enough. Thread-safe.
///
/// Errors: FLAKEID_INVALID_LAYOUT, FLAKEID_BUFFER_TOO_SMALL (nothing is written),
/// FLAKEID_NULL_ARGUMENT.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn flakeid_layout_descriptor(
    layout: *const c_char,
    buffer: *mut c_char,
    size: usize,
) -> Status {
    // SAFETY: the C caller guarantees that `layout` is NULL or NUL-terminated, and that `buffer` is
    // NULL or points to `size` writable bytes.
    guard(|| unsafe { border::write_text(&read(layout)?.to_string(), buffer, size) })
}

/// Writes the properties of a layout to `info`. Thread-safe.
///
/// Errors: FLAKEID_INVALID_LAYOUT, FLAKEID_INVALID_OPTION (invalid struct_size),
/// FLAKEID_NULL_ARGUMENT.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn flakeid_layout_get_info(
    layout: *const c_char,
    info: *mut LayoutInfo,
) -> Status {
    // SAFETY: the C caller guarantees that `layout` is NULL or NUL-terminated, and that `info` is
    // NULL or points to `struct_size` writable bytes.
    guard(|| unsafe { border::write_sized(&LayoutInfo::from(&read(layout)?), info) })
}

/// Returns the number of presets. Thread-safe.
#[unsafe(no_mangle)]
pub extern "C" fn flakeid_preset_count() -> usize {
    Layout::presets().len()
}

/// Returns the name of the preset at `index`, from 0 to flakeid_preset_count() - 1, or NULL for any
/// other index. The string is static. Thread-safe.
#[unsafe(no_mangle)]
pub extern "C" fn flakeid_preset_name(index: usize) -> *const c_char {
    static NAMES: LazyLock<Vec<CString>> = LazyLock::new(|| {
        Layout::presets().iter().map(|(name, _)| CString::new(*name).unwrap_or_default()).collect()
    });
    NAMES.get(index).map_or(std::ptr::null(), |name| name.as_ptr())
}

/// Decodes an ID into its parts. Thread-safe.
///
/// Errors: FLAKEID_INVALID_LAYOUT, FLAKEID_INVALID_ID (the ID has bits that the layout never sets),
/// FLAKEID_NULL_ARGUMENT.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn flakeid_decode(
    layout: *const c_char,
    id: u64,
    parts: Option<&mut MaybeUninit<Parts>>,
) -> Status {
    write_result(parts, "parts", || {
        // SAFETY: the C caller guarantees that strings are NULL or NUL-terminated.
        Ok(unsafe { read(layout) }?.unpack(Id::from_u64(id))?.into())
    })
}

/// Packs the given parts into an ID. Thread-safe.
///
/// Errors: FLAKEID_INVALID_LAYOUT, FLAKEID_FIELD_OUT_OF_RANGE, FLAKEID_INVALID_OPTION (parts that
/// contradict each other), FLAKEID_BEFORE_EPOCH, FLAKEID_HORIZON_REACHED, FLAKEID_NULL_ARGUMENT.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn flakeid_pack(
    layout: *const c_char,
    parts: Option<&Parts>,
    id: Option<&mut MaybeUninit<u64>>,
) -> Status {
    guard(|| {
        let (parts, id) = (given(parts, "parts")?, given(id, "id")?);
        // SAFETY: the C caller guarantees that strings are NULL or NUL-terminated.
        id.write(unsafe { read(layout) }?.pack(&parts.into())?.to_u64());
        Ok(())
    })
}

/// Writes parts for flakeid_pack() to `parts`: the tick that contains the instant `unix_ms`, and the
/// instant at which that tick begins. All other parts are zero. Thread-safe.
///
/// Errors: FLAKEID_INVALID_LAYOUT, FLAKEID_BEFORE_EPOCH, FLAKEID_HORIZON_REACHED,
/// FLAKEID_NULL_ARGUMENT.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn flakeid_parts_at(
    layout: *const c_char,
    unix_ms: i64,
    parts: Option<&mut MaybeUninit<Parts>>,
) -> Status {
    write_result(parts, "parts", || {
        // SAFETY: the C caller guarantees that strings are NULL or NUL-terminated.
        Ok(unsafe { read(layout) }?.parts_at(unix_ms)?.into())
    })
}

/// Combines a datacenter and a worker into a node. Thread-safe.
///
/// Errors: FLAKEID_INVALID_LAYOUT, FLAKEID_FIELD_OUT_OF_RANGE, FLAKEID_INVALID_OPTION (the layout
/// does not split its node), FLAKEID_NULL_ARGUMENT.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn flakeid_join_node(
    layout: *const c_char,
    datacenter: u64,
    worker: u64,
    node: Option<&mut MaybeUninit<u64>>,
) -> Status {
    write_result(node, "node", || {
        // SAFETY: the C caller guarantees that strings are NULL or NUL-terminated.
        Ok(unsafe { read(layout) }?.join_node(datacenter, worker)?)
    })
}

/// Writes the tick that contains the instant `unix_ms` to `tick`. Thread-safe.
///
/// Errors: FLAKEID_INVALID_LAYOUT, FLAKEID_BEFORE_EPOCH, FLAKEID_HORIZON_REACHED,
/// FLAKEID_NULL_ARGUMENT.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn flakeid_tick_at(
    layout: *const c_char,
    unix_ms: i64,
    tick: Option<&mut MaybeUninit<u64>>,
) -> Status {
    write_result(tick, "tick", || {
        // SAFETY: the C caller guarantees that strings are NULL or NUL-terminated.
        Ok(unsafe { read(layout) }?.tick_at(unix_ms)?)
    })
}

/// Writes the instant at which a tick begins, in Unix milliseconds. For a tick after the layout's
/// last tick, writes the layout's horizon. Thread-safe.
///
/// Errors: FLAKEID_INVALID_LAYOUT, FLAKEID_NULL_ARGUMENT.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn flakeid_unix_ms_at(
    layout: *const c_char,
    tick: u64,
    unix_ms: Option<&mut MaybeUninit<i64>>,
) -> Status {
    write_result(unix_ms, "unix_ms", || {
        // SAFETY: the C caller guarantees that strings are NULL or NUL-terminated.
        Ok(unsafe { read(layout) }?.unix_ms_at(tick))
    })
}

/// Writes an instant as an RFC 3339 timestamp in UTC with the precision of the layout.
/// FLAKEID_TIMESTAMP_SIZE bytes are always enough. Thread-safe.
///
/// Errors: FLAKEID_INVALID_LAYOUT, FLAKEID_BUFFER_TOO_SMALL (nothing is written),
/// FLAKEID_NULL_ARGUMENT.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn flakeid_timestamp(
    layout: *const c_char,
    unix_ms: i64,
    buffer: *mut c_char,
    size: usize,
) -> Status {
    // SAFETY: the C caller guarantees that `layout` is NULL or NUL-terminated, and that `buffer` is
    // NULL or points to `size` writable bytes.
    guard(|| unsafe {
        border::write_text(&read(layout)?.timestamp(unix_ms).to_string(), buffer, size)
    })
}

/// Writes the smallest ID in the tick that contains `unix_ms`, for range scans (id >= lower). An
/// instant outside the layout's range is clamped to the first or last tick. Thread-safe.
///
/// Errors: FLAKEID_INVALID_LAYOUT, FLAKEID_NULL_ARGUMENT.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn flakeid_lower_bound(
    layout: *const c_char,
    unix_ms: i64,
    id: Option<&mut MaybeUninit<u64>>,
) -> Status {
    write_result(id, "id", || {
        // SAFETY: the C caller guarantees that strings are NULL or NUL-terminated.
        Ok(unsafe { read(layout) }?.lower_bound(unix_ms).to_u64())
    })
}

/// Writes the largest ID in the tick that contains `unix_ms`, for range scans (id <= upper). An
/// instant outside the layout's range is clamped to the first or last tick. Thread-safe.
///
/// Errors: FLAKEID_INVALID_LAYOUT, FLAKEID_NULL_ARGUMENT.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn flakeid_upper_bound(
    layout: *const c_char,
    unix_ms: i64,
    id: Option<&mut MaybeUninit<u64>>,
) -> Status {
    write_result(id, "id", || {
        // SAFETY: the C caller guarantees that strings are NULL or NUL-terminated.
        Ok(unsafe { read(layout) }?.upper_bound(unix_ms).to_u64())
    })
}
