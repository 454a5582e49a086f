//! Tests of the distribution of `id mod 2^k` when IDs are generated at a low rate. The balance of
//! shards and hash partitions depends on this distribution.

#![allow(clippy::unwrap_used, clippy::panic)]

use std::time::Duration;

use flakeid_core::{Generator, Layout, ManualClock, SystemClock};

const IDS: usize = 200_000;

/// Generates one ID every few milliseconds, so that every ID is the first of its tick.
fn at_low_rate(sequence_start: u64) -> Vec<u64> {
    let clock = ManualClock::new(1_700_000_000_000);
    let generator = Generator::builder(Layout::TWITTER)
        .node(5)
        .clock(clock.clone())
        .sequence_start(sequence_start)
        .build()
        .unwrap();
    (0..IDS)
        .map(|index| {
            clock.advance(Duration::from_millis(1 + (index as u64 * 7) % 11));
            generator.next_id().unwrap().to_u64()
        })
        .collect()
}

/// Returns Pearson's chi-square statistic of `id mod 2^k` against the uniform distribution.
fn chi_square(ids: &[u64], k: u32) -> f64 {
    let mut counts = vec![0u32; 1 << k];
    for id in ids {
        counts[(id % (1 << k)) as usize] += 1;
    }
    let expected = ids.len() as f64 / f64::from(1 << k);
    counts.iter().map(|count| (f64::from(*count) - expected).powi(2) / expected).sum()
}

/// Returns the critical chi-square value, which random IDs exceed in one of a million runs on
/// average. The value is computed with the Wilson-Hilferty approximation.
fn critical(k: u32) -> f64 {
    const Z: f64 = 4.753_424;
    let df = f64::from((1 << k) - 1);
    let step = 2.0 / (9.0 * df);
    df * (1.0 - step + Z * step.sqrt()).powi(3)
}

#[test]
fn random_sequence_start_spreads_ids_evenly_across_shards() {
    let ids = at_low_rate(6);
    assert!(ids.is_sorted_by(|a, b| a < b));
    for k in 1..=6 {
        let (found, most) = (chi_square(&ids, k), critical(k));
        assert!(found < most, "k = {k}: chi-square {found} is above {most}");
    }
}

#[test]
fn ids_are_multiples_of_64_without_random_sequence_start() {
    let ids = at_low_rate(0);
    assert!(ids.iter().all(|id| id % 64 == 0));
    for k in 1..=6 {
        // All n IDs have the same remainder modulo 2^k, so the statistic is n × (2^k − 1).
        assert!(chi_square(&ids, k) >= IDS as f64);
    }
}

#[test]
fn random_sequence_start_applies_to_the_first_tick() {
    let firsts = (900..912).map(|node| {
        let builder = Generator::builder(Layout::TWITTER).node(node).sequence_start(12);
        let id = builder.clock(SystemClock).build().unwrap().next_id().unwrap();
        id.parts(&Layout::TWITTER).unwrap().sequence
    });
    let firsts: Vec<u64> = firsts.collect();
    assert!(firsts.iter().any(|first| *first != firsts[0]), "{firsts:?}");
}
