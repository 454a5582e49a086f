//! Tests that a forked child never uses its parent's broker (I15).

#![cfg_attr(unix, allow(unsafe_code))]
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests only")]

/// Runs no test, because other systems do not support fork.
#[cfg(not(unix))]
fn main() {}

#[cfg(unix)]
fn main() -> std::process::ExitCode {
    unix::run()
}

#[cfg(unix)]
mod forked;
#[cfg(unix)]
#[path = "../../flakeid-stores/tests/retrying/mod.rs"]
mod retrying;

#[cfg(unix)]
mod unix {
    use std::future::Future;
    use std::process::ExitCode;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
    use std::task::{Context, Poll, Waker};
    use std::time::{Duration, Instant};

    use flakeid::LeaseBuilder;
    use flakeid::broker::{Broker, BrokerOptions};
    use flakeid_core::{Clock, ErrorKind, Layout, SystemClock};
    use flakeid_protocol::store::Fault;
    use flakeid_protocol::{
        Acquire, Bounds, Grant, Lessor, MemoryStore, Namespace, Release, Renew, State, Token,
        operations,
    };
    use flakeid_stores::Location;

    use crate::forked::in_child;
    use crate::retrying::connect;

    const LAYOUT: Layout = Layout::TWITTER;
    const SPACE: &str = "orders";
    const WINDOW_MS: u64 = 200;
    const TTL_MS: u64 = 4_000;
    /// The number of times that a test forks the process while other threads use the broker.
    const FORKS: usize = 100;

    pub(super) fn run() -> ExitCode {
        flakeid_test_runner::run(flakeid_test_runner::tests![
            forked_child_is_refused_all_requests_to_the_broker,
            forked_child_does_not_hang_when_another_thread_holds_the_lock,
            forked_child_of_a_busy_process_does_not_hang,
            generator_of_a_forked_broker_reports_the_remedy,
        ])
    }

    fn memory_broker(clock: Arc<dyn Clock>) -> Broker {
        let mut store = MemoryStore::new();
        // The permitted clock skew is large, because one test stops a thread after the thread has read the clock for
        // its request.
        let bounds = Bounds {
            max_window_ms: 5_000,
            max_ahead_ms: 10_000,
            max_skew_ms: 2_000,
            quiet_ms: 9_100,
        };
        let wanted = Namespace { block_bits: 4, bounds, ..Namespace::new(SPACE, LAYOUT) };
        operations::init(&mut store, &wanted).unwrap();
        let mut options = BrokerOptions::new(SPACE, LAYOUT, "http://a");
        options.window_ms = WINDOW_MS;
        options.ttl_ms = TTL_MS;
        let open = move || Ok(Box::new(store.clone()) as _);
        Broker::start_on("memory", open, options, clock).unwrap()
    }

    fn token(number: u64) -> Token {
        Token::from_bits(u128::from(number) << 64 | u128::from(number))
    }

    fn request(number: u64) -> Acquire {
        Acquire {
            window_ms: WINDOW_MS,
            ttl_ms: TTL_MS,
            ..Acquire::any_node(LAYOUT, token(number), SystemClock.unix_ms())
        }
    }

    fn renewal(grant: &Grant, number: u64) -> Renew {
        Renew {
            node: grant.node,
            start: grant.start,
            token: grant.token,
            next: token(number).of_grant(grant.token),
            confirmed: grant.fence,
            wanted: grant.fence + 1,
            ttl_ms: TTL_MS,
            now: SystemClock.unix_ms(),
            waited_ms: 0,
        }
    }

    fn release(grant: &Grant) -> Release {
        Release { node: grant.node, token: grant.token, used_until: grant.start }
    }

    fn assert_forked<T>(answer: Result<T, Fault>) {
        match answer {
            Err(Fault::Rejected(text)) => assert!(text.contains("forked"), "{text}"),
            Err(fault) => panic!("unexpected fault: {fault}"),
            Ok(_) => panic!("the child's request was not refused"),
        }
    }

    /// Checks that a broker refuses all requests in a forked child.
    fn check_all_requests_are_refused(broker: &Broker, grant: &Grant) {
        let read = Instant::now();
        assert_forked(broker.acquire(&request(u64::MAX), read));
        assert_forked(broker.renew_here(&renewal(grant, u64::MAX), read));
        assert_forked(broker.take_back(&release(grant)));
        assert_forked(broker.status());
        assert_forked(broker.rows(0, usize::MAX));
        assert_forked::<()>(Err(broker.waiting_fault()));
        let mut lessor = broker.clone();
        assert_forked(Lessor::acquire(&mut lessor, SPACE, &request(u64::MAX), read));
        assert_forked(Lessor::renew(&mut lessor, SPACE, &renewal(grant, u64::MAX), read));
        assert_forked(Lessor::release(&mut lessor, SPACE, &release(grant)));
        let mut asynchronous = Box::pin(broker.acquiring(request(u64::MAX), read));
        let mut context = Context::from_waker(Waker::noop());
        match asynchronous.as_mut().poll(&mut context) {
            Poll::Ready(answer) => assert_forked(answer),
            Poll::Pending => panic!("the child waits for a node"),
        }
        broker.close(Duration::from_secs(30));
        assert!(read.elapsed() < Duration::from_secs(10), "the child waits");
    }

