use std::cell::RefCell;
use std::sync::Arc;

use flakeid_core::{Error, Generator, Id, LocalGenerator};
use flakeid_lease::{LeasedGenerator, LeasedLocalGenerator};
use napi::bindgen_prelude::Function;
use napi::{Env, Result};
use napi_derive::napi;

use crate::environment::Environment;
use crate::function::{self, Maker, Place};
use crate::generator::Owned;
use crate::handle::{Fixed, Handle, Leased};

/// A share of a generator for the thread of one environment, which it stays in.
struct Local {
    share: RefCell<Share>,
    /// Where `nextId` and `tryNextId` put their IDs.
    place: Place,
}

enum Share {
    Fixed(Arc<Fixed>, LocalGenerator<Arc<Generator>>),
    Leased(Arc<Leased>, LeasedLocalGenerator<Arc<LeasedGenerator>>),
}

impl Share {
    fn of(handle: &Handle) -> Self {
        match handle {
            Handle::Fixed(fixed) => {
                let local = LocalGenerator::new(Arc::clone(&fixed.generator));
                Self::Fixed(Arc::clone(fixed), local)
            }
            Handle::Leased(leased) => {
                let local = LeasedLocalGenerator::new(Arc::clone(leased.lease.generator()));
                Self::Leased(Arc::clone(leased), local)
            }
        }
    }
}

impl Maker for Local {
    fn place(&self) -> Place {
        self.place
    }

    #[inline]
    fn next_id(&self) -> std::result::Result<Id, Error> {
        match &mut *self.share.borrow_mut() {
            Share::Fixed(fixed, local) => match fixed.on_loop {
                Some(longest) => local.next_id_within(longest),
                None => local.next_id(),
            },
            Share::Leased(leased, local) => {
                leased.lease.ask(|_| local.next_id_within(leased.on_loop))
            }
        }
    }

    #[inline]
    fn try_next_id(&self) -> std::result::Result<Id, Error> {
        match &mut *self.share.borrow_mut() {
            Share::Fixed(_, local) => local.try_next_id(),
            Share::Leased(leased, local) => leased.lease.ask(|_| local.try_next_id()),
        }
    }
}

/// Two functions of a new local handle, which write the next ID into the array given to `setup`: one
/// waits, the other does not.
#[napi(catch_unwind, ts_return_type = "[nextId: () => void, tryNextId: () => void]")]
pub(crate) fn bind_local<'env>(
    env: &'env Env,
    owned: &Owned,
) -> Result<Vec<Function<'env, (), ()>>> {
    let place = Environment::of(env)?.register.place();
    #[expect(clippy::arc_with_non_send_sync, reason = "functions are bound to all kinds alike")]
    let local = Arc::new(Local { share: RefCell::new(Share::of(owned)), place });
    Ok(vec![
        function::bind(env, c"nextId", function::next_id::<Local>, &local)?,
        function::bind(env, c"tryNextId", function::try_next_id::<Local>, &local)?,
    ])
}
