//! Tests of the rules by which a broker grants the nodes in its blocks.

use flakeid_core::Layout;
use flakeid_protocol::broker::{Blocks, Denial};
use flakeid_protocol::{Acquire, Grant, Identity, Namespace, Owner, Refusal};

use crate::requests::{NOW, namespace, release, renewal, request, token};

const WINDOW_MS: u64 = 4_000;
const TTL_MS: u64 = 12_000;

fn tick(ms: i64) -> u64 {
    Layout::TWITTER.tick_at(ms).unwrap()
}

/// Builds the store's grant of the block that contains nodes `2 * number` and `2 * number + 1`. The grant lasts for
/// 10 s from `now`.
fn block(number: u64, now: i64) -> Grant {
    Grant {
        node: number,
        start: tick(now),
        fence: tick(now) + 10_000,
        token: token(1 << 32 | number),
        max_ahead_ms: 20_000,
        max_window_ms: 10_000,
        expires: now + 11_000,
    }
}

fn blocks(numbers: &[u64]) -> Blocks {
    let mut blocks = Blocks::new(&namespace(), WINDOW_MS, TTL_MS);
    for number in numbers {
        blocks.add(&block(*number, NOW), NOW);
    }
    blocks
}

#[test]
fn window_never_extends_beyond_the_fence_of_its_block() {
    let mut blocks = blocks(&[3]);
    let first = blocks.acquire(&request(1, NOW, 60_000), NOW).unwrap();
    assert_eq!((first.node, first.start, first.fence), (6, tick(NOW), tick(NOW) + WINDOW_MS));
    assert_eq!((first.max_window_ms, first.expires), (WINDOW_MS, NOW + TTL_MS.cast_signed()));

    // No window ends above the block's confirmed fence, even if a longer window is requested (I11).
    let late = NOW + 7_000;
    let renewed = blocks.renew(&renewal(&first, 2, tick(late) + WINDOW_MS, late), late).unwrap();
    assert_eq!(renewed.fence, tick(NOW) + 10_000);
    let first = Grant { fence: renewed.fence, token: token(2).of_grant(first.token), ..first };
    let more = renewal(&first, 3, tick(late) + 5_000, late);
    assert_eq!(blocks.renew(&more, late), Err(Denial::BlockFence));
    let second = blocks.acquire(&request(4, late, WINDOW_MS), late).unwrap();
    assert_eq!(second.fence, tick(NOW) + 10_000);

    let last = NOW + 9_999;
    assert!(
        blocks.acquire(&request(5, last, WINDOW_MS), last).is_err(),
        "a window needs at least two ticks"
    );
    blocks.raise(3, tick(NOW) + 15_000);
    assert_eq!(blocks.renew(&more, late).unwrap().fence, more.wanted);
    blocks.raise(3, tick(NOW) + 12_000);
    let all = renewal(&second, 6, tick(NOW) + 15_000, late);
    assert_eq!(blocks.renew(&all, late).unwrap().fence, tick(NOW) + 15_000, "a fence never falls");
}

/// Checks that a block's fence never falls below the highest fence that was granted in the block, even if the node
/// with that fence was released early (I13).
#[test]
fn lost_block_reports_the_highest_fence_granted_from_it() {
    let mut blocks = blocks(&[0]);
    let early = blocks.acquire(&request(1, NOW, WINDOW_MS), NOW).unwrap();
    blocks.release(&release(&early, early.start + 1), NOW + 1);
    let again = blocks.acquire(&request(2, NOW + 1, 100), NOW + 1).unwrap();
    assert_eq!(blocks.lose(0), early.fence);
    assert!(again.fence < early.fence);
    assert_eq!(blocks.lose(0), 0, "the block is lost already");
    assert_eq!(blocks.room(), 0);
    assert_eq!(blocks.renew(&renewal(&again, 3, again.fence + 1, NOW), NOW), Err(Denial::NotHeld));
}

