//! Work for the threads of the pool.

use std::panic::{AssertUnwindSafe, catch_unwind};

use napi::{Error, Result, Status};

use crate::function::DEFECT;

/// What a task works with in a thread of the pool, and uses up there.
pub(crate) struct TaskInput<T>(Option<T>);

impl<T> TaskInput<T> {
    pub(crate) fn new(value: T) -> Self {
        Self(Some(value))
    }

    /// Does the work. A panic that got out of the task would end the process.
    pub(crate) fn caught<R>(&mut self, work: impl FnOnce(T) -> R) -> Result<R> {
        let defect = || Error::new(Status::GenericFailure, DEFECT);
        let value = self.0.take().ok_or_else(defect)?;
        catch_unwind(AssertUnwindSafe(|| work(value))).map_err(|_| defect())
    }
}
