//! Tests of pruning, which removes ended grants from the history.

use std::sync::Barrier;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Instant;

use flakeid_core::Layout;

use super::StoreUnderTest;
use super::fixture::{Client, Fixture, fresh_name, now, renewal};
use flakeid_protocol::operations::{self, PastHolder, Pruned};
use flakeid_protocol::{
    self as protocol, Acquire, Grant, Handover, Identity, Namespace, Owner, Record, Release,
    SubGrant,
};

const BLOCK: u64 = 1;
/// The first node of the block.
const NODE: u64 = 16;

/// Checks that `prune` removes the grants that were no longer in force at the given instant, and that `whois` still
/// returns the same holders for all later ticks. Rows, leases and new grants must not be affected.
pub fn prune_removes_only_ended_grants(under_test: &dyn StoreUnderTest) {
    let fixture = Fixture::new(under_test, "pruning");
    let mut client = fixture.client();
    let by = |node: u64, pid: u32| Acquire {
        owner: Owner { name: format!("owner-{pid}"), host: "test".into(), pid },
        ..fixture.request_node(node)
    };
    let first = client.grant(&by(4, 100));
    client.release(&first, first.start + 20);
    let second = client.grant(&by(4, 200));
    client.release(&second, second.start + 20);
    let third = client.grant(&by(4, 300));
    let elsewhere = client.grant(&by(5, 400));
    // The window of the fourth grant begins when the window of the third grant ends. Until then, the third grant is
    // still in force.
    let ahead = client.grant(&by(4, 500));
    assert_eq!(ahead.start, third.fence);

    let before = client.list().rows;
    let ticks = [third.start, third.fence - 1, ahead.start, ahead.fence - 1];
    let holders = ticks.map(|tick| whois(&mut client, 4, tick).expect("a holder"));
    assert_eq!(holders.each_ref().map(|holder| holder.record.owner.pid), [300, 300, 500, 500]);
    let earlier = fixture.namespace.layout.unix_ms_at(first.start) - 60_000;
    assert_eq!(prune_before(&mut client, earlier), Pruned { records: 0, sub_grants: 0 });
    assert!(whois(&mut client, 4, first.start).is_some());
    assert_eq!(prune(&mut client, third.start), Pruned { records: 2, sub_grants: 0 });
    for tick in [first.start, second.start, third.start - 1] {
        assert_eq!(whois(&mut client, 4, tick), None, "tick {tick}");
    }
    for (tick, holder) in ticks.into_iter().zip(holders) {
        assert_eq!(whois(&mut client, 4, tick), Some(holder));
    }
    assert_eq!(whois(&mut client, 5, elsewhere.start).unwrap().record.owner.pid, 400);
    assert_eq!(prune(&mut client, third.start), Pruned { records: 0, sub_grants: 0 });
    assert_eq!(client.list().rows, before);

    // After pruning, the lease can still be renewed and released, and new grants are still made and recorded.
    let ahead = client.extend(&ahead, ahead.fence + 10);
    client.release(&ahead, ahead.start + 10);
    let last = client.grant(&by(4, 600));
    assert_eq!(last.start, ahead.start + 10);
    assert_eq!(whois(&mut client, 4, last.start).unwrap().record.owner.pid, 600);
    assert_eq!(whois(&mut client, 4, ahead.start).unwrap().fence, last.start);
    fixture.check_confirmed();
}

/// Checks that `prune` removes the sub-grants that have ended. If `prune` removes a block's grant, it must also remove
/// all sub-grants of that grant.
pub fn prune_removes_ended_sub_grants(under_test: &dyn StoreUnderTest) {
    let fixture = blocks(under_test, "pruned-sub-grants");
    let mut client = fixture.client();
    let first = lease(&fixture, &mut client);
    let (start, until) = (first.start, first.start + 100);
    let sub_grants = vec![
        sub(NODE, 1, start),
        sub(NODE, 2, start + 20),
        sub(NODE, 3, start + 40),
        sub(NODE + 1, 1, start + 5),
    ];
    let first = hand_over(&fixture, &mut client, &first, &Handover { sub_grants, until });
    let client_of = |client: &mut Client<'_>, node, tick| match whois(client, node, tick)?.client {
        Some(protocol::Client::Known { sub_grant, fence }) => Some(Ok((sub_grant.grant, fence))),
        Some(protocol::Client::Nobody) => Some(Err("nobody")),
        Some(protocol::Client::Unrecorded) => Some(Err("unrecorded")),
        None => panic!("a namespace of blocks"),
    };
    assert_eq!(client_of(&mut client, NODE, start), Some(Ok((1, start + 20))));
    assert_eq!(prune(&mut client, start + 40), Pruned { records: 0, sub_grants: 2 });
    for (node, tick, expected) in [
        (NODE, start, Err("unrecorded")),
        (NODE, start + 39, Err("unrecorded")),
        (NODE, start + 40, Ok((3, until))),
        (NODE + 1, start + 4, Err("nobody")),
        (NODE + 1, start + 5, Ok((1, until))),
        (NODE + 2, start, Err("nobody")),
    ] {
        assert_eq!(client_of(&mut client, node, tick), Some(expected), "node {node}, tick {tick}");
    }

    // The second grant of the block ends the first grant, so `prune` removes the first grant with all of its
    // sub-grants.
    release(&fixture, &mut client, &first, until);
    let second = lease(&fixture, &mut client);
    let sub_grants = vec![sub(NODE, 1, second.start + 10)];
    let until = second.start + 50;
    hand_over(&fixture, &mut client, &second, &Handover { sub_grants, until });
    assert_eq!(prune(&mut client, second.start), Pruned { records: 1, sub_grants: 2 });
    for node in [NODE, NODE + 1, NODE + 2] {
        assert_eq!(whois(&mut client, node, start + 50), None, "node {node}");
    }
    assert_eq!(client_of(&mut client, NODE, second.start), Some(Err("nobody")));
    assert_eq!(client_of(&mut client, NODE, second.start + 10), Some(Ok((1, until))));
    assert_eq!(client_of(&mut client, NODE + 1, second.start), Some(Err("nobody")));
    fixture.check_confirmed();
}

