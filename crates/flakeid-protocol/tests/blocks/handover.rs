//! Tests of the sub-grants that a broker hands over to the store's history.

use std::time::{Duration, Instant};

use flakeid_core::{Clock as _, Layout, ManualClock};
use flakeid_protocol::broker::{Blocks, Denial};
use flakeid_protocol::{Acquire, Grant, Handover, MemoryStore, Owner, operations};

use crate::requests::{NOW, SPACE, block_request, namespace, release, renewal, request, token};

const WINDOW_MS: u64 = 100;
const BLOCK_WINDOW_MS: u64 = 60_000;

fn tick(unix_ms: i64) -> u64 {
    Layout::TWITTER.tick_at(unix_ms).unwrap()
}

/// Builds the state of a broker with one block of two nodes.
fn blocks() -> Blocks {
    let mut blocks = Blocks::new(&namespace(), WINDOW_MS, 60_000).recorded();
    let grant = Grant {
        node: 3,
        start: tick(NOW),
        fence: tick(NOW) + BLOCK_WINDOW_MS,
        token: token(1 << 40),
        max_ahead_ms: 20_000,
        max_window_ms: 10_000,
        expires: NOW + 61_000,
    };
    blocks.add(&grant, NOW);
    blocks
}

fn acquire(blocks: &mut Blocks, number: u64, now: i64) -> Grant {
    let owner = Owner { pid: number as u32, ..Owner::default() };
    blocks.acquire(&Acquire { owner, ..request(number, now, WINDOW_MS) }, now).unwrap()
}

/// Returns the node, the grant number and the process ID of each sub-grant.
fn handed(handover: &Handover) -> Vec<(u64, u64, u32)> {
    handover.sub_grants.iter().map(|sub| (sub.node, sub.grant, sub.owner.pid)).collect()
}

#[test]
fn unconfirmed_sub_grants_are_handed_over_again() {
    let mut blocks = blocks();
    let first = acquire(&mut blocks, 1, NOW);
    blocks.release(&release(&first, first.start + 10), NOW + 10);
    let second = acquire(&mut blocks, 2, NOW + 20);
    acquire(&mut blocks, 3, NOW + 20);

    // The history is complete only up to 1 s (`max_skew`) before the current time, because later ticks may still be
    // granted.
    let now = NOW + 3_000;
    let sent = blocks.hand_over(3, now, 256);
    assert_eq!(handed(&sent), [(6, 1, 1), (6, 2, 3), (7, 1, 2)]);
    assert_eq!(sent.until, tick(now) - 1_000);
    // The response to the renewal is lost, and the broker makes another sub-grant in the meantime.
    blocks.release(&release(&second, second.start + 1), NOW + 3_400);
    let fourth = acquire(&mut blocks, 4, NOW + 3_500);
    assert_eq!(blocks.hand_over(3, NOW + 4_000, 0), sent);
    blocks.confirm_history(3, sent.until);
    let next = blocks.hand_over(3, NOW + 5_000, 256);
    assert_eq!(handed(&next), [(7, 2, 4)]);
    assert_eq!(next.until, tick(NOW + 4_000));
    blocks.confirm_history(3, next.until);

    // A handover without sub-grants makes the history complete up to a later tick, and later windows start at or
    // above that tick.
    let empty = blocks.hand_over(3, NOW + 9_000, 256);
    assert_eq!((handed(&empty), empty.until), (vec![], tick(NOW + 8_000)));
    blocks.release(&release(&fourth, fourth.start + 1), NOW + 9_000);
    let behind = Acquire { waited_ms: 10_000, ..request(5, NOW + 4_000, WINDOW_MS) };
    assert_eq!(blocks.acquire(&behind, NOW + 9_000).unwrap().start, empty.until);
}

#[test]
fn sub_grants_over_the_limit_are_handed_over_later() {
    let mut blocks = blocks();
    acquire(&mut blocks, 1, NOW);
    acquire(&mut blocks, 2, NOW + 10);
    for (most, expected) in [(0, &[][..]), (1, &[(6, 1, 1)]), (9, &[(7, 1, 2)])] {
        let sent = blocks.hand_over(3, NOW + 5_000, most);
        assert_eq!(handed(&sent), expected);
        let lacking = [tick(NOW), tick(NOW) + 10, tick(NOW + 4_000)][most.min(2)];
        assert_eq!(sent.until, lacking);
        blocks.confirm_history(3, sent.until);
    }
}

