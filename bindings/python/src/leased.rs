use std::ops::Deref;
use std::sync::Arc;

use flakeid_lease::LeasedGenerator;
use pyo3::prelude::*;

/// The leased kind of generator. Giving the node back takes up to a second and may call Python, so
/// it is done without the GIL.
pub(crate) struct Leased(Arc<LeasedGenerator>);

impl Leased {
    pub(crate) fn new(generator: LeasedGenerator) -> Self {
        Self(Arc::new(generator))
    }

    pub(crate) fn close(&self, py: Python<'_>) {
        py.detach(|| self.0.close());
    }

    pub(crate) const fn shared(&self) -> &Arc<LeasedGenerator> {
        &self.0
    }
}

impl Deref for Leased {
    type Target = LeasedGenerator;

    #[inline]
    fn deref(&self) -> &LeasedGenerator {
        &self.0
    }
}

impl Drop for Leased {
    fn drop(&mut self) {
        // An interpreter that is gone has no observers that could wait for the GIL.
        let _ = Python::try_attach(|py| self.close(py));
    }
}
