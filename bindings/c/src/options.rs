//! Options by name.

use std::ffi::c_char;
use std::mem::MaybeUninit;

use flakeid::LeaseBuilder;
use flakeid_core::{Error, GeneratorBuilder, Layout, RingOptions, SetByName};

use crate::border::{self, given};
use crate::fault::Fault;
use crate::guard::guard;
use crate::status::Status;

/// Options by name, as text: for programs that read options from a file, and for other languages.
/// The field `options` of flakeid_config, flakeid_lease_config and flakeid_ring_config refers to
/// them.
pub struct OptionsHandle {
    pairs: Vec<(String, String)>,
}

/// The options that builders do not know, because they begin with the layout.
const OF_LAYOUTS: [&str; 2] = ["layout", "epoch"];

impl OptionsHandle {
    /// Returns the text of an option.
    pub(crate) fn get(&self, name: &str) -> Option<&str> {
        self.pairs.iter().find(|(known, _)| known == name).map(|(_, text)| text.as_str())
    }

    /// Sets the options of a builder.
    fn apply<B: SetByName>(&self, builder: &mut B) -> Result<(), Error> {
        self.pairs
            .iter()
            .filter(|(name, _)| !OF_LAYOUTS.contains(&name.as_str()))
            .try_for_each(|(name, text)| builder.set_text(name, text))
    }
}

/// Returns the layout of a struct, or of the options by name.
pub(crate) fn layout(
    options: Option<&OptionsHandle>,
    layout: Option<String>,
    epoch: Option<i64>,
) -> Result<Layout, Error> {
    let by_name = |name| options.and_then(|options| options.get(name));
    let layout = border::layout(by_name("layout").map(str::to_owned).or(layout))?;
    let epoch = match by_name("epoch") {
        Some(text) => Some(text.parse().map_err(|_| {
            Error::invalid_option("epoch", "must be a whole number of Unix milliseconds")
        })?),
        None => epoch,
    };
    epoch.map_or(Ok(layout), |epoch| layout.with_epoch(epoch))
}

/// Sets the options of a builder by name, if there are any.
pub(crate) fn apply<B: SetByName>(
    options: Option<&OptionsHandle>,
    builder: &mut B,
) -> Result<(), Error> {
    options.map_or(Ok(()), |options| options.apply(builder))
}

fn is_known(name: &str) -> bool {
    fn has<B: SetByName>(name: &str) -> bool {
        B::OPTIONS.iter().any(|option| option.name == name)
    }
    OF_LAYOUTS.contains(&name)
        || has::<GeneratorBuilder>(name)
        || has::<LeaseBuilder>(name)
        || has::<RingOptions>(name)
}

/// Makes an empty list of options by name. The caller owns it, and flakeid_options_free() frees it.
///
/// FLAKEID_NULL_ARGUMENT.
#[unsafe(no_mangle)]
pub extern "C" fn flakeid_options_new(
    options: Option<&mut MaybeUninit<Box<OptionsHandle>>>,
) -> Status {
    guard(|| {
        given(options, "options")?.write(Box::new(OptionsHandle { pairs: Vec::new() }));
        Ok(())
    })
}

/// Sets an option by its name in the core, such as "node", "max_wait_ms", "overflow" or "nodes", or
/// by the names "layout" and "epoch". Numbers and milliseconds are decimal digits,
/// several numbers have commas between them, flags are "true" or "false". Both strings are copied.
///
/// Setting an option again replaces its text. The function that takes the options checks the text;
/// it returns the same errors as for a field. One thread at a time.
///
/// FLAKEID_INVALID_OPTION for a name that is not an option, FLAKEID_NULL_ARGUMENT.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn flakeid_options_set(
    options: Option<&mut OptionsHandle>,
    name: *const c_char,
    text: *const c_char,
) -> Status {
    guard(|| {
        let options = given(options, "options")?;
        // SAFETY: C promises that strings end in NUL.
        let (name, text) = unsafe { (border::text(name), border::text(text)) };
        let name = name.ok_or(Fault::Null { argument: "name" })?;
        let text = text.ok_or(Fault::Null { argument: "text" })?;
        if !is_known(&name) {
            let reason = format!("there is no option {name:?}");
            return Err(Error::invalid_option("options", &reason).into());
        }
        options.pairs.retain(|(known, _)| *known != name);
        options.pairs.push((name, text));
        Ok(())
    })
}

/// Frees options by name; NULL is allowed. Generators and rings do not need the options any more.
#[unsafe(no_mangle)]
pub extern "C" fn flakeid_options_free(options: Option<Box<OptionsHandle>>) {
    let _ = guard(|| {
        drop(options);
        Ok(())
    });
}