/// Checks that windows start at or above the start of the block's current grant (I12). Holders under an earlier grant
/// of the block must be fenced off.
#[test]
fn new_grant_of_a_block_fences_off_earlier_holders() {
    let mut blocks = blocks(&[5]);
    let before = blocks.acquire(&request(1, NOW, WINDOW_MS), NOW).unwrap();
    let later = NOW + 11_000;
    blocks.add(&Grant { start: tick(later) + 500, ..block(5, later) }, later);
    let stale = renewal(&before, 2, tick(later), later);
    assert_eq!(blocks.renew(&stale, later), Err(Refusal::FencedOff.into()));
    let after = blocks.acquire(&request(3, later, WINDOW_MS), later).unwrap();
    assert_eq!((after.node, after.start), (before.node, tick(later) + 500));
    assert_eq!(blocks.renew(&stale, later), Err(Refusal::FencedOff.into()));
    blocks.release(&release(&before, before.start), later);
    assert_eq!(blocks.holders(), 1, "another holder has the node");
}

#[test]
fn acquire_fills_partly_used_blocks_before_empty_blocks() {
    let mut blocks = blocks(&[0, 1, 2]);
    let mut granted = |number, now| blocks.acquire(&request(number, now, WINDOW_MS), now).unwrap();
    let nodes: Vec<u64> = (0..3).map(|number| granted(number, NOW).node).collect();
    assert_eq!(nodes, [0, 1, 2]);
    assert_eq!(granted(3, NOW).node, 3, "a block in use is filled before an empty block");
    assert_eq!(granted(4, NOW).node, 4);
    assert_eq!(granted(5, NOW).node, 5);
    assert_eq!(blocks.acquire(&request(6, NOW, WINDOW_MS), NOW), Err(Denial::NoRoom));
    assert_eq!((blocks.holders(), blocks.room()), (6, 0));

    // A holder that does not renew its grant within the TTL loses its node. The next holder's window starts above the
    // previous window.
    let expired = NOW + TTL_MS.cast_signed();
    blocks.raise(0, tick(expired) + 10_000);
    blocks.expire(expired);
    assert_eq!((blocks.holders(), blocks.room()), (0, 6));
    assert!(blocks.blocks().all(|(_, _, empty_since)| empty_since == Some(expired)));
    let next = blocks.acquire(&request(7, expired, WINDOW_MS), expired).unwrap();
    assert_eq!((next.node, next.start), (0, tick(expired)));
}

/// Checks that one request frees only some of the expired nodes, so that the request is fast. A named client must
/// still get its previous node, even if that node expired last.
#[test]
fn expired_nodes_are_freed_in_batches() {
    let namespace = Namespace { block_bits: 9, ..namespace() };
    let mut blocks = Blocks::new(&namespace, WINDOW_MS, TTL_MS);
    blocks.add(&block(0, NOW), NOW);
    let identity = Identity::Name("last".into());
    let owner = Owner { name: "last".into(), ..request(0, NOW, WINDOW_MS).owner };
    let named = |number, now| Acquire {
        identity: identity.clone(),
        owner: owner.clone(),
        ..request(number, now, WINDOW_MS)
    };
    for number in 1..512 {
        blocks.acquire(&request(number, NOW, WINDOW_MS), NOW).unwrap();
    }
    let last = blocks.acquire(&named(600, NOW + 1), NOW + 1).unwrap();
    assert_eq!((blocks.holders(), blocks.room()), (512, 0));

    let late = NOW + 1 + TTL_MS.cast_signed();
    blocks.raise(0, tick(late) + 10_000);
    let again = blocks.acquire(&named(601, late), late).unwrap();
    assert_eq!(again.node, last.node, "the name gets its node");
    let held = blocks.holders();
    assert!((257..512).contains(&held), "one request freed {} nodes", 513 - held);
    let other = blocks.acquire(&request(602, late, WINDOW_MS), late).unwrap();
    assert_ne!(other.node, again.node);
    while blocks.expire(late) {}
    assert_eq!(blocks.holders(), 2, "only the new grants are left");
    assert_eq!(blocks.room(), 510);
}

#[test]
fn renewed_node_is_freed_when_its_last_renewal_expires_and_not_earlier() {
    let mut blocks = blocks(&[0]);
    let first = blocks.acquire(&request(1, NOW, WINDOW_MS), NOW).unwrap();
    let later = NOW + 5_000;
    blocks.renew(&renewal(&first, 2, tick(later) + 1_000, later), later).unwrap();
    let expires = later + TTL_MS.cast_signed();
    for now in [NOW + TTL_MS.cast_signed(), expires - 1] {
        assert!(!blocks.expire(now));
        assert_eq!((blocks.holders(), blocks.room()), (1, 1));
    }
    assert!(!blocks.expire(expires));
    assert_eq!((blocks.holders(), blocks.room()), (0, 2));

    // No other process got the node, so its holder can still renew it.
    blocks.raise(0, tick(expires) + 10_000);
    let renewed = Grant { token: token(2).of_grant(first.token), ..first };
    blocks.renew(&renewal(&renewed, 3, tick(expires) + 1_000, expires), expires).unwrap();
    assert_eq!((blocks.holders(), blocks.room()), (1, 1));
    assert!(!blocks.expire(expires + TTL_MS.cast_signed()));
    assert_eq!((blocks.holders(), blocks.room()), (0, 2));
}

