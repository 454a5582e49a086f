//! The native side of the JavaScript class `LocalGenerator`.

use std::cell::RefCell;
use std::sync::Arc;

use flakeid::LocalGenerator;
use flakeid_core::{Error, Id};
use napi::{Env, Result};
use napi_derive::napi;

use crate::environment::Environment;
use crate::generator::Owned;
use crate::handle::Handle;
use crate::slots::{NextId, SlotHandle};

/// A local handle for a generator. The local handle cannot leave the thread of its JavaScript
/// environment.
struct Local {
    local: RefCell<LocalGenerator>,
    /// The handle of the generator, which records whether the generator has been closed.
    handle: Arc<Handle>,
}

impl NextId for Local {
    #[inline]
    fn next_id(&self) -> std::result::Result<Id, Error> {
        self.handle.generator()?;
        let mut local = self.local.borrow_mut();
        match self.handle.on_loop() {
            Some(longest) => local.next_id_within(longest),
            None => local.next_id(),
        }
    }

    #[inline]
    fn try_next_id(&self) -> std::result::Result<Id, Error> {
        self.handle.generator()?;
        self.local.borrow_mut().try_next_id()
    }
}

/// Creates a local handle for a generator, and returns the slot of the local handle.
#[napi(catch_unwind)]
pub(crate) fn slot_of_local(env: Env, owned: &Owned) -> Result<SlotHandle> {
    #[expect(
        clippy::arc_with_non_send_sync,
        reason = "handles of all kinds are registered in the same way"
    )]
    let local = Arc::new(Local { local: RefCell::new(owned.local()), handle: Arc::clone(owned) });
    Ok(Environment::from_env(&env)?.dispatcher.register(local))
}
