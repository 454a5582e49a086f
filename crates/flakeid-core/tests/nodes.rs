//! Tests of generators with several nodes. Each generator issues every ID of all its nodes exactly once, in increasing
//! order.

#![allow(clippy::unwrap_used, clippy::panic)]

use std::collections::BTreeSet;
use std::thread;

use flakeid_core::{
    CachedGenerator, Error, ErrorKind, Generator, GeneratorBuilder, Id, Layout, ManualClock,
    Overflow, Rollback, Window,
};

const TICK: u64 = 1_000;

/// Returns two layouts. In the first layout, the node is in higher bits than the sequence. In the
/// second layout, the sequence is in higher bits than the node.
fn layouts() -> [Layout; 2] {
    ["t41.n10.s3@1288834974657/1ms", "t39.s3.n16@1409529600000/10ms"]
        .map(|text| text.parse().unwrap())
}

fn on(layout: Layout) -> (ManualClock, GeneratorBuilder) {
    let clock = ManualClock::new(layout.unix_ms_at(TICK));
    (clock.clone(), Generator::builder(layout).clock(clock))
}

fn assert_increasing(ids: &[Id]) {
    assert!(ids.is_sorted_by(|a, b| a < b), "the IDs must increase");
}

/// Returns all IDs of the given nodes in one tick of the layout, in increasing order.
fn all_of(layout: Layout, nodes: &[u64], tick: u64) -> Vec<Id> {
    let mut ids: Vec<Id> = nodes
        .iter()
        .flat_map(|node| (0..=layout.max_sequence()).map(move |sequence| (*node, sequence)))
        .map(|(node, sequence)| {
            let parts = layout.parts_at(layout.unix_ms_at(tick)).unwrap();
            let mut parts = parts;
            (parts.node, parts.sequence) = (node, sequence);
            layout.pack(&parts).unwrap()
        })
        .collect();
    ids.sort_unstable();
    ids
}

#[test]
fn generator_issues_every_id_of_every_node_in_order() {
    for layout in layouts() {
        for nodes in [&[9][..], &[9, 2], &[1, 3, 1000, 2], &[0, 1, 2, 3, 4, 5, 6, 7]] {
            let (clock, builder) = on(layout);
            let generator = builder.nodes(nodes).build().unwrap();
            assert!(generator.nodes().is_sorted());
            assert_eq!(generator.node(), nodes.iter().min().copied());
            let mut ids = Vec::new();
            while let Ok(id) = generator.try_next_id() {
                ids.push(id);
            }
            assert_eq!(ids, all_of(layout, nodes, TICK));
            clock.advance(std::time::Duration::from_millis(layout.unit_ms()));
            // The IDs are requested in pieces whose sizes vary, so that some pieces begin and end in the middle of a
            // node's IDs.
            let mut filled = vec![Id::default(); ids.len()];
            let (mut have, mut piece) = (0, 1);
            while have < filled.len() {
                let end = filled.len().min(have + piece);
                have += generator.try_fill(&mut filled[have..end]).unwrap();
                piece = piece * 2 + 1;
            }
            assert_eq!(filled, all_of(layout, nodes, TICK + 1));
            assert_eq!(generator.try_next_id().unwrap_err().kind(), ErrorKind::SequenceExhausted);
        }
    }
}

