use std::sync::Arc;

use flakeid_core::Error;
use flakeid_lease::{LeaseBuilder, LeasedGenerator};

use crate::event::Listener;

/// A leased generator, and who is told what happens to it.
pub(crate) struct Leased {
    generator: Arc<LeasedGenerator>,
    listener: Option<Arc<Listener>>,
}

impl Leased {
    pub(crate) fn open(
        mut builder: LeaseBuilder,
        listener: Option<Listener>,
    ) -> Result<Self, Error> {
        let listener = listener.map(Arc::new);
        if let Some(listener) = &listener {
            let listener = Arc::clone(listener);
            builder = builder.observer(move |event| listener.tell(event));
        }
        match builder.open() {
            Ok(generator) => Ok(Self { generator: Arc::new(generator), listener }),
            Err(error) => {
                silence(listener.as_deref());
                Err(error)
            }
        }
    }

    #[inline]
    pub(crate) fn generator(&self) -> &Arc<LeasedGenerator> {
        &self.generator
    }
}

impl Drop for Leased {
    fn drop(&mut self) {
        // Local handles and rings may have it for longer.
        self.generator.close();
        silence(self.listener.as_deref());
    }
}

fn silence(listener: Option<&Listener>) {
    if let Some(listener) = listener {
        listener.silence();
    }
}
