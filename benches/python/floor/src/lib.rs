//! The floor of a Python extension in Rust: calls that do the minimum.

use pyo3::prelude::*;

#[pymodule(gil_used = false)]
mod flakeid_floor {
    use std::hint::black_box;
    use std::sync::atomic::{AtomicU64, Ordering};

    use pyo3::buffer::PyUntypedBuffer;
    use pyo3::prelude::*;
    use pyo3::types::PyList;

    /// Returns integers as large as IDs.
    #[pyclass(frozen)]
    struct Floor(u64, AtomicU64);

    #[pymethods]
    impl Floor {
        #[new]
        fn new() -> Self {
            Self(1 << 62, AtomicU64::new(1 << 62))
        }

        /// Returns one int above 2^62.
        fn one(&self) -> u64 {
            black_box(self.0)
        }

        /// Reads the processor's counter and swaps a word, as for an exact ID, and returns one int above 2^62.
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

        /// Returns a list of n such ints.
        fn list<'py>(&self, py: Python<'py>, n: u64) -> PyResult<Bound<'py, PyList>> {
            let base = black_box(self.0);
            let end = base + n;
            PyList::new(py, (base..end).collect::<Vec<_>>())
        }

        /// Writes base + i into an array of uint64 that the caller guarantees.
        fn fill(&self, array: &Bound<'_, PyAny>) -> PyResult<usize> {
            let buffer = PyUntypedBuffer::get(array)?;
            let base = black_box(self.0);
            let count = buffer.item_count();
            // SAFETY: the only caller, bench.py, passes a contiguous numpy array of uint64.
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
        // SAFETY: every processor of this architecture has the instruction.
        unsafe { std::arch::x86_64::_rdtsc() }
    }

    /// Reads the system's clock on processors whose counter flakeid does not read, because it is the default there.
    #[cfg(not(target_arch = "x86_64"))]
    fn counter() -> u64 {
        let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
        now.map_or(0, |now| now.as_millis() as u64)
    }
}
