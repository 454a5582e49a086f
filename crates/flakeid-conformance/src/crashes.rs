//! Tests of a store that is killed in the middle of transactions.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use super::StoreUnderTest;
use super::fixture::{Client, Fixture, eventually, fresh_token, now, renewal};
use flakeid_protocol::store::Fault;
use flakeid_protocol::{Acquire, Refusal};

/// Kills the store while eight clients acquire nodes and renew their leases. Checks that the store keeps every
/// confirmed grant and grants no tick twice.
pub fn confirmed_grants_survive_a_crash(under_test: &dyn StoreUnderTest) {
    const WORKERS: usize = 8;
    // The layout has more nodes than any store can grant before the crash.
    let layout = "t41.n20.s2@1767225600000/1ms".parse().expect("a layout");
    let fixture = Fixture::with_short_bounds_for(under_test, "crash", layout);
    let (crashed, busy) = (AtomicBool::new(false), AtomicUsize::new(0));
    let mut first = fixture.client();
    let early = first.grant(&fixture.request());
    thread::scope(|scope| {
        for _ in 0..WORKERS {
            scope.spawn(|| {
                let mut client = fixture.client();
                // The workers continue for ten rounds after the crash.
                let mut left = 10;
                while left > 0 {
                    if crashed.load(Ordering::SeqCst) {
                        left -= 1;
                    }
                    work(&fixture, &mut client, &crashed);
                    busy.fetch_add(1, Ordering::SeqCst);
                }
            });
        }
        // The workers must be busy at the time of the crash.
        eventually("requests before the crash", || {
            thread::sleep(Duration::from_millis(5));
            (busy.load(Ordering::SeqCst) > 3 * WORKERS).then_some(())
        });
        under_test.crash();
        crashed.store(true, Ordering::SeqCst);
    });

    let mut client = fixture.client();
    let renewal = client.renew(&renewal(&early, early.fence));
    if under_test.crash_voids_tokens() {
        // The holder may get one last window, which must end before the windows of other holders may begin.
        match renewal {
            Err(Refusal::Restored { .. }) => {}
            Ok(renewed) => assert!(renewed.fence <= client.list().namespace.floor, "{renewed:?}"),
            Err(refusal) => panic!("{refusal:?}"),
        }
    } else {
        assert!(renewal.is_ok(), "{renewal:?}");
    }
    fixture.check_confirmed();
}

/// Acquires a node and renews its lease once. Records nothing for a request that fails during the crash, because the
/// outcome is unknown.
fn work(fixture: &Fixture<'_>, client: &mut Client<'_>, crashed: &AtomicBool) {
    let request =
        Acquire { token: fresh_token(), window_ms: 20, now: now(), from: 1, ..fixture.request() };
    let outcome = client.acquire_once(&request).and_then(|grant| {
        fixture.log().record_grant(&grant);
        let renewal = renewal(&grant, grant.fence + 5);
        let renewed = client.renew_once(&renewal)?;
        fixture.log().record_renewal(&renewal, &renewed);
        Ok(())
    });
    match outcome {
        Ok(()) => {}
        Err(Fault::Refused(
            Refusal::Restored { retry_after_ms } | Refusal::FenceInFuture { retry_after_ms },
        )) => thread::sleep(Duration::from_millis(retry_after_ms.clamp(1, 200))),
        Err(Fault::Unavailable(text)) => {
            println!("  {text}");
            eventually("the end of the crash", || {
                thread::sleep(Duration::from_millis(5));
                crashed.load(Ordering::SeqCst).then_some(())
            });
            client.reconnect();
        }
        Err(fault) => panic!("{fault:?}"),
    }
}
