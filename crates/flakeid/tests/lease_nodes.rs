//! Tests of generators with several leased nodes. A generator leases all nodes or none, and its IDs increase even
//! when nodes are lost.

#![allow(clippy::unwrap_used, clippy::panic)]

use std::collections::BTreeSet;
use std::thread;
use std::time::Duration;

use flakeid::{Generator, LeaseBuilder};
use flakeid_core::{Clock, ErrorKind, Id, Layout, SystemClock};
use flakeid_protocol::operations::{self, Repair};
use flakeid_protocol::{Acquire, Identity, MemoryStore, Row, State, Token};

fn on(store: &MemoryStore, layout: Layout) -> LeaseBuilder {
    let store = store.clone();
    LeaseBuilder::from_store(layout, move || Ok(Box::new(store.clone())))
}

fn rows(store: &MemoryStore) -> Vec<Row> {
    operations::list(&mut store.clone(), "default").unwrap().rows
}

fn take_over(store: &MemoryStore, layout: Layout, node: u64) {
    let request = Acquire {
        identity: Identity::Node(node),
        window_ms: 2_000,
        ..Acquire::any_node(layout, Token::from_bits(u128::from(node) + 99), SystemClock.unix_ms())
    };
    // Without a release by an operator, the node would become free only after its lease had expired.
    let release = operations::Repair::ReleaseNow;
    operations::repair(&mut store.clone(), "default", node, release).unwrap();
    operations::acquire(&mut store.clone(), "default", &request).unwrap();
}

fn nodes_of(ids: &[Id], layout: Layout) -> BTreeSet<u64> {
    ids.iter().map(|id| layout.unpack(*id).unwrap().node).collect()
}

#[test]
fn four_node_generator_issues_sorted_ids_and_releases_its_nodes() {
    let store = MemoryStore::new();
    let layout = Layout::TWITTER;
    let leased = on(&store, layout).node_count(4).open().unwrap();
    let other = on(&store, layout).node_count(2).open().unwrap();
    let (mine, others) = (leased.nodes(), other.nodes());
    assert_eq!((mine.len(), others.len()), (4, 2));
    assert!(mine.iter().all(|node| !others.contains(node)));
    let ids = leased.next_ids(100_000).unwrap();
    assert!(ids.is_sorted_by(|a, b| a < b));
    assert_eq!(nodes_of(&ids, layout), mine.iter().copied().collect());
    let last = layout.unpack(ids[ids.len() - 1]).unwrap().tick;
    assert!(rows(&store).iter().all(|row| row.state == State::Held && row.fence > last), "I2");
    leased.close();
    other.close();
    assert!(rows(&store).iter().all(|row| row.state == State::Free));
    assert_eq!(leased.next_id().unwrap_err().kind(), ErrorKind::Closed);
}

fn check_nodes_are_replaced(
    store: &MemoryStore,
    layout: Layout,
    leased: &Generator,
    victims: &[u64],
) {
    let mut ids = leased.next_ids(1_000).unwrap();
    for victim in victims {
        take_over(store, layout, *victim);
    }
    for _ in 0..5_000 {
        ids.push(leased.next_id().unwrap());
        if victims.iter().all(|victim| !leased.nodes().contains(victim)) {
            break;
        }
        thread::sleep(Duration::from_millis(1));
    }
    assert!(
        victims.iter().all(|victim| !leased.nodes().contains(victim)),
        "a lost node is still in use"
    );
    assert_eq!(leased.nodes().len(), 4);
    ids.extend(leased.next_ids(100_000).unwrap());
    assert!(ids.is_sorted_by(|a, b| a < b));
}

#[test]
fn generator_with_four_nodes_replaces_lost_nodes() {
    let store = MemoryStore::new();
    let layout = Layout::TWITTER;
    let leased = on(&store, layout)
        .node_count(4)
        .window(Duration::from_millis(100))
        .ttl(Duration::from_secs(1))
        .open()
        .unwrap();
    let first = leased.nodes()[0];
    check_nodes_are_replaced(&store, layout, &leased, &[first]);
    let all = leased.nodes();
    check_nodes_are_replaced(&store, layout, &leased, all);
}

#[test]
fn disjoint_windows_of_nodes_are_raised_until_they_overlap() {
    let store = MemoryStore::new();
    let layout = Layout::TWITTER;
    // The fence of node 5 is so far ahead of the clock that the node's next window starts after the window of node 6
    // ends.
    let ahead = on(&store, layout).node_range(5..=5).window(Duration::from_secs(1)).open().unwrap();
    ahead.next_id().unwrap();
    let fence = flakeid::Lease::of(&ahead).unwrap().status().fence;
    drop(ahead);
    take_over(&store, layout, 5);
    operations::repair(&mut store.clone(), "default", 5, Repair::Release).unwrap();
    let fence = fence.max(rows(&store)[0].fence - 1);
    let now = layout.tick_at(SystemClock.unix_ms()).unwrap();
    assert!(fence > now + 1_000);
    let leased = on(&store, layout)
        .node_range(5..=6)
        .node_count(2)
        .window(Duration::from_millis(200))
        .max_wait(Duration::from_secs(5))
        .open()
        .unwrap();
    let ids = leased.next_ids(10_000).unwrap();
    assert!(ids.is_sorted_by(|a, b| a < b));
    assert!(layout.unpack(ids[0]).unwrap().tick >= fence, "I3");
}

#[test]
fn open_releases_its_nodes_if_too_few_are_free() {
    let store = MemoryStore::new();
    let layout: Layout = "t41.n2.s12@1288834974657/1ms".parse().unwrap();
    let one = on(&store, layout).open().unwrap();
    let error = on(&store, layout).node_count(4).open().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NoFreeNode, "{error}");
    let held = || rows(&store).iter().filter(|row| row.state == State::Held).count();
    assert_eq!(held(), 1, "the failed open must release its nodes");
    drop(one);
    let four = on(&store, layout).node_count(4).open().unwrap();
    assert_eq!(*four.nodes(), [0, 1, 2, 3]);
}

#[test]
fn invalid_node_counts_are_refused() {
    let store = MemoryStore::new();
    let refused = |kind, builder: LeaseBuilder| {
        let error = builder.open().unwrap_err();
        assert_eq!(error.kind(), kind, "{error}");
        assert!(error.to_string().contains("node_count"), "{error}");
    };
    let layout = Layout::TWITTER;
    let (option, range) = (ErrorKind::InvalidOption, ErrorKind::FieldOutOfRange);
    refused(range, on(&store, layout).node_count(0));
    refused(option, on(&store, layout).node_count(3));
    refused(range, on(&store, layout).node_range(1..=3).node_count(4));
    refused(option, on(&store, layout).node_count(2).identity(Identity::Node(5)));
    refused(option, on(&store, layout).node_count(2).identity(Identity::Name("a".into())));
}