#[test]
fn last_handover_contains_all_unconfirmed_sub_grants() {
    let mut blocks = blocks();
    acquire(&mut blocks, 1, NOW);
    let sent = blocks.hand_over(3, NOW + 10, 256);
    acquire(&mut blocks, 2, NOW + 20);
    let last = blocks.hand_over_last(3, 1_000);
    assert_eq!(handed(&sent), [(6, 1, 1)]);
    assert_eq!(handed(&last), [(6, 1, 1), (7, 1, 2)], "the first handover may not have arrived");
    assert_eq!(last.until, 0, "the store's history is unknown");
    blocks.lose(3);
    assert_eq!(blocks.dropped(), 0);
}

#[test]
fn broker_grants_no_more_nodes_than_the_history_can_receive() {
    let mut blocks = blocks();
    let mut number = 0;
    let mut churn = |blocks: &mut Blocks, times: usize| {
        for _ in 0..times {
            number += 1;
            let grant = acquire(blocks, number, NOW);
            blocks.release(&release(&grant, grant.start + 1), NOW);
        }
    };
    // The limit of 256 sub-grants does not apply to the latest sub-grant of each of the two nodes.
    churn(&mut blocks, 2 + 256);
    let one_more = request(1_000, NOW, WINDOW_MS);
    assert_eq!(blocks.acquire(&one_more, NOW), Err(Denial::NoRoom));
    assert_eq!(blocks.dropped(), 0);
    let first = blocks.hand_over(3, NOW + 10_000, 256);
    assert_eq!(first.sub_grants.len(), 256);
    assert_eq!(first.until, tick(NOW), "the latest sub-grants of both nodes are still missing");
    blocks.confirm_history(3, first.until);
    let second = blocks.hand_over(3, NOW + 10_000, 256);
    assert_eq!(second.sub_grants.len(), 2);
    assert_eq!(second.until, tick(NOW + 9_000));
    let of_node = |node| {
        let all = first.sub_grants.iter().chain(&second.sub_grants);
        all.filter(|sub| sub.node == node).map(|sub| sub.grant).collect::<Vec<_>>()
    };
    for node in [6, 7] {
        assert_eq!(of_node(node), (1..=129).collect::<Vec<_>>());
    }

    // If the block is lost, sub-grants that were sent but not confirmed are dropped, too.
    churn(&mut blocks, 10);
    blocks.lose(3);
    assert_eq!(blocks.dropped(), 2 + 10);
}

#[test]
fn restored_store_gets_the_latest_sub_grants_again() {
    let mut blocks = blocks();
    acquire(&mut blocks, 1, NOW);
    acquire(&mut blocks, 2, NOW);
    let first = blocks.hand_over(3, NOW + 2_000, 256);
    blocks.confirm_history(3, first.until);
    let empty = blocks.hand_over(3, NOW + 5_000, 256);
    assert_eq!(handed(&empty), []);
    // The store is restored from a copy that was saved before the first handover.
    blocks.confirm_history(3, 0);
    let again = blocks.hand_over(3, NOW + 8_000, 256);
    assert_eq!(handed(&again), [(6, 1, 1), (7, 1, 2)]);
    assert_eq!(again.until, tick(NOW + 7_000));
    blocks.confirm_history(3, again.until);
    let last = blocks.hand_over_last(3, 1_000);
    assert_eq!((handed(&last), last.until), (vec![], u64::MAX));
}

#[test]
fn broker_soon_grants_nodes_again_after_its_clock_was_ahead_during_a_renewal() {
    let clock = ManualClock::new(NOW);
    let mut store = MemoryStore::on(clock.clone());
    operations::init(&mut store, &namespace()).unwrap();
    let grant = operations::acquire(&mut store, SPACE, &block_request(1, NOW, 10_000)).unwrap();
    let mut blocks = Blocks::new(&namespace(), WINDOW_MS, 60_000).recorded();
    blocks.add(&grant, NOW);
    clock.advance(Duration::from_secs(3));
    let now = clock.unix_ms();

    // The broker's clock is 15 s ahead, so the broker declares the history of the whole block complete.
    let handover = blocks.hand_over(grant.node, now + 15_000, 256);
    assert_eq!(handover.until, grant.fence);
    let asked = renewal(&grant, 2, grant.fence + 3_000, now + 15_000);
    let renewed =
        operations::renew_block(&mut store, SPACE, &asked, Instant::now(), &handover).unwrap();
    // The store records at most the tick that is 1 s (`max_skew`) ahead of its own clock.
    let recorded = tick(now + 1_000);
    assert_eq!(renewed.1, recorded);
    blocks.raise(grant.node, renewed.0.fence);

    // Without the store's response, the store may have recorded the whole declaration.
    assert_eq!(acquire(&mut blocks.clone(), 3, now + 1).start, grant.fence);
    blocks.confirm_history(grant.node, renewed.1);
    assert_eq!(acquire(&mut blocks, 3, now + 1).start, recorded);
}
