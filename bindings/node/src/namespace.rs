//! The creation of namespaces.

use flakeid::NamespaceBuilder;
use flakeid_core::whole_ms;
use napi::bindgen_prelude::Object;
use napi::{Env, Result};
use napi_derive::napi;

use crate::environment::thrown;
use crate::off_loop;
use crate::options::OptionTexts;

/// Creates a namespace in the store at the given URL, off the event loop, unless the namespace
/// exists. Returns the time until the store can grant nodes, in milliseconds.
#[napi(catch_unwind, ts_return_type = "Promise<number>")]
pub(crate) fn create_namespace(
    env: &Env,
    url: String,
    name: String,
    options: OptionTexts,
) -> Result<Object<'_>> {
    let builder = options
        .layout()
        .and_then(|layout| NamespaceBuilder::new(&url, &name, layout))
        .and_then(|builder| options.apply(builder))
        .map_err(|error| thrown(env, &error))?;
    off_loop::promise(env, move || builder.create(), |_, created| Ok(whole_ms(created.wait) as f64))
}