#[test]
fn repeated_and_late_requests_succeed_unless_outdated() {
    let mut blocks = blocks(&[0]);
    let asked = request(1, NOW, WINDOW_MS);
    let granted = blocks.acquire(&asked, NOW).unwrap();
    assert_eq!(blocks.acquire(&asked, NOW + 500), Ok(granted), "the response was lost");
    assert_eq!(blocks.holders(), 1);

    let renew = renewal(&granted, 2, granted.fence + 1_000, NOW + 1_000);
    let renewed = blocks.renew(&renew, NOW + 1_000).unwrap();
    assert_eq!(blocks.renew(&renew, NOW + 2_000), Ok(renewed), "the response was lost");
    let again = Acquire { now: NOW + 2_000, ..asked };
    assert_eq!(blocks.acquire(&again, NOW + 2_000), Err(Refusal::FencedOff.into()));
    let stale = renewal(&granted, 3, granted.fence + 2_000, NOW + 2_000);
    assert_eq!(blocks.renew(&stale, NOW + 2_000), Err(Refusal::FencedOff.into()));

    // The renewal arrives after the grant has expired, but no other holder has acquired the node.
    let late = NOW + 30_000;
    blocks.raise(0, tick(late) + 10_000);
    blocks.expire(late);
    assert_eq!(blocks.holders(), 0);
    let current = Grant { token: renew.next, fence: renewed.fence, ..granted };
    blocks.renew(&renewal(&current, 4, tick(late) + 1_000, late), late).unwrap();
    assert_eq!((blocks.holders(), blocks.room()), (1, 1));
}

#[test]
fn named_holder_gets_its_last_node_if_still_free() {
    let mut blocks = blocks(&[0, 1]);
    let named = |number, name: &str, now| Acquire {
        identity: Identity::Name(name.into()),
        owner: Owner { name: name.into(), host: "test".into(), pid: 1 },
        ..request(number, now, WINDOW_MS)
    };
    let first = blocks.acquire(&named(1, "a", NOW), NOW).unwrap();
    let second = blocks.acquire(&named(2, "b", NOW), NOW).unwrap();
    let third = blocks.acquire(&named(3, "c", NOW), NOW).unwrap();
    assert_eq!([first.node, second.node, third.node], [0, 1, 2]);
    blocks.release(&release(&second, second.start + 5), NOW);
    blocks.release(&release(&third, third.start), NOW);
    let again = blocks.acquire(&named(4, "c", NOW + 10), NOW + 10).unwrap();
    assert_eq!((again.node, again.start), (2, tick(NOW) + 10));
    // Another holder acquires node 1, which the client named `b` held before.
    assert_eq!(blocks.acquire(&request(5, NOW + 10, 100), NOW + 10).unwrap().node, 1);
    assert_eq!(blocks.acquire(&named(6, "b", NOW + 10), NOW + 10).unwrap().node, 3);
}

/// Checks that a repeated request gets the same grant only if the request comes from the same process. Two processes
/// with the same window would issue the same IDs.
#[test]
fn acquire_refuses_the_token_of_another_process() {
    let mut blocks = blocks(&[0]);
    let of = |host: &str, pid, name: &str, token| Acquire {
        owner: Owner { host: host.into(), pid, name: name.into() },
        ..request(token, NOW, WINDOW_MS)
    };
    let granted = blocks.acquire(&of("a", 7, "", 1), NOW).unwrap();
    assert_eq!(
        blocks.acquire(&of("a", 7, "", 1), NOW),
        Ok(granted),
        "the same process repeats its request"
    );
    for other in [of("b", 7, "", 1), of("a", 8, "", 1), of("a", 7, "orders", 1), of("", 0, "", 1)] {
        assert_eq!(blocks.acquire(&other, NOW), Err(Refusal::TokenOfAnother.into()), "{other:?}");
    }
    let renewed = renewal(&granted, 2, granted.fence + 1, NOW);
    blocks.renew(&renewed, NOW).unwrap();
    assert_eq!(blocks.acquire(&of("b", 7, "", 1), NOW), Err(Refusal::TokenOfAnother.into()));
    assert_ne!(blocks.acquire(&of("b", 7, "", 3), NOW).unwrap().node, granted.node);
}

