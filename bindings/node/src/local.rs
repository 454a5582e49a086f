use std::cell::RefCell;
use std::sync::Arc;

use flakeid_core::{Error, Generator, Id, LocalGenerator};
use flakeid_lease::{LeasedGenerator, LeasedLocalGenerator};
use napi::{Env, Result};
use napi_derive::napi;

use crate::desk::{Maker, Seat};
use crate::environment::Environment;
use crate::generator::Owned;
use crate::handle::{Fixed, Handle, Leased};

/// A share of a generator for the thread of one environment, which it stays in.
struct Local {
    share: RefCell<Share>,
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

/// A new local handle's seat.
#[napi(catch_unwind)]
pub(crate) fn seat_of_local(env: Env, owned: &Owned) -> Result<Seat> {
    #[expect(clippy::arc_with_non_send_sync, reason = "all kinds are seated alike")]
    let local = Arc::new(Local { share: RefCell::new(Share::of(owned)) });
    Ok(Environment::of(&env)?.desk.seat(local))
}
