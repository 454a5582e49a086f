//! Conversion of Python keyword arguments to core options.

use flakeid_core::{Error, NamedOption, OptionKind, SetByName};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PySequence};

use crate::argument::{number, string, wrong_type};
use crate::error::{SPELLING, raise};
use crate::time::duration;

/// Applies the keyword arguments of a call to `function` to the builder, and returns the builder.
pub(crate) fn apply<B: SetByName>(
    mut builder: B,
    function: &str,
    options: Option<&Bound<'_, PyDict>>,
) -> PyResult<B> {
    for (name, value) in options.into_iter().flatten() {
        let name = string("the name of an option", &name)?;
        let Some(option) = B::OPTIONS.iter().find(|option| argument(option) == name) else {
            return Err(PyTypeError::new_err(format!(
                "{function}() got an unexpected keyword argument '{name}'"
            )));
        };
        if !value.is_none() {
            set(option, &mut builder, &value)?;
        }
    }
    Ok(builder)
}

/// Returns the Python name of an option.
fn argument<B>(option: &NamedOption<B>) -> &'static str {
    SPELLING.option(option.name)
}

fn set<B>(option: &NamedOption<B>, builder: &mut B, value: &Bound<'_, PyAny>) -> PyResult<()> {
    let name = argument(option);
    match option.kind {
        OptionKind::Number { min, max, set } => {
            set(builder, number(option.name, value, min, max(builder))?);
        }
        OptionKind::Numbers { max, set } => set(builder, numbers(name, value, max(builder))?),
        OptionKind::Duration(set) => set(builder, duration(name, value)?),
        OptionKind::Flag(set) => {
            let flag = value.cast::<PyBool>().map_err(|_| wrong_type(name, "a bool", value))?;
            set(builder, flag.is_true());
        }
        // Options of all other kinds, including kinds that are added later, accept strings.
        _ => option.set_text(builder, &string(name, value)?).map_err(raise)?,
    }
    Ok(())
}

fn numbers(name: &'static str, value: &Bound<'_, PyAny>, max: u64) -> PyResult<Vec<u64>> {
    let list = value.cast::<PySequence>().map_err(|_| wrong_type(name, "a list of ints", value))?;
    let most = max.saturating_add(1);
    // The length is checked before the elements are read, because a `range` may have billions of
    // elements.
    if list.len()? as u64 > most {
        let reason = format!("{} are more than the layout has: {most}", list.len()?);
        return Err(raise(Error::invalid_option(name, &reason)));
    }
    list.try_iter()?.map(|item| number(name, &item?, 0, max)).collect()
}
