//! Layouts: which bits mean what. Here they are strings: a preset's name, a descriptor, or NULL for
//! the default.

use std::ffi::{CString, c_char};
use std::mem::{MaybeUninit, offset_of};
use std::sync::LazyLock;

use flakeid_core::{Error, Id, Layout};

use crate::border::{self, Sized32, given};
use crate::guard::guard;
use crate::parts::Parts;
use crate::status::Status;

/// Bytes that are always enough for a layout's canonical descriptor, with its final NUL.
pub const FLAKEID_DESCRIPTOR_SIZE: usize = 128;

/// Bytes that are always enough for a timestamp, with its final NUL.
pub const FLAKEID_TIMESTAMP_SIZE: usize = 32;

/// The figures of a layout. Start from FLAKEID_LAYOUT_INFO_INIT.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct LayoutInfo {
    /// sizeof(flakeid_layout_info).
    pub struct_size: u32,
    /// How many of the 64 bits the layout uses.
    pub width: u32,
    /// Unix milliseconds of tick 0.
    pub epoch: i64,
    /// The length of a tick in milliseconds.
    pub unit_ms: u64,
    /// The last tick.
    pub max_tick: u64,
    /// The largest node; 0 where the layout has no node field.
    pub max_node: u64,
    /// The largest datacenter; 0 unless is_split.
    pub max_datacenter: u64,
    /// The largest worker; 0 unless is_split.
    pub max_worker: u64,
    /// The largest clock sequence; 0 where the layout has none.
    pub max_clock_sequence: u64,
    /// The largest sequence number.
    pub max_sequence: u64,
    /// How many IDs one node can issue in one tick.
    pub ids_per_tick: u64,
    /// How many IDs one node can issue in one second.
    pub ids_per_second: f64,
    /// The instant at which the ticks run out, in Unix milliseconds, exclusive.
    pub horizon: i64,
    /// Until when IDs are positive as a signed 64-bit integer, in Unix milliseconds, exclusive.
    pub fits_i64_until: i64,
    /// 1 if the node is datacenter and worker, else 0.
    pub is_split: u32,
    /// 1 if generators can be built on the layout, else 0 (it only decodes).
    pub can_generate: u32,
    /// 1 if every ID is exact as a double (at most 53 bits), else 0.
    pub fits_f64: u32,
    /// 0.
    pub reserved: u32,
}

// SAFETY: numbers only.
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

/// # Safety
/// `layout` is NULL or ends in NUL.
unsafe fn read(layout: *const c_char) -> Result<Layout, Error> {
    // SAFETY: as promised by the caller.
    border::layout(unsafe { border::text(layout) })
}

/// Says whether a string names a layout: FLAKEID_OK or FLAKEID_INVALID_LAYOUT. Any thread.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn flakeid_layout_check(layout: *const c_char) -> Status {
    // SAFETY: C promises a string.
    guard(|| Ok(unsafe { read(layout) }.map(|_| ())?))
}

/// Writes the canonical descriptor of a layout as a string; FLAKEID_DESCRIPTOR_SIZE bytes are
/// always enough. Any thread.
///
/// FLAKEID_INVALID_LAYOUT, FLAKEID_BUFFER_TOO_SMALL (nothing is written), FLAKEID_NULL_ARGUMENT.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn flakeid_layout_descriptor(
    layout: *const c_char,
    buffer: *mut c_char,
    size: usize,
) -> Status {
    // SAFETY: C promises a string, and `size` bytes at `buffer`.
    guard(|| unsafe { border::write_text(&read(layout)?.to_string(), buffer, size) })
}

/// The figures of a layout. Any thread.
///
/// FLAKEID_INVALID_LAYOUT, FLAKEID_INVALID_OPTION (struct_size), FLAKEID_NULL_ARGUMENT.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn flakeid_layout_get_info(
    layout: *const c_char,
    info: *mut LayoutInfo,
) -> Status {
    // SAFETY: C promises a string, and that `info` is as large as it says.
    guard(|| unsafe { border::write_sized(&LayoutInfo::from(&read(layout)?), info) })
}

/// How many presets there are. Any thread.
#[unsafe(no_mangle)]
pub extern "C" fn flakeid_preset_count() -> usize {
    Layout::presets().len()
}

/// The name of a preset, from 0 to flakeid_preset_count() - 1; NULL for any other index. The
/// string is static. Any thread.
#[unsafe(no_mangle)]
pub extern "C" fn flakeid_preset_name(index: usize) -> *const c_char {
    static NAMES: LazyLock<Vec<CString>> = LazyLock::new(|| {
        Layout::presets().iter().map(|(name, _)| CString::new(*name).unwrap_or_default()).collect()
    });
    NAMES.get(index).map_or(std::ptr::null(), |name| name.as_ptr())
}

/// The parts of an ID. Any thread.
///
/// FLAKEID_INVALID_LAYOUT, FLAKEID_INVALID_ID (bits that the layout never sets),
/// FLAKEID_NULL_ARGUMENT.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn flakeid_decode(
    layout: *const c_char,
    id: u64,
    parts: Option<&mut MaybeUninit<Parts>>,
) -> Status {
    guard(|| {
        let parts = given(parts, "parts")?;
        // SAFETY: C promises a string.
        parts.write(unsafe { read(layout) }?.unpack(Id::from_u64(id))?.into());
        Ok(())
    })
}

