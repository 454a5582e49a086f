//! The task that creates a namespace.

use flakeid::{CreatedNamespace, NamespaceBuilder};
use flakeid_core::{Error, whole_ms};
use napi::bindgen_prelude::AsyncTask;
use napi::{Env, Result, Task};
use napi_derive::napi;

use crate::environment::thrown;
use crate::function::TaskInput;
use crate::options::OptionTexts;

/// The task that creates a namespace in a pool thread.
pub(crate) struct Creating(TaskInput<NamespaceBuilder>);

impl Task for Creating {
    type Output = std::result::Result<CreatedNamespace, Error>;
    type JsValue = f64;

    fn compute(&mut self) -> Result<Self::Output> {
        self.0.caught(|builder| builder.create())
    }

    fn resolve(&mut self, env: Env, created: Self::Output) -> Result<f64> {
        let created = created.map_err(|error| thrown(&env, &error))?;
        Ok(whole_ms(created.wait) as f64)
    }
}

/// Creates a namespace in the store at the given URL, off the event loop, unless the namespace
/// exists. Returns the time until the store can grant nodes, in milliseconds.
#[napi(catch_unwind, ts_return_type = "Promise<number>")]
pub(crate) fn create_namespace(
    env: Env,
    url: String,
    name: String,
    options: OptionTexts,
) -> Result<AsyncTask<Creating>> {
    let builder = options
        .layout()
        .and_then(|layout| NamespaceBuilder::new(&url, &name, layout))
        .and_then(|builder| options.apply(builder))
        .map_err(|error| thrown(&env, &error))?;
    Ok(AsyncTask::new(Creating(TaskInput::new(builder))))
}
