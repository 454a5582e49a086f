//! A future that is polled only after it has been woken. The task of a connection runs for each request. Without this
//! future, each run would also poll the timers that end the connection.

use std::future::Future;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, Wake, Waker};

/// A future that costs almost nothing to poll before it has been woken.
pub(crate) struct PollOnWake<T> {
    future: Pin<Box<dyn Future<Output = T> + Send>>,
    flag: Arc<Flag>,
    waker: Waker,
}

/// The waker of the future. It records the wake, and wakes the task that waits for the future.
struct Flag {
    is_woken: AtomicBool,
    task: Mutex<Waker>,
}

impl<T> PollOnWake<T> {
    pub(crate) fn new(future: impl Future<Output = T> + Send + 'static) -> Self {
        let (is_woken, task) = (AtomicBool::new(true), Mutex::new(Waker::noop().clone()));
        let flag = Arc::new(Flag { is_woken, task });
        Self { future: Box::pin(future), waker: Arc::clone(&flag).into(), flag }
    }
}

impl<T> Future for PollOnWake<T> {
    type Output = T;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<T> {
        let this = &mut *self;
        this.flag.task.lock().unwrap_or_else(PoisonError::into_inner).clone_from(context.waker());
        // The task is stored before the flag is checked, so that a wake in between reaches the new task.
        if !this.flag.is_woken.swap(false, Ordering::AcqRel) {
            return Poll::Pending;
        }
        this.future.as_mut().poll(&mut Context::from_waker(&this.waker))
    }
}

impl Wake for Flag {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.is_woken.store(true, Ordering::Release);
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
    fn inner_future_is_polled_only_after_a_wake() {
        let polls = Arc::new(AtomicUsize::new(0));
        let counted = Arc::clone(&polls);
        let inner = Arc::new(Mutex::new(None::<Waker>));
        let stored = Arc::clone(&inner);
        let mut woken = PollOnWake::new(std::future::poll_fn(move |context| {
            *stored.lock().unwrap() = Some(context.waker().clone());
            if counted.fetch_add(1, Ordering::Relaxed) == 2 {
                Poll::Ready(7)
            } else {
                Poll::Pending
            }
        }));
        let mut poll = || Pin::new(&mut woken).poll(&mut Context::from_waker(Waker::noop()));
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
    async fn task_is_woken_when_a_timer_expires() {
        let mut future = PollOnWake::new(tokio::time::sleep(Duration::from_millis(20)));
        let joined = tokio::spawn(async move {
            std::future::poll_fn(|context| Pin::new(&mut future).poll(context)).await;
        });
        tokio::time::timeout(Duration::from_secs(10), joined).await.unwrap().unwrap();
    }
}
