//! A test of restored stores whose clocks and clients' clocks differ by the full allowed skew.

use flakeid_core::{Layout, ManualClock};
use flakeid_protocol::{Acquire, Bounds, MemoryStore, Namespace, Token, operations};

use crate::{EPOCH, SPACE};

const LAYOUT: Layout = Layout::TWITTER;

/// The first store's clock is ahead by the allowed skew, and its client is ahead of the store by the same. The clock of
/// the store that replaces the first store is behind by the allowed skew.
#[test]
fn restored_store_grants_nothing_below_fences_of_fast_clients_of_a_fast_store() {
    let bounds = Bounds::of(&LAYOUT);
    let skew = bounds.max_skew_ms.cast_signed();
    let now = EPOCH + 3_600_000;
    let clock = ManualClock::new(now + skew);
    let mut store = MemoryStore::on(clock.clone());
    operations::init(&mut store, &Namespace::new(SPACE, LAYOUT)).unwrap();
    let empty = store.backup();
    let fast = now + 2 * skew;
    let furthest = LAYOUT.tick_at(fast).unwrap() + bounds.max_ahead_ms;
    let request = Acquire::any_node(LAYOUT, Token::from_bits(1), fast);
    let request = Acquire { after: furthest, window_ms: bounds.max_window_ms, ..request };
    let lost = operations::acquire(&mut store, SPACE, &request).unwrap();

    store.restore(empty);
    clock.set(now - skew);
    let other = |now| Acquire::any_node(LAYOUT, Token::from_bits(2), now);
    assert!(operations::acquire(&mut store, SPACE, &other(now)).is_err(), "a restored store waits");
    let later = now - skew + bounds.quiet_ms.cast_signed();
    clock.set(later);
    let next = operations::acquire(&mut store, SPACE, &other(later)).unwrap();
    assert_eq!(next.node, lost.node);
    assert!(next.start >= lost.fence, "{} < {}: I1", next.start, lost.fence);
}
