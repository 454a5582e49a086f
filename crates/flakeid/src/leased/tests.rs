//! Tests of generators, local handles and rings, each with a fixed node and with a leased node.

use flakeid_core::{
    CachedGenerator, ErrorKind, Generator, Id, Layout, ManualClock, Policy, RingOptions,
};

use super::*;
use flakeid_protocol::MemoryStore;

const NODE: u64 = 5;

fn fixed() -> Generator {
    Generator::new(Layout::TWITTER, NODE).unwrap()
}

fn leased() -> Generator {
    let store = MemoryStore::new();
    LeaseBuilder::from_store(Layout::TWITTER, move || Ok(Box::new(store.clone())))
        .node_range(NODE..=NODE)
        .open()
        .unwrap()
}

/// Returns two generators for node 5: one with a fixed node, the other with a leased node.
fn both() -> [Generator; 2] {
    [fixed(), leased()]
}

#[test]
fn generator_issues_increasing_ids_on_fixed_and_leased_nodes() {
    let zero = Id::from_u64(0);
    let wait = Duration::from_secs(1);
    for generator in both() {
        let mut ids = vec![generator.next_id().unwrap()];
        ids.push(generator.next_id_within(wait).unwrap());
        // The call can fail, because other tests in this process can use up the IDs of the current tick.
        if let Ok(id) = generator.try_next_id() {
            ids.push(id);
        }
        let mut three = [zero; 3];
        assert_eq!(generator.fill(&mut three).unwrap(), 3);
        ids.extend(three);
        assert_eq!(generator.fill_within(&mut three, wait).unwrap(), 3);
        ids.extend(three);
        if let Ok(filled) = generator.try_fill(&mut three) {
            ids.extend(&three[..filled]);
        }
        ids.extend(generator.next_ids(3).unwrap());
        ids.extend(generator.next_ids_within(3, wait).unwrap());
        assert!(ids.is_sorted_by(|a, b| a < b), "{generator:?}: {ids:?}");
        assert!(ids.iter().all(|id| Layout::TWITTER.unpack(*id).unwrap().node == NODE));
        assert_eq!(generator.layout(), &Layout::TWITTER);
        assert_eq!((generator.node(), generator.nodes()), (Some(NODE), &[NODE][..]));
        assert_eq!(generator.stats().rollbacks, 0);
    }
}

#[test]
fn lease_status_exists_only_for_leased_generators() {
    let [fixed, leased] = both();
    assert!(Lease::of(&fixed).is_none());
    assert_eq!(Lease::of(&leased).unwrap().status().grants, 1);
}

#[test]
fn leased_generator_rejects_extend_and_retire() {
    let [fixed, leased] = both();
    let refused = leased.extend(1).unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::InvalidOption);
    assert!(refused.to_string().contains("with a longer window"), "{refused}");
    let refused = leased.retire().unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::InvalidOption);
    assert!(refused.to_string().contains("close it instead"), "{refused}");
    leased.next_id().unwrap();
    assert_eq!(fixed.extend(1).unwrap_err().kind(), ErrorKind::InvalidOption);
    assert!(fixed.retire().is_ok());
}

#[test]
fn closing_a_generator_closes_all_its_clones() {
    for generator in both() {
        let clone = generator.clone();
        generator.close();
        generator.close();
        assert_eq!(clone.next_id().unwrap_err().kind(), ErrorKind::Closed);
        assert_eq!(clone.try_fill(&mut [Id::from_u64(0)]).unwrap_err().kind(), ErrorKind::Closed);
    }
}

#[test]
fn max_wait_of_a_call_overrides_the_generators_max_wait() {
    // The clock is stopped and each tick has only one ID, so a second call cannot succeed.
    let clock = ManualClock::new(1_700_000_000_000);
    let builder = Generator::builder(Layout::TWITTER).node(NODE).sequence_mask(0);
    let builder = builder.clock(clock).policy(Policy::STRICT);
    let generator = builder.build().unwrap();
    generator.next_id().unwrap();
    let refused = generator.next_id_within(Duration::ZERO).unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::SequenceExhausted);
}

#[test]
fn long_fills_return_all_ids_on_fixed_and_leased_nodes() {
    for generator in both() {
        let mut ids = vec![Id::from_u64(0); 20_000];
        assert_eq!(generator.fill(&mut ids), Ok(20_000));
        assert!(ids.is_sorted_by(|a, b| a < b));
        generator.close();
        assert_eq!(generator.fill(&mut ids).unwrap_err().kind(), ErrorKind::Closed);
    }
}

