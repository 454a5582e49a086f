//! Lists of options that are set by name.

use std::ffi::c_char;
use std::mem::MaybeUninit;

#[cfg(not(target_family = "wasm"))]
use flakeid::{LeaseBuilder, NamespaceBuilder};
use flakeid_core::{Error, GeneratorBuilder, Layout, RingOptions, SetByName, without_url};

use crate::border::{self, given};
use crate::fault::Fault;
use crate::guard::{free, guard, write_result};
use crate::status::Status;

/// A list of options that are set by name. Each option consists of two strings: a name and a value.
/// The list is for programs that read options from a file, and for bindings to other languages. The
/// field `options` of flakeid_config, flakeid_lease_config, flakeid_ring_config and
/// flakeid_namespace_config points to a list of this type.
pub struct OptionsHandle {
    pairs: Vec<(String, String)>,
}

/// The options that form the layout. Builders do not accept these options by name, because a
/// builder's constructor takes the complete layout.
const OF_LAYOUTS: [&str; 2] = ["layout", "epoch"];

impl OptionsHandle {
    /// Returns the value of the option with the given name, if the list contains the option.
    pub(crate) fn get(&self, name: &str) -> Option<&str> {
        self.pairs.iter().find(|(known, _)| known == name).map(|(_, text)| text.as_str())
    }

    /// Returns the options except "layout" and "epoch".
    #[cfg(target_family = "wasm")]
    pub(crate) fn others(&self) -> impl Iterator<Item = &(String, String)> {
        self.pairs.iter().filter(|(name, _)| !OF_LAYOUTS.contains(&name.as_str()))
    }

    /// Sets the options of a builder, except "layout" and "epoch".
    fn apply<B: SetByName>(&self, builder: &mut B) -> Result<(), Error> {
        self.pairs
            .iter()
            .filter(|(name, _)| !OF_LAYOUTS.contains(&name.as_str()))
            .try_for_each(|(name, text)| builder.set_text(name, text))
    }
}

/// Returns the layout that the options "layout" and "epoch" describe. For an option that is not
/// set, the argument of the same name is used.
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

/// Sets the options of a builder from a list, if there is a list.
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
        || has::<RingOptions>(name)
        || is_of_leases(name)
}

#[cfg(not(target_family = "wasm"))]
fn is_of_leases(name: &str) -> bool {
    LeaseBuilder::OPTIONS.iter().any(|option| option.name == name)
        || NamespaceBuilder::OPTIONS.iter().any(|option| option.name == name)
}

/// Accepts every name, because the lease checks its options when it is opened.
#[cfg(target_family = "wasm")]
const fn is_of_leases(_name: &str) -> bool {
    true
}

/// Creates an empty list of options that are set by name. The caller owns the list and must free it
/// with flakeid_options_free().
///
/// Errors: FLAKEID_NULL_ARGUMENT.
#[unsafe(no_mangle)]
pub extern "C" fn flakeid_options_new(
    options: Option<&mut MaybeUninit<Box<OptionsHandle>>>,
) -> Status {
    write_result(options, "options", || Ok(Box::new(OptionsHandle { pairs: Vec::new() })))
}

/// Sets the option `name` to the value `text`. The names are "layout", "epoch", and those of the
/// core, such as "node", "max_wait_ms", "overflow" and "nodes". Numbers and times in milliseconds
/// are written as decimal digits, and several numbers are separated by commas. Flags are "true" or
/// "false". Both strings are copied.
///
/// Setting an option again replaces its value. The function that receives the list checks the
/// values, and returns the same errors as for the fields of a struct. Only one thread at a time may
/// use the list.
///
/// Errors: FLAKEID_INVALID_OPTION (no option has this name), FLAKEID_NULL_ARGUMENT.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn flakeid_options_set(
    options: Option<&mut OptionsHandle>,
    name: *const c_char,
    text: *const c_char,
) -> Status {
    guard(|| {
        let options = given(options, "options")?;
        // SAFETY: the C caller guarantees that strings are NULL or NUL-terminated.
        let (name, text) = unsafe { (border::text(name), border::text(text)) };
        let name = name.ok_or(Fault::Null { argument: "name" })?;
        let text = text.ok_or(Fault::Null { argument: "text" })?;
        if !is_known(&name) {
            let reason = format!("{:?} is not the name of an option", without_url(&name));
            return Err(Error::invalid_option("options", &reason).into());
        }
        options.pairs.retain(|(known, _)| *known != name);
        options.pairs.push((name, text));
        Ok(())
    })
}

/// Frees a list of options that are set by name; NULL is allowed. Generators and rings that were
/// created with the list no longer need the list.
#[unsafe(no_mangle)]
pub extern "C" fn flakeid_options_free(options: Option<Box<OptionsHandle>>) {
    free(options);
}
