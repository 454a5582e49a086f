//! The least that a Python extension in Rust can do: what flakeid is measured against.

use pyo3::prelude::*;

#[pymodule(gil_used = false)]
mod flakeid_floor {
    use std::hint::black_box;
    use std::sync::atomic::{AtomicU64, Ordering};

    use pyo3::buffer::PyUntypedBuffer;
    use pyo3::prelude::*;
    use pyo3::types::PyList;

    /// Returns integers as large as IDs, and does nothing else.
    #[pyclass(frozen)]
    struct Floor(u64, AtomicU64);

    #[pymethods]
    impl Floor {
        #[new]
        fn new() -> Self {
            Self(1 << 62, AtomicU64::new(1 << 62))
        }

        /// One int above 2^62.
        fn one(&self) -> u64 {
            black_box(self.0)
        }

        /// One int above 2^62 for which the processor's counter was read and a word swapped, as for an ID that is
        /// exact.
        fn counted(&self) -> u64 {
            black_box(counter());
            let mut before = self.1.load(Ordering::Relaxed);
            loop {
                let (after, order) = (before + 1, Ordering::Relaxed);
                match self.1.compare_exchange_weak(before, after, order, order) {
                    Ok(_) => return after,
                    Err(actual) => before = actual,
                }
            }
        }

        /// A list of n such ints.
        fn list<'py>(&self, py: Python<'py>, n: u64) -> PyResult<Bound<'py, PyList>> {
            let base = black_box(self.0);
            let end = base + n;
            PyList::new(py, (base..end).collect::<Vec<_>>())
        }

        /// Writes base + i into a uint64 array, which the caller promises that it is.
        fn fill(&self, array: &Bound<'_, PyAny>) -> PyResult<usize> {
            let buffer = PyUntypedBuffer::get(array)?;
            let base = black_box(self.0);
            let count = buffer.item_count();
            // SAFETY: the one caller, bench.py, passes a contiguous numpy array of uint64.
            let numbers =
                unsafe { std::slice::from_raw_parts_mut(buffer.buf_ptr().cast::<u64>(), count) };
            for (number, i) in numbers.iter_mut().zip(0u64..) {
                *number = base + i;
            }
            Ok(count)
        }
    }

    #[cfg(target_arch = "x86_64")]
    fn counter() -> u64 {
        // SAFETY: every processor of this architecture has it.
        unsafe { std::arch::x86_64::_rdtsc() }
    }

    /// Where flakeid reads no counter: its default is the system's clock there.
    #[cfg(not(target_arch = "x86_64"))]
    fn counter() -> u64 {
        let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
        now.map_or(0, |now| now.as_millis() as u64)
    }
}