/// The ID of these parts. Any thread.
///
/// FLAKEID_INVALID_LAYOUT, FLAKEID_FIELD_OUT_OF_RANGE, FLAKEID_INVALID_OPTION (parts that
/// contradict each other), FLAKEID_BEFORE_EPOCH, FLAKEID_HORIZON_REACHED, FLAKEID_NULL_ARGUMENT.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn flakeid_pack(
    layout: *const c_char,
    parts: Option<&Parts>,
    id: Option<&mut MaybeUninit<u64>>,
) -> Status {
    guard(|| {
        let (parts, id) = (given(parts, "parts")?, given(id, "id")?);
        // SAFETY: C promises a string.
        id.write(unsafe { read(layout) }?.pack(&parts.into())?.to_u64());
        Ok(())
    })
}

/// Parts to start from for flakeid_pack(): the tick of an instant, everything else zero. Any
/// thread.
///
/// FLAKEID_INVALID_LAYOUT, FLAKEID_BEFORE_EPOCH, FLAKEID_HORIZON_REACHED, FLAKEID_NULL_ARGUMENT.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn flakeid_parts_at(
    layout: *const c_char,
    unix_ms: i64,
    parts: Option<&mut MaybeUninit<Parts>>,
) -> Status {
    guard(|| {
        let parts = given(parts, "parts")?;
        // SAFETY: C promises a string.
        parts.write(unsafe { read(layout) }?.parts_at(unix_ms)?.into());
        Ok(())
    })
}

/// The node made of a datacenter and a worker. Any thread.
///
/// FLAKEID_INVALID_LAYOUT, FLAKEID_FIELD_OUT_OF_RANGE, FLAKEID_INVALID_OPTION (the layout does not
/// split its node), FLAKEID_NULL_ARGUMENT.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn flakeid_join_node(
    layout: *const c_char,
    datacenter: u64,
    worker: u64,
    node: Option<&mut MaybeUninit<u64>>,
) -> Status {
    guard(|| {
        let node = given(node, "node")?;
        // SAFETY: C promises a string.
        node.write(unsafe { read(layout) }?.join_node(datacenter, worker)?);
        Ok(())
    })
}

/// The tick of an instant. Any thread.
///
/// FLAKEID_INVALID_LAYOUT, FLAKEID_BEFORE_EPOCH, FLAKEID_HORIZON_REACHED, FLAKEID_NULL_ARGUMENT.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn flakeid_tick_at(
    layout: *const c_char,
    unix_ms: i64,
    tick: Option<&mut MaybeUninit<u64>>,
) -> Status {
    guard(|| {
        let tick = given(tick, "tick")?;
        // SAFETY: C promises a string.
        tick.write(unsafe { read(layout) }?.tick_at(unix_ms)?);
        Ok(())
    })
}

/// The instant at which a tick begins, in Unix milliseconds; ticks past the last one give the
/// horizon. Any thread.
///
/// FLAKEID_INVALID_LAYOUT, FLAKEID_NULL_ARGUMENT.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn flakeid_unix_ms_at(
    layout: *const c_char,
    tick: u64,
    unix_ms: Option<&mut MaybeUninit<i64>>,
) -> Status {
    guard(|| {
        let unix_ms = given(unix_ms, "unix_ms")?;
        // SAFETY: C promises a string.
        unix_ms.write(unsafe { read(layout) }?.unix_ms_at(tick));
        Ok(())
    })
}

/// Writes an instant as an RFC 3339 timestamp in UTC with the precision of the layout;
/// FLAKEID_TIMESTAMP_SIZE bytes are always enough. Any thread.
///
/// FLAKEID_INVALID_LAYOUT, FLAKEID_BUFFER_TOO_SMALL (nothing is written), FLAKEID_NULL_ARGUMENT.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn flakeid_timestamp(
    layout: *const c_char,
    unix_ms: i64,
    buffer: *mut c_char,
    size: usize,
) -> Status {
    // SAFETY: C promises a string, and `size` bytes at `buffer`.
    guard(|| unsafe {
        border::write_text(&read(layout)?.timestamp(unix_ms).to_string(), buffer, size)
    })
}

/// The smallest ID of the tick that contains `unix_ms`, for range scans (id >= lower). Instants
/// outside the layout's range are clamped to it. Any thread.
///
/// FLAKEID_INVALID_LAYOUT, FLAKEID_NULL_ARGUMENT.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn flakeid_lower_bound(
    layout: *const c_char,
    unix_ms: i64,
    id: Option<&mut MaybeUninit<u64>>,
) -> Status {
    guard(|| {
        let id = given(id, "id")?;
        // SAFETY: C promises a string.
        id.write(unsafe { read(layout) }?.lower_bound(unix_ms).to_u64());
        Ok(())
    })
}

/// The largest ID of the tick that contains `unix_ms`, inclusive (id <= upper). Instants outside
/// the layout's range are clamped to it. Any thread.
///
/// FLAKEID_INVALID_LAYOUT, FLAKEID_NULL_ARGUMENT.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn flakeid_upper_bound(
    layout: *const c_char,
    unix_ms: i64,
    id: Option<&mut MaybeUninit<u64>>,
) -> Status {
    guard(|| {
        let id = given(id, "id")?;
        // SAFETY: C promises a string.
        id.write(unsafe { read(layout) }?.upper_bound(unix_ms).to_u64());
        Ok(())
    })
}