#[test]
fn local_handle_ids_increase_on_fixed_and_leased_nodes() {
    for generator in both() {
        let mut local = generator.local();
        assert_eq!(local.poll(), None);
        let mut ids = vec![local.next_id().unwrap()];
        ids.push(local.next_id_within(Duration::from_secs(1)).unwrap());
        // The call can fail, because other tests in this process can use up the tick's IDs.
        ids.extend(local.try_next_id().ok());
        ids.extend(local.poll());
        assert!(ids.is_sorted_by(|a, b| a < b), "{local:?}: {ids:?}");
    }
}

#[test]
fn closing_a_generator_closes_its_local_handle() {
    for generator in both() {
        let mut local = generator.local();
        local.next_id().unwrap();
        generator.close();
        assert_eq!(local.poll(), None);
        let within = local.next_id_within(Duration::from_secs(1));
        for refused in [local.next_id(), local.try_next_id(), within] {
            assert_eq!(refused.unwrap_err().kind(), ErrorKind::Closed);
        }
    }
}

#[test]
fn local_handle_keeps_its_generator_alive() {
    for generator in both() {
        let mut local = generator.local();
        drop(generator);
        local.next_id().unwrap();
    }
}

#[test]
fn ring_issues_increasing_ids_on_fixed_and_leased_nodes() {
    for generator in both() {
        let ring = CachedGenerator::with(&generator, RingOptions::new()).unwrap();
        let mut ids = vec![ring.next_id().unwrap()];
        ids.push(ring.next_id_within(Duration::from_secs(1)).unwrap());
        // `take` fails if the ring is empty because its refill thread has not run in time.
        ids.extend(ring.take().ok());
        ids.extend(ring.try_next_id().ok());
        ids.extend(ring.poll());
        assert!(ids.is_sorted_by(|a, b| a < b), "{ring:?}: {ids:?}");
        assert!(ring.capacity() >= 2);
        assert_eq!(ring.stats().taken, ids.len() as u64);
    }
}

#[test]
fn ring_rejects_invalid_options_on_fixed_and_leased_nodes() {
    for generator in both() {
        let options = RingOptions::new().boost_power(21);
        let refused = CachedGenerator::with(&generator, options).unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::FieldOutOfRange);
    }
}

#[test]
fn closing_a_generator_closes_its_ring() {
    for generator in both() {
        let ring = CachedGenerator::with(&generator, RingOptions::new()).unwrap();
        ring.next_id().unwrap();
        generator.close();
        let within = ring.next_id_within(Duration::from_secs(1));
        for refused in [ring.next_id(), ring.take(), ring.try_next_id(), within] {
            assert_eq!(refused.unwrap_err().kind(), ErrorKind::Closed);
        }
        assert_eq!(ring.poll(), None);
    }
}

#[test]
fn closing_a_ring_makes_concurrent_calls_fail_with_a_closed_error() {
    for generator in both() {
        let ring = CachedGenerator::with(&generator, RingOptions::new()).unwrap();
        std::thread::scope(|scope| {
            let takers = [(); 2].map(|()| {
                scope.spawn(|| {
                    let refused = std::iter::repeat_with(|| ring.next_id()).find_map(Result::err);
                    refused.unwrap().kind()
                })
            });
            ring.next_id().unwrap();
            ring.close();
            for taker in takers {
                assert_eq!(taker.join().unwrap(), ErrorKind::Closed);
            }
        });
        ring.close();
        let refused = ring.stats().rejected_take;
        for refused in [ring.next_id(), ring.take()] {
            assert_eq!(refused.unwrap_err().kind(), ErrorKind::Closed);
        }
        assert_eq!((ring.poll(), ring.stats().size), (None, 0), "{ring:?}");
        assert_eq!(ring.stats().rejected_take, refused, "the end does not count as a refusal");
        generator.next_id().unwrap();
    }
}

#[test]
fn ring_keeps_its_generator_alive() {
    for generator in both() {
        let ring = CachedGenerator::with(&generator, RingOptions::new()).unwrap();
        drop(generator);
        ring.next_id().unwrap();
    }
}
