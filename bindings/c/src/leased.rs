use std::sync::Arc;

use flakeid_core::Error;
use flakeid_lease::{LeaseBuilder, LeasedGenerator};

use crate::event::Listener;

/// A leased generator, and who is told what happens to it. Fields are dropped in this order.
pub(crate) struct Leased {
    generator: LeasedGenerator,
    _silence: Option<Silence>,
}

/// From its end on the listener is told nothing.
struct Silence(Arc<Listener>);

impl Drop for Silence {
    fn drop(&mut self) {
        self.0.silence();
    }
}

impl Leased {
    pub(crate) fn open(
        mut builder: LeaseBuilder,
        listener: Option<Listener>,
    ) -> Result<Self, Error> {
        let silence = listener.map(|listener| Silence(Arc::new(listener)));
        if let Some(Silence(listener)) = &silence {
            let listener = Arc::clone(listener);
            builder = builder.observer(move |event| listener.tell(event));
        }
        // If it fails, `silence` is dropped after what it has started.
        Ok(Self { generator: builder.open()?, _silence: silence })
    }

    #[inline]
    pub(crate) fn generator(&self) -> &LeasedGenerator {
        &self.generator
    }
}
