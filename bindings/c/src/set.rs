//! Functions that read the fields of C structs and set the options of builders by name.

use std::ffi::c_char;

use flakeid_core::{Error, SetByName};

use crate::border;
use crate::fault::Fault;

/// Sets a numeric option from a field that has a flag, if the flag is set.
pub(crate) fn flagged<B: SetByName>(
    builder: &mut B,
    has: u32,
    flag: u32,
    name: &'static str,
    value: impl Into<u64>,
) -> Result<(), Fault> {
    match given(has, flag, name, value.into())? {
        Some(value) => by_name(builder, name, &value.to_string()),
        None => Ok(()),
    }
}

/// Returns the value of a field that has a flag, or `None` if the flag is not set. A value other
/// than the default requires the flag.
pub(crate) fn given<T: Default + PartialEq>(
    has: u32,
    flag: u32,
    name: &'static str,
    value: T,
) -> Result<Option<T>, Fault> {
    if has & flag != 0 {
        return Ok(Some(value));
    }
    if value == T::default() {
        return Ok(None);
    }
    Err(Error::invalid_option(name, "set, but `has` lacks its FLAKEID_HAS_ flag").into())
}

/// Sets a numeric option from a field in which 0 means the default.
pub(crate) fn unless_zero<B: SetByName>(
    builder: &mut B,
    name: &str,
    value: impl Into<u64>,
) -> Result<(), Fault> {
    match value.into() {
        0 => Ok(()),
        value => by_name(builder, name, &value.to_string()),
    }
}

/// Sets an option to the string at index `number` of `values`. If `values` has no such index, the
/// core returns an error.
pub(crate) fn choice<B: SetByName>(
    builder: &mut B,
    name: &str,
    values: &[&str],
    number: i32,
) -> Result<(), Fault> {
    match usize::try_from(number).ok().and_then(|index| values.get(index)) {
        Some(value) => by_name(builder, name, value),
        None => by_name(builder, name, &number.to_string()),
    }
}

/// Sets a Boolean option from a C field, in which 0 means `default` and 1 means the opposite.
#[cfg(not(target_family = "wasm"))]
pub(crate) fn flag<B: SetByName>(
    builder: &mut B,
    name: &str,
    default: bool,
    field: &'static str,
    value: i32,
) -> Result<(), Fault> {
    match value {
        0 => Ok(()),
        1 => by_name(builder, name, if default { "false" } else { "true" }),
        other => {
            let reason = format!("must be 0 or 1, not {other}");
            Err(Error::invalid_option(field, &reason).into())
        }
    }
}

/// Sets a string option, if the string is not NULL.
///
/// # Safety
/// `value` must be NULL or point to a NUL-terminated string.
pub(crate) unsafe fn text<B: SetByName>(
    builder: &mut B,
    name: &str,
    value: *const c_char,
) -> Result<(), Fault> {
    // SAFETY: the caller guarantees that `value` is NULL or NUL-terminated.
    match unsafe { border::text(value) } {
        Some(text) => by_name(builder, name, &text),
        None => Ok(()),
    }
}

/// Sets an option that consists of several numbers, if the array is not NULL.
///
/// # Safety
/// `values` must be NULL or point to `count` readable, aligned integers.
pub(crate) unsafe fn numbers<B: SetByName>(
    builder: &mut B,
    name: &str,
    values: *const u64,
    count: usize,
) -> Result<(), Fault> {
    // SAFETY: the caller guarantees that `values` is NULL or points to `count` readable, aligned
    // integers.
    let Some(values) = (unsafe { border::nodes(values, count)? }) else { return Ok(()) };
    let values: Vec<String> = values.iter().map(ToString::to_string).collect();
    by_name(builder, name, &values.join(","))
}

fn by_name<B: SetByName>(builder: &mut B, name: &str, text: &str) -> Result<(), Fault> {
    Ok(builder.set_text(name, text)?)
}

/// Checks that `has` contains only known flags.
pub(crate) fn check_flags(has: u32, known: u32) -> Result<(), Fault> {
    if has & !known == 0 {
        return Ok(());
    }
    let reason = format!("{has:#x} contains flags that this struct does not have");
    Err(Error::invalid_option("has", &reason).into())
}

/// Checks that a reserved field is 0.
pub(crate) fn check_reserved(value: u32) -> Result<(), Fault> {
    match value {
        0 => Ok(()),
        _ => Err(Error::invalid_option("reserved", "must be 0").into()),
    }
}