#[test]
fn threads_and_rings_on_several_nodes_issue_distinct_ids() {
    let builder = Generator::builder(Layout::TWITTER).nodes(&[601, 602, 603, 604]);
    let generator = builder.build().unwrap();
    let cached = CachedGenerator::new(&generator).unwrap();
    let ids: Vec<Vec<Id>> = thread::scope(|scope| {
        let (generator, cached) = (&generator, &cached);
        let take = |mut next: Box<dyn FnMut() -> Id + Send>| {
            scope.spawn(move || (0..50_000).map(|_| next()).collect::<Vec<Id>>())
        };
        let mut local = generator.local();
        let threads = [
            take(Box::new(|| generator.next_id().unwrap())),
            take(Box::new(|| generator.next_id().unwrap())),
            take(Box::new(move || local.next_id().unwrap())),
            take(Box::new(|| cached.next_id().unwrap())),
        ];
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    for ids in &ids {
        assert_increasing(ids);
    }
    let all: BTreeSet<Id> = ids.concat().into_iter().collect();
    assert_eq!(all.len(), 200_000, "IDs are unique (I1)");
    let nodes: BTreeSet<u64> =
        all.iter().map(|id| Layout::TWITTER.unpack(*id).unwrap().node).collect();
    assert!(nodes.is_subset(&BTreeSet::from([601, 602, 603, 604])));
}

#[test]
fn generator_with_several_nodes_stays_within_its_window() {
    let layout = layouts()[0];
    let (clock, builder) = on(layout);
    let generator = builder
        .nodes(&[1, 2])
        .window(Window::new(TICK, TICK + 3).unwrap())
        .overflow(Overflow::Borrow)
        .build()
        .unwrap();
    let mut ids = vec![Id::default(); 100];
    let filled = generator.try_fill(&mut ids).unwrap();
    let expected: Vec<Id> =
        (TICK..TICK + 3).flat_map(|tick| all_of(layout, &[1, 2], tick)).collect();
    assert_eq!(ids[..filled], expected);
    assert_eq!(generator.try_next_id().unwrap_err().kind(), ErrorKind::LeaseExpired);
    generator.extend(TICK + 4).unwrap();
    assert_eq!(generator.try_next_id().unwrap(), all_of(layout, &[1, 2], TICK + 3)[0]);
    clock.set(layout.unix_ms_at(TICK + 9));
    assert_eq!(generator.retire().unwrap(), Some(TICK + 3));
}

#[test]
fn generators_can_share_nodes_only_if_their_node_sets_are_identical() {
    let build = |nodes: &[u64]| Generator::builder(Layout::TWITTER).nodes(nodes).build();
    let (one, other) = (build(&[611, 612]).unwrap(), build(&[612, 611]).unwrap());
    let ids: Vec<Id> =
        (0..1_000).flat_map(|_| [one.next_id().unwrap(), other.next_id().unwrap()]).collect();
    assert_increasing(&ids);
    drop((one, other));
    assert!(build(&[611, 612]).unwrap().next_id().unwrap() > ids[ids.len() - 1]);
    for nodes in [&[611][..], &[612, 613], &[610, 611, 612, 613]] {
        let error = build(nodes).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidOption);
        assert!(error.to_string().contains("always with the same"), "{error}");
    }
    assert!(Generator::new(Layout::TWITTER, 612).is_err());
    build(&[610])
        .unwrap_or_else(|error| panic!("a rejected set must not reserve its nodes: {error}"));
    build(&[613]).unwrap();
}

#[test]
fn generator_builder_rejects_invalid_node_sets() {
    type Change = fn(GeneratorBuilder) -> GeneratorBuilder;
    let refused = |layout: &str, change: Change| -> Error {
        let (_clock, builder) = on(layout.parse().unwrap());
        change(builder).build().unwrap_err()
    };
    let plain = "t41.n10.s12@1288834974657/1ms";
    let cases: [(&str, Change, &str); 8] = [
        (plain, |b| b.nodes(&[]), "0 nodes"),
        (plain, |b| b.nodes(&[1, 2, 3]), "power of two"),
        (plain, |b| b.nodes(&[1, 2, 3, 2]), "node 2 is given twice"),
        (plain, |b| b.nodes(&[1, 2]).node(1), "not both"),
        (plain, |b| b.nodes(&[1, 2]).datacenter(1).worker(1), "not both"),
        (plain, |b| b.nodes(&[1, 2]).sequence_mask(1023), "several nodes"),
        ("t41.n10.c2.s3@1288834974657/1ms", |b| b.nodes(&[1, 2]), "clock sequence"),
        ("t41.n1.s22@1288834974657/1ms", |b| b.nodes(&[0, 1]), "at most 63 bits"),
    ];
    for (layout, change, what) in cases {
        let error = refused(layout, change);
        assert_eq!(error.kind(), ErrorKind::InvalidOption, "{error}");
        assert!(error.to_string().contains(what), "{error}");
    }
    let error = refused(plain, |b| b.nodes(&[1, 1024]));
    assert_eq!((error.kind(), error.field()), (ErrorKind::FieldOutOfRange, Some("node")));
    let error = refused(plain, |b| b.nodes(&[1, 2]).rollback(Rollback::ClockSequence));
    assert_eq!(error.kind(), ErrorKind::InvalidOption);
}