    fn forked_child_is_refused_all_requests_to_the_broker() {
        let directory = tempfile::tempdir().unwrap();
        let url = format!("sqlite://{}/flakeid.db", directory.path().display());
        let location = Location::parse(&url).unwrap();
        let mut store = connect(&url).unwrap();
        let options = BrokerOptions::new(SPACE, LAYOUT, "http://a");
        let broker = Broker::start(&location, options).unwrap();
        let grant = broker.acquire(&request(1), Instant::now()).unwrap();
        in_child(5, || {
            check_all_requests_are_refused(&broker, &grant);
            // SAFETY: this value is a copy of the broker's handle, and the child exits without dropping the original.
            let last = unsafe { std::ptr::read(&raw const broker) };
            drop(last);
        });
        let rows = operations::list(&mut *store, SPACE).unwrap().rows;
        assert_eq!(rows.len(), 1, "the child must not lease a block");
        assert_eq!(rows[0].state, State::Held, "the child must not release the block");
        assert_eq!(rows[0].grant, 1);

        let renewed = broker.renew_here(&renewal(&grant, 2), Instant::now()).unwrap();
        assert!(renewed.is_some_and(|renewed| renewed.fence > grant.fence));
        assert_ne!(broker.acquire(&request(3), Instant::now()).unwrap().node, grant.node);
        let status = broker.status().unwrap();
        assert_eq!((status.is_open, status.blocks, status.holders), (true, 1, 2));
    }

    /// A clock that blocks the thread named [`STOPPED`] when the thread reads the clock. The broker's lock is held
    /// while the broker reads the clock.
    #[derive(Default)]
    struct Stopping {
        is_inside: AtomicBool,
        may_continue: AtomicBool,
    }

    const STOPPED: &str = "stopped";

    impl Clock for Stopping {
        fn unix_ms(&self) -> i64 {
            while std::thread::current().name() == Some(STOPPED)
                && !self.may_continue.load(Ordering::SeqCst)
            {
                self.is_inside.store(true, Ordering::SeqCst);
                std::thread::sleep(Duration::from_millis(1));
            }
            SystemClock.unix_ms()
        }
    }

    fn forked_child_does_not_hang_when_another_thread_holds_the_lock() {
        let clock = Arc::new(Stopping::default());
        let broker = memory_broker(Arc::clone(&clock) as _);
        let grant = broker.acquire(&request(1), Instant::now()).unwrap();
        std::thread::scope(|scope| {
            let acquire = || broker.acquire(&request(2), Instant::now());
            let stopped = std::thread::Builder::new().name(STOPPED.into());
            let stopped = stopped.spawn_scoped(scope, acquire).unwrap();
            while !clock.is_inside.load(Ordering::SeqCst) {
                std::thread::yield_now();
            }
            in_child(5, || check_all_requests_are_refused(&broker, &grant));
            clock.may_continue.store(true, Ordering::SeqCst);
            assert_ne!(stopped.join().unwrap().unwrap().node, grant.node);
        });
        broker.close(Duration::from_secs(5));
    }

    /// Forks many times while other threads of the parent use the broker.
    fn forked_child_of_a_busy_process_does_not_hang() {
        let broker = memory_broker(Arc::new(SystemClock));
        let grant = broker.acquire(&request(1), Instant::now()).unwrap();
        let (numbers, ends) = (AtomicU64::new(2), AtomicBool::new(false));
        let number = || numbers.fetch_add(1, Ordering::Relaxed);
        let granted: usize = std::thread::scope(|scope| {
            let busy = || {
                let mut granted = 0;
                while !ends.load(Ordering::Relaxed) {
                    if let Ok(grant) = broker.acquire(&request(number()), Instant::now()) {
                        drop(broker.renew_here(&renewal(&grant, number()), Instant::now()));
                        broker.take_back(&release(&grant)).unwrap();
                        granted += 1;
                    }
                    broker.status().unwrap();
                }
                granted
            };
            let threads = [(); 3].map(|()| scope.spawn(busy));
            for _ in 0..FORKS {
                in_child(5, || check_all_requests_are_refused(&broker, &grant));
            }
            ends.store(true, Ordering::Relaxed);
            threads.into_iter().map(|thread| thread.join().unwrap()).sum()
        });
        assert!(granted > FORKS, "the parent was granted {granted} nodes");
        // The first attempts may fail, because the fences of all nodes may be as far ahead of the clock as the bounds
        // allow.
        let deadline = Instant::now() + Duration::from_secs(5);
        while let Err(fault) = broker.acquire(&request(number()), Instant::now()) {
            assert!(Instant::now() < deadline, "{fault}");
            std::thread::sleep(Duration::from_millis(10));
        }
        broker.close(Duration::from_secs(5));
    }

    fn generator_of_a_forked_broker_reports_the_remedy() {
        let broker = memory_broker(Arc::new(SystemClock));
        let generator = LeaseBuilder::from_broker(&broker).open().unwrap();
        let before = generator.next_id().unwrap();
        in_child(5, || {
            for _ in 0..2 {
                let error = generator.next_id().unwrap_err();
                assert_eq!(error.kind(), ErrorKind::StoreRejected, "{error}");
                for part in ["forked", "start another", "the broker's URL"] {
                    assert!(error.to_string().contains(part), "{error}");
                }
            }
            let opened = LeaseBuilder::from_broker(&broker).open().unwrap_err();
            assert!(opened.to_string().contains("start another"), "{opened}");
            generator.close();
        });
        assert!(generator.next_id().unwrap() > before);
    }
}
