//! A future that is polled only after it has been woken. A connection waits for its end throughout its life, and polls
//! all of its futures for each request. Without an alarm, each request would poll the timers of the connection.

use std::future::Future;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, Wake, Waker};

/// A future that costs almost nothing to poll until it has been woken.
pub(crate) struct Alarm<T> {
    future: Pin<Box<dyn Future<Output = T> + Send>>,
    bell: Arc<Bell>,
    waker: Waker,
}

/// The waker of the future. It wakes the task that waits for the alarm.
struct Bell {
    has_rung: AtomicBool,
    task: Mutex<Waker>,
}

impl<T> Alarm<T> {
    pub(crate) fn new(future: impl Future<Output = T> + Send + 'static) -> Self {
        let (has_rung, task) = (AtomicBool::new(true), Mutex::new(Waker::noop().clone()));
        let bell = Arc::new(Bell { has_rung, task });
        Self { future: Box::pin(future), waker: Arc::clone(&bell).into(), bell }
    }
}

impl<T> Future for Alarm<T> {
    type Output = T;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<T> {
        let this = &mut *self;
        this.bell.task.lock().unwrap_or_else(PoisonError::into_inner).clone_from(context.waker());
        // The task is stored before the bell is checked, so that a bell that rings in between wakes the new task.
        if !this.bell.has_rung.swap(false, Ordering::AcqRel) {
            return Poll::Pending;
        }
        this.future.as_mut().poll(&mut Context::from_waker(&this.waker))
    }
}

impl Wake for Bell {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.has_rung.store(true, Ordering::Release);
        self.task.lock().unwrap_or_else(PoisonError::into_inner).wake_by_ref();
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use std::sync::atomic::AtomicUsize;
    use std::time::Duration;

    use super::*;

    #[test]
    fn alarm_polls_its_future_only_after_a_wake() {
        let polls = Arc::new(AtomicUsize::new(0));
        let counted = Arc::clone(&polls);
        let inner = Arc::new(Mutex::new(None::<Waker>));
        let stored = Arc::clone(&inner);
        let mut alarm = Alarm::new(std::future::poll_fn(move |context| {
            *stored.lock().unwrap() = Some(context.waker().clone());
            if counted.fetch_add(1, Ordering::Relaxed) == 2 {
                Poll::Ready(7)
            } else {
                Poll::Pending
            }
        }));
        let mut poll = || Pin::new(&mut alarm).poll(&mut Context::from_waker(Waker::noop()));
        for _ in 0..3 {
            assert_eq!(poll(), Poll::Pending);
        }
        assert_eq!(polls.load(Ordering::Relaxed), 1);
        inner.lock().unwrap().as_ref().unwrap().wake_by_ref();
        assert_eq!((poll(), poll()), (Poll::Pending, Poll::Pending));
        assert_eq!(polls.load(Ordering::Relaxed), 2);
        inner.lock().unwrap().as_ref().unwrap().wake_by_ref();
        assert_eq!(poll(), Poll::Ready(7));
    }

    #[tokio::test]
    async fn alarm_wakes_its_task_when_a_timer_expires() {
        let mut alarm = Alarm::new(tokio::time::sleep(Duration::from_millis(20)));
        let joined = tokio::spawn(async move {
            std::future::poll_fn(|context| Pin::new(&mut alarm).poll(context)).await;
        });
        tokio::time::timeout(Duration::from_secs(10), joined).await.unwrap().unwrap();
    }
}