#[test]
fn acquire_refuses_client_chosen_nodes_and_skewed_clocks_and_other_layouts() {
    let mut blocks = blocks(&[0]);
    let plain = request(1, NOW, WINDOW_MS);
    for (request, option) in [
        (Acquire { identity: Identity::Node(1), ..plain.clone() }, "node"),
        (Acquire { reuse: false, ..plain.clone() }, "reuse"),
        (Acquire { from: 1, ..plain.clone() }, "nodes_from"),
        (Acquire { to: 7, ..plain.clone() }, "nodes_to"),
    ] {
        let refused = Refusal::BrokerChooses { option };
        assert_eq!(blocks.acquire(&request, NOW), Err(refused.into()));
    }
    for (request, by_ms) in [(plain.clone(), -1_500), (plain.clone(), 1_500)] {
        let skewed = Acquire { now: NOW + by_ms, ..request };
        let refused = Refusal::Skew { by_ms, max_ms: 1_000 };
        assert_eq!(blocks.acquire(&skewed, NOW), Err(refused.into()));
    }
    let layout = Layout::DISCORD;
    let other = Acquire { layout, to: layout.max_node(), ..plain };
    assert!(matches!(
        blocks.acquire(&other, NOW),
        Err(Denial::Refused(Refusal::OtherLayout { .. }))
    ));
}

/// Checks that a broker refuses a request that no block can satisfy, instead of leasing another block unnecessarily.
#[test]
fn requests_that_no_block_can_serve_are_refused() {
    let mut blocks = blocks(&[]);
    let starting_at = |after| Acquire { after, ..request(1, NOW, WINDOW_MS) };
    for after in [tick(NOW) + 20_001, u64::MAX] {
        let refused = blocks.acquire(&starting_at(after), NOW);
        assert!(
            matches!(refused, Err(Denial::Refused(Refusal::FenceInFuture { .. }))),
            "{refused:?}"
        );
    }
    assert_eq!(blocks.acquire(&starting_at(tick(NOW) + 20_000), NOW), Err(Denial::NoRoom));
    let brief = Acquire { window_ms: 1, ..request(2, NOW, WINDOW_MS) };
    let refused = blocks.acquire(&brief, NOW);
    assert!(matches!(refused, Err(Denial::Refused(Refusal::Window { .. }))), "{refused:?}");
}

/// Checks that a broker does not lease one block after the other for a client that stopped between reading its clock
/// and sending the request.
#[test]
fn request_with_an_old_clock_reading_is_refused_if_unused_blocks_start_too_late() {
    let mut blocks = blocks(&[3]);
    let ago_ms = 20_001;
    let old = Acquire { waited_ms: ago_ms, ..request(1, NOW - ago_ms.cast_signed(), WINDOW_MS) };
    let refusal = Refusal::FenceInFuture { retry_after_ms: 1 };
    assert_eq!(blocks.acquire(&old, NOW), Err(refusal.into()));
    let recent = Acquire { now: old.now + 1, ..old };
    assert_eq!(blocks.acquire(&recent, NOW).unwrap().node, 6);
}

#[test]
fn grants_that_expire_without_a_renewal_count_as_abandoned() {
    let mut blocks = blocks(&[3, 4]);
    let of_client = |blocks: &mut Blocks, number| {
        blocks.acquire(&request(number, NOW, WINDOW_MS), NOW).unwrap()
    };
    let renewed = of_client(&mut blocks, 1);
    let released = of_client(&mut blocks, 2);
    of_client(&mut blocks, 3);
    let soon = NOW + 1_000;
    blocks.renew(&renewal(&renewed, 4, tick(soon) + WINDOW_MS, soon), soon).unwrap();
    blocks.release(&release(&released, released.start), soon);
    let late = NOW + 60_000;
    while blocks.expire(late) {}
    assert_eq!((blocks.holders(), blocks.abandoned()), (0, 1));
}
