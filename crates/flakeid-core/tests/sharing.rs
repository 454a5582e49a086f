//! Tests of generators that share a node in one process, and of the tick in which a new generator begins.

#![allow(clippy::unwrap_used, clippy::panic)]

use std::time::Duration;

use flakeid_core::{
    Clock, ErrorKind, Generator, Layout, ManualClock, Overflow, Spelling, SystemClock,
};

/// Returns a layout whose ticks are so long that a test does not reach the next tick by accident.
fn slow() -> Layout {
    "t36.n8.s8@0/200ms".parse().unwrap()
}

#[test]
fn ids_increase_if_two_generators_of_one_node_take_turns() {
    let one = Generator::new(Layout::TWITTER, 201).unwrap();
    let two = Generator::builder(Layout::TWITTER).datacenter(6).worker(9).build().unwrap();
    let mut last = one.next_id().unwrap();
    for _ in 0..10_000 {
        for generator in [&two, &one] {
            let id = generator.next_id().unwrap();
            assert!(id > last, "{id} after {last}");
            last = id;
        }
    }
}

#[test]
fn ids_increase_across_layouts_with_and_without_a_split_node_field() {
    let split = Generator::new(Layout::TWITTER, 33).unwrap();
    let unsplit: Layout = "t41.n10.s12@1288834974657/1ms".parse().unwrap();
    let unsplit = Generator::new(unsplit, 33).unwrap();
    split.next_id().unwrap();
    let ids: Vec<_> =
        (0..5_000).flat_map(|_| [split.next_id().unwrap(), unsplit.next_id().unwrap()]).collect();
    assert!(ids.is_sorted_by(|a, b| a < b));
}

/// Takes IDs in turn from two generators whose layouts have the same fields at the same bit positions. Checks that the
/// IDs increase. Each layout is given as the name of a preset or as a descriptor.
#[test]
fn ids_increase_across_layouts_that_differ_only_in_horizon() {
    for (node, one, other) in [
        (34, "flakeid", "plain"),
        (35, "t42.d5.w5.s12@0/1ms", "t41.n10.s12@0/1ms"),
        (36, "t41.n10.s12@1577836800000/1ms", "t39.n10.s12@1577836800000/1ms"),
        (37, "t41.c2.n9.s12@1577836800000/1ms", "t40.c2.n9.s12@1577836800000/1ms"),
        (38, "t41.r2.n8.s12@0/1ms", "t42.r2.n8.s12@0/1ms"),
    ] {
        let generators = [one, other].map(|layout| {
            let layout: Layout = layout.parse().unwrap();
            Generator::new(layout, node).unwrap()
        });
        generators[0].next_id().unwrap();
        let ids: Vec<_> = (0..5_000)
            .flat_map(|_| generators.each_ref().map(|generator| generator.next_id().unwrap()))
            .collect();
        assert!(ids.is_sorted_by(|a, b| a < b), "{one} and {other}");
    }
}

/// Checks that generators in different ID spaces can use overlapping sets of nodes: one generator uses node 40, and the
/// other generator uses nodes 40 and 41. Within one ID space, different sets that overlap are rejected.
#[test]
fn layouts_that_encode_ids_differently_have_separate_id_spaces() {
    let build = |layout: &str, nodes: &[u64]| {
        let layout: Layout = layout.parse().unwrap();
        Generator::builder(layout).nodes(nodes).build()
    };
    let own = "t41.n10.s12@5/1ms";
    build(own, &[40]).unwrap();
    for other in [
        "t41.n9.s13@5/1ms",
        "t41.s12.n10@5/1ms",
        "t41.n10.s12@6/1ms",
        "t41.n10.s12@5/10ms",
        "t41.r1.n10.s12@5/1ms",
    ] {
        build(other, &[40, 41]).unwrap();
    }
    for same in [own, "t42.d5.w5.s12@5/1ms"] {
        assert_eq!(build(same, &[40, 41]).map(drop).unwrap_err().kind(), ErrorKind::InvalidOption);
    }
}

#[test]
fn generators_with_different_policies_never_reuse_an_id() {
    let slow = slow();
    let one = Generator::new(slow, 1).unwrap();
    let first = one.next_id().unwrap();
    let two = Generator::builder(slow).node(1).overflow(Overflow::Error).sequence_mask(0).build();
    // Sequence number 0 of the current tick is already used, and the mask allows only this sequence number.
    let second = two.unwrap().try_next_id();
    if let Ok(id) = second {
        let tick = |id: flakeid_core::Id| id.parts(&slow).unwrap().tick;
        assert!(tick(id) > tick(first), "only if a new tick has begun");
    } else {
        assert_eq!(second.unwrap_err().kind(), ErrorKind::SequenceExhausted);
    }
}

