//! Runs generators with random options and random clock readings, and compares the generators' results with the results
//! of the model.

use std::collections::HashSet;
use std::time::Duration;

use flakeid_core::{Clock, Error, Generator, Id, ManualClock, Overflow, Policy, Rollback, Window};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::test_runner::TestCaseError;

use crate::generator::{Failure, Model, Options};
use crate::layout::BigLayout;

#[derive(Clone, Debug)]
pub enum Call {
    /// Moves the clock by the given number of milliseconds.
    Clock(i64),
    Take {
        wanted: usize,
        waits: bool,
    },
    Extend(i64),
    Retire,
}

#[derive(Clone, Debug)]
pub struct Trace {
    options: Options,
    clock: i128,
    calls: Vec<Call>,
}

/// Generates layouts that are so small that ticks fill up, windows end and the horizon is reached within a few calls.
fn small_layout() -> impl Strategy<Value = BigLayout> {
    let shape = prop_oneof![
        Just("t10.n2.s2"),
        Just("t10.s3.n2"),
        Just("t8.d1.w1.s1"),
        Just("t9.c1.n1.s2"),
        Just("t9.s1.c2"),
        Just("t12.r3.s2.n1"),
        Just("t10.n3"),
        Just("t9.c3.s1"),
    ];
    (shape, prop_oneof![Just(1), Just(7), Just(10)], prop_oneof![Just(0), Just(1000)])
        .prop_map(|(fields, unit, epoch)| BigLayout::new(fields, epoch, unit))
}

fn call(unit: i64) -> impl Strategy<Value = Call> {
    prop_oneof![
        4 => (-3..6i64).prop_map(move |ticks| Call::Clock(ticks * unit)),
        1 => (-60..60i64).prop_map(move |ticks| Call::Clock(ticks * unit + 1)),
        1 => (-2000..2000i64).prop_map(Call::Clock),
        8 => (1..12usize, any::<bool>()).prop_map(|(wanted, waits)| Call::Take { wanted, waits }),
        1 => (-5..40i64).prop_map(Call::Extend),
        1 => Just(Call::Retire),
    ]
}

pub fn any_trace() -> impl Strategy<Value = Trace> {
    let policies = (
        prop_oneof![Just(Overflow::Wait), Just(Overflow::Error), Just(Overflow::Borrow)],
        prop_oneof![
            Just(Rollback::Continue),
            Just(Rollback::Error),
            Just(Rollback::Wait),
            Just(Rollback::ClockSequence)
        ],
    );
    let times = (0..200i128, 0..60i128, 0..120i128);
    let window = prop::option::of((0..30i128, 2..20i128));
    (small_layout(), policies, times, window, any::<(u64, u8)>()).prop_flat_map(
        |(layout, (overflow, rollback), (start, ahead, wait), window, (node, mask))| {
            let has_clock_sequence = layout.most("clock_sequence") > 0;
            let at = layout.epoch + start;
            let window = window.map(|(offset, length)| {
                let from = start / layout.unit + offset - 5;
                (from.max(0), from.max(0) + length)
            });
            // The trace avoids combinations of options that `build` rejects, because other tests cover these
            // combinations.
            let window = if rollback == Rollback::ClockSequence { None } else { window };
            let mut policy = Policy::default();
            policy.overflow = match overflow {
                Overflow::Borrow if window.is_none() => Overflow::Wait,
                overflow => overflow,
            };
            policy.rollback = match rollback {
                Rollback::ClockSequence if !has_clock_sequence => Rollback::Wait,
                rollback => rollback,
            };
            let sequence = layout.most("sequence");
            let mask = (i128::from(mask) & 1) * (sequence - (sequence + 1) / 2);
            let options = Options {
                node: node % (layout.most("node") as u64 + 1),
                sequence_mask: if mask == 0 { sequence } else { mask },
                policy,
                max_ahead_ms: ahead,
                max_wait_ms: wait,
                window,
                layout,
            };
            let unit = options.layout.unit as i64;
            vec(call(unit), 1..40).prop_map(move |calls| Trace {
                options: options.clone(),
                clock: at,
                calls,
            })
        },
    )
}

fn failure(error: &Error) -> Failure {
    let ms = |duration: Duration| duration.as_millis() as i128;
    Failure {
        kind: error.kind(),
        retry_after_ms: error.retry_after().map(ms),
        by_ms: error.rollback().map(ms),
    }
}

fn build(options: &Options, clock: &ManualClock) -> Generator {
    let mut builder = Generator::builder(options.layout.to_layout())
        .node(options.node)
        .policy(options.policy)
        .sequence_mask(options.sequence_mask as u64)
        .max_ahead(Duration::from_millis(options.max_ahead_ms as u64))
        .max_wait(Duration::from_millis(options.max_wait_ms as u64))
        .clock(clock.clone());
    if let Some((start, fence)) = options.window {
        builder = builder.window(Window::new(start as u64, fence as u64).unwrap());
    }
    builder.build().unwrap()
}

pub fn check(trace: &Trace) -> Result<(), TestCaseError> {
    let clock = ManualClock::new(trace.clock as i64);
    let generator = build(&trace.options, &clock);
    let mut model = Model::new(trace.options.clone(), trace.clock);
    let mut all = HashSet::new();
    let mut last = None;
    let in_order = trace.options.policy.rollback != Rollback::ClockSequence;
    for call in &trace.calls {
        match *call {
            Call::Clock(by) => {
                clock.set(clock.unix_ms() + by);
                model.clock += i128::from(by);
            }
            Call::Take { wanted, waits } => {
                let mut ids = vec![Id::default(); wanted];
                let filled = match (waits, wanted) {
                    (true, 1) => generator.next_id().map(|id| {
                        ids[0] = id;
                        1
                    }),
                    (false, 1) => generator.try_next_id().map(|id| {
                        ids[0] = id;
                        1
                    }),
                    (true, _) => generator.fill(&mut ids),
                    (false, _) => generator.try_fill(&mut ids),
                };
                let ids = filled.map(|count| {
                    ids[..count].iter().map(|id| i128::from(id.to_u64())).collect::<Vec<_>>()
                });
                let expected = model.take(wanted, waits);
                prop_assert_eq!(ids.as_ref().map_err(failure), expected.as_ref().map_err(|e| *e));
                for id in ids.into_iter().flatten() {
                    prop_assert!(all.insert(id), "{} was issued twice", id);
                    prop_assert!(!in_order || last < Some(id), "{} is out of order", id);
                    last = Some(id);
                }
            }
            Call::Extend(ticks) => {
                let fence = (i64::try_from(model.clock).unwrap() / 7 + ticks).max(0);
                let result = generator.extend(fence as u64).map_err(|e| e.kind());
                prop_assert_eq!(result, model.extend(fence.into()));
            }
            Call::Retire => {
                let result = generator.retire().map_err(|e| e.kind());
                prop_assert_eq!(result.map(|tick| tick.map(i128::from)), model.retire());
            }
        }
        prop_assert_eq!(i128::from(clock.unix_ms()), model.clock);
    }
    let stats = generator.stats();
    prop_assert_eq!(stats.waits, model.waits);
    prop_assert_eq!(stats.rollbacks, model.rollbacks);
    prop_assert_eq!(i128::from(stats.largest_ahead), model.largest_ahead);
    Ok(())
}