/// Checks that `prune` removes all ended grants and sub-grants, even if the history is too long for a single
/// transaction.
pub fn long_histories_are_pruned_in_several_transactions(under_test: &dyn StoreUnderTest) {
    const MANY: u64 = 1_100;
    let fixture = blocks(under_test, "long-history");
    let mut client = fixture.client();
    let grant = lease(&fixture, &mut client);
    let owner = || Owner { name: "n".repeat(255), host: "h".repeat(255), pid: 1 };
    let old_records = (0..MANY).map(|number| Record {
        node: BLOCK,
        grant: 2 + number,
        start: grant.start - MANY + number,
        owner: owner(),
        acquired: 1,
        previous_until: 0,
    });
    let old_records: Vec<_> = old_records.collect();
    let count = |node: u64| if node == NODE + 3 { MANY } else { 40 };
    let nodes = NODE..NODE + 16;
    let old_sub_grants = nodes.clone().flat_map(|node| {
        (1..=count(node)).map(move |number| SubGrant {
            block_grant: 1,
            acquired: 1,
            owner: owner(),
            ..sub(node, number, grant.start)
        })
    });
    let old_sub_grants: Vec<_> = old_sub_grants.collect();
    let name = fixture.namespace.name.clone();
    // The history is written in several parts, because some stores limit the size of a transaction.
    for (records, sub_grants) in
        old_records.chunks(200).zip(old_sub_grants.chunks(old_sub_grants.len().div_ceil(6)))
    {
        let write = client.store.transact(&name, &mut |ledger| {
            ledger.namespace()?;
            ledger.record_sub_grants(sub_grants)?;
            records.iter().try_for_each(|record| ledger.record(record))
        });
        write.expect("the history is written");
    }
    let sub_grants = old_sub_grants.len() as u64 - 16;
    assert_eq!(prune(&mut client, grant.start), Pruned { records: MANY, sub_grants });
    assert_eq!(whois(&mut client, NODE, grant.start - 1), None);
    for node in nodes {
        let holder = whois(&mut client, node, grant.start).expect("the broker");
        let left = client.store.transact(&name, &mut |ledger| {
            let left = ledger.oldest_sub_grants(node, node, 9)?;
            let numbers: Vec<_> = left.iter().map(|sub| sub.grant).collect();
            assert_eq!((holder.record.grant, numbers), (1, vec![count(node)]));
            Ok(())
        });
        left.expect("the history is read");
    }
    fixture.check_confirmed();
}