#[test]
fn rebuilt_generator_continues_after_the_last_position() {
    let mut last = Generator::new(Layout::TWITTER, 202).unwrap().next_id().unwrap();
    for _ in 0..5_000 {
        // The generator does not wait for the tick after its creation, because this process has recorded which IDs of
        // the node are already used.
        let id = Generator::new(Layout::TWITTER, 202).unwrap().next_id().unwrap();
        assert!(id > last, "{id} after {last}");
        last = id;
    }
}

#[test]
fn first_id_comes_from_a_tick_after_generator_creation() {
    let layout = slow();
    for (node, overflow) in [(2, Overflow::Wait), (3, Overflow::Error)] {
        let before = layout.tick_at(SystemClock.unix_ms()).unwrap();
        let generator = Generator::builder(layout).node(node).overflow(overflow).build().unwrap();
        match generator.try_next_id() {
            Ok(id) => assert!(id.parts(&layout).unwrap().tick > before),
            Err(error) => {
                assert_eq!(error.kind(), ErrorKind::SequenceExhausted);
                assert!(error.retry_after().unwrap() <= Duration::from_millis(200));
            }
        }
        // `Overflow::Error` allows the generator to wait until its first tick begins. The option only forbids waiting
        // for the end of a tick whose IDs are used up.
        let id = generator.next_id().unwrap();
        assert!(id.parts(&layout).unwrap().tick > before);
    }
}

#[test]
fn retired_generator_is_closed_and_its_node_remains_usable() {
    let generator = Generator::new(Layout::TWITTER, 203).unwrap();
    let last = generator.next_id().unwrap();
    let tick = generator.retire().unwrap();
    assert_eq!(tick, Some(last.parts(&Layout::TWITTER).unwrap().tick));
    for result in [generator.next_id(), generator.try_next_id()] {
        assert_eq!(result.unwrap_err().kind(), ErrorKind::Closed);
    }
    assert_eq!(generator.retire().unwrap_err().kind(), ErrorKind::Closed);
    assert!(Generator::new(Layout::TWITTER, 203).unwrap().next_id().unwrap() > last);
}

#[test]
fn generators_on_manual_clocks_issue_ids_independently() {
    let clock = ManualClock::new(1_700_000_000_000);
    let build =
        || Generator::builder(Layout::TWITTER).node(1).clock(clock.clone()).build().unwrap();
    assert_eq!(build().next_id().unwrap(), build().next_id().unwrap());
}

/// Checks that a generator on a user-supplied clock begins in the tick after its creation, like a generator on the
/// system clock. An earlier process may have used the current tick.
#[test]
fn generator_on_custom_clock_skips_its_creation_tick() {
    struct Frozen;
    impl Clock for Frozen {
        fn unix_ms(&self) -> i64 {
            1_700_000_000_000
        }
        fn wait_until(&self, _: i64, _: Duration) -> Option<Duration> {
            None
        }
    }
    let generator = Generator::builder(Layout::TWITTER).node(1).clock(Frozen).build().unwrap();
    let error = generator.next_id().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::SequenceExhausted);
    assert_eq!(error.retry_after(), Some(Duration::from_millis(1)));
    assert_eq!(
        error.to_string(),
        "the generator's first tick begins in 1 ms, because earlier ticks may contain IDs of another process; \
         retry then, or call `next_id`, which waits at most `max_wait_ms`"
    );
    assert!(generator.would_wait(&error));
    let next_id = [("next_id", "nextId()")];
    let node = Spelling { options: &[("max_wait_ms", "maxWaitMs")], fields: &next_id };
    assert!(
        error
            .spelled(&node)
            .to_string()
            .ends_with("call `nextId()`, which waits at most `maxWaitMs`")
    );
}

#[test]
fn generators_and_related_types_are_send_and_sync() {
    fn crosses<T: Send + Sync + 'static>() {}
    crosses::<Generator>();
    crosses::<flakeid_core::GeneratorBuilder>();
    crosses::<ManualClock>();
    crosses::<flakeid_core::Error>();
}

#[test]
fn next_id_within_overrides_the_generators_max_wait() {
    let layout = slow();
    let short = Duration::from_millis(1);
    let builder = Generator::builder(layout).node(9).max_wait(short).sequence_mask(0);
    let generator = builder.build().unwrap();
    let long = Duration::from_secs(5);
    let mut last = generator.next_id_within(long).unwrap();
    for _ in 0..3 {
        let next = generator.next_id_within(long).unwrap();
        assert!(next.parts(&layout).unwrap().tick > last.parts(&layout).unwrap().tick);
        last = next;
    }
    let error = generator.next_id().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::SequenceExhausted);
    let mut ids = [last; 2];
    assert_eq!(generator.fill_within(&mut ids, long).unwrap(), 2);
}