/// Checks that `whois` never returns a wrong holder or a wrong fence while another client prunes the history.
pub fn whois_is_exact_while_grants_are_removed(under_test: &dyn StoreUnderTest) {
    const ROUNDS: usize = 20;
    let fixture = blocks(under_test, "pruning-race");
    let mut client = fixture.client();
    let mut grants: Vec<Grant> = Vec::new();
    let mut ends = Vec::new();
    for _ in 0..ROUNDS {
        let grant = lease(&fixture, &mut client);
        let start = grant.start;
        let sub_grants =
            vec![sub(NODE, 1, start), sub(NODE, 2, start + 4), sub(NODE, 3, start + 8)];
        let handover = Handover { sub_grants, until: start + 12 };
        let held = hand_over(&fixture, &mut client, &grant, &handover);
        release(&fixture, &mut client, &held, start + 12);
        grants.push(grant);
        let last = fixture.namespace.layout.unix_ms_at(start + 8);
        ends.push(last.max(client.list().now).max(now()) + 1);
    }
    let fence = |round: usize| grants.get(round + 1).map_or(u64::MAX, |next| next.start);
    let check = |round: usize, holder: Option<PastHolder>, part: u64| {
        let Some(holder) = holder else {
            assert_ne!(round, ROUNDS - 1, "the latest grant was removed");
            return;
        };
        assert_eq!(holder.record.start, grants[round].start);
        assert!(round == ROUNDS - 1 || holder.fence == fence(round), "{holder:?}");
        match holder.client {
            Some(protocol::Client::Known { sub_grant, fence }) => {
                let end = grants[round].start + 4 * (part + 1);
                assert_eq!((sub_grant.grant, fence), (part + 1, end), "{sub_grant:?}");
            }
            Some(protocol::Client::Unrecorded) => assert!(part < 2, "the latest sub-grant"),
            other => panic!("{other:?}"),
        }
    };
    let (together, done) = (Barrier::new(3), AtomicBool::new(false));
    let removed = thread::scope(|scope| {
        let read = || {
            let mut client = fixture.client();
            let mut found = 0;
            together.wait();
            loop {
                let is_last = done.load(Ordering::SeqCst);
                for (round, grant) in grants.iter().enumerate() {
                    for part in 0..3 {
                        let holder = whois(&mut client, NODE, grant.start + 4 * part + 1);
                        found += usize::from(holder.is_some());
                        check(round, holder, part);
                    }
                }
                if is_last {
                    return found;
                }
            }
        };
        let readers = [scope.spawn(read), scope.spawn(read)];
        together.wait();
        let mut removed = Pruned::default();
        for end in &ends {
            let more = prune_before(&mut client, *end);
            removed.records += more.records;
            removed.sub_grants += more.sub_grants;
        }
        done.store(true, Ordering::SeqCst);
        for reader in readers {
            assert!(reader.join().expect("a reader") > 0);
        }
        removed
    });
    let records = ROUNDS as u64 - 1;
    assert_eq!(removed, Pruned { records, sub_grants: 3 * records + 2 });
    fixture.check_confirmed();
}

/// Creates a namespace that grants blocks of 16 nodes.
fn blocks<'a>(under_test: &'a dyn StoreUnderTest, name: &str) -> Fixture<'a> {
    let new = Namespace::new(&fresh_name(name), Layout::TWITTER);
    Fixture::with_namespace(under_test, &Namespace { block_bits: 4, ..new })
}

/// Leases the block as a broker.
fn lease(fixture: &Fixture<'_>, client: &mut Client<'_>) -> Grant {
    let identity = Identity::Node(BLOCK);
    client.grant(&Acquire { block_bits: 4, to: 63, identity, ..fixture.request() })
}

fn sub(node: u64, grant: u64, start: u64) -> SubGrant {
    let owner = Owner { name: format!("worker:{grant}"), host: "test".into(), pid: 1 };
    SubGrant { node, start, block_grant: 0, grant, owner, acquired: now() }
}

/// Renews the block and hands over sub-grants to the store. Returns the renewed grant.
fn hand_over(
    fixture: &Fixture<'_>,
    client: &mut Client<'_>,
    grant: &Grant,
    handover: &Handover,
) -> Grant {
    let request = renewal(grant, grant.fence + 10);
    let renewed = client.persist(|store, name| {
        operations::renew_block(store, name, &request, Instant::now(), handover)
    });
    let (renewed, _) = renewed.expect("a renewal");
    fixture.log().record_renewal(&request, &renewed);
    Grant { token: request.next, fence: renewed.fence, ..*grant }
}

/// Releases the block, and records that its history is complete.
fn release(fixture: &Fixture<'_>, client: &mut Client<'_>, grant: &Grant, used_until: u64) {
    let release = Release { node: BLOCK, token: grant.token, used_until };
    let last = Handover { sub_grants: Vec::new(), until: u64::MAX };
    client
        .persist(|store, name| operations::release_block(store, name, &release, &last))
        .expect("a release");
    fixture.log().record_release(&release);
}

/// Waits until the store's clock is past the start of the given tick and past the times of all previous grants. Then
/// prunes the history up to the current time.
fn prune(client: &mut Client<'_>, tick: u64) -> Pruned {
    let listing = client.list();
    let begun = listing.namespace.layout.unix_ms_at(tick);
    client.wait_until(begun.max(listing.now).max(now()) + 1);
    let before = client.list().now;
    prune_before(client, before)
}

fn prune_before(client: &mut Client<'_>, before: i64) -> Pruned {
    client.persist(|store, name| operations::prune(store, name, before)).expect("a history")
}

fn whois(client: &mut Client<'_>, node: u64, tick: u64) -> Option<PastHolder> {
    client
        .persist(|store, name| operations::whois(store, name, node, tick))
        .expect("whois is not refused")
}
