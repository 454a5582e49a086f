//! Tests of all overflow and rollback policies. Each test vector contains clock readings, and the IDs or errors that a
//! generator must return for these readings.

use std::time::Duration;

use flakeid_core::{Clock, Error, Generator, Id, Layout, ManualClock, Window};
use serde_json::Value;

use crate::{load, number, optional, rows, text};

fn build(row: &Value, clock: &ManualClock) -> Result<Generator, Error> {
    let layout: Layout = text(row, "layout").parse()?;
    let options = &row["options"];
    let mut builder = Generator::builder(layout)
        .node(number(row, "node"))
        .clock(clock.clone())
        .overflow(text(options, "overflow").parse()?)
        .rollback(text(options, "rollback").parse()?);
    if let Some(mask) = optional(options, "sequence_mask") {
        builder = builder.sequence_mask(mask);
    }
    if let Some(ms) = optional(options, "max_ahead_ms") {
        builder = builder.max_ahead(Duration::from_millis(ms));
    }
    if let Some(ms) = optional(options, "max_wait_ms") {
        builder = builder.max_wait(Duration::from_millis(ms));
    }
    let window = &row["window"];
    if !window.is_null() {
        builder = builder.window(Window::new(number(window, "start"), number(window, "fence"))?);
    }
    builder.build()
}

/// The result of a call to a generator, as the vector file represents it.
enum Outcome {
    Ids { wanted: usize, ids: Vec<Id> },
    LastTick(Option<u64>),
    Nothing,
}

fn call(generator: &Generator, step: &Value) -> Result<Outcome, Error> {
    let fill = |by: fn(&Generator, &mut [Id]) -> Result<usize, Error>| {
        let wanted = step["n"].as_u64().unwrap() as usize;
        let mut ids = vec![Id::default(); wanted];
        let count = by(generator, &mut ids)?;
        ids.truncate(count);
        Ok(Outcome::Ids { wanted, ids })
    };
    let one = |id| Outcome::Ids { wanted: 1, ids: vec![id] };
    match text(step, "call") {
        "next_id" => generator.next_id().map(one),
        "try_next_id" => generator.try_next_id().map(one),
        "fill" => fill(Generator::fill),
        "try_fill" => fill(Generator::try_fill),
        "extend" => generator.extend(number(step, "fence")).map(|()| Outcome::Nothing),
        "retire" => generator.retire().map(Outcome::LastTick),
        other => panic!("call {other}"),
    }
}

fn check_error(error: &Error, expect: &Value, place: &str) {
    assert_eq!(Some(error.code()), expect["error"].as_str(), "{place}: {error}");
    let ms = |duration: Duration| duration.as_millis() as u64;
    assert_eq!(error.retry_after().map(ms), optional::<u64>(expect, "retry_after_ms"), "{place}");
    assert_eq!(error.rollback().map(ms), optional::<u64>(expect, "by_ms"), "{place}");
    assert_eq!(error.horizon(), optional::<i64>(expect, "horizon"), "{place}");
}

fn check_outcome(outcome: &Outcome, expect: &Value, place: &str) {
    assert!(expect["error"].is_null(), "{place}: expected {expect}");
    match outcome {
        Outcome::Ids { wanted, ids } => {
            let numbers: Vec<u64> = ids.iter().map(|id| id.to_u64()).collect();
            if let Some(id) = optional::<u64>(expect, "id") {
                assert_eq!((*wanted, &numbers[..]), (1, &[id][..]), "{place}");
            } else {
                assert_eq!(Some(numbers.len() as u64), expect["count"].as_u64(), "{place}");
                assert_eq!(numbers.first().copied(), optional::<u64>(expect, "first"), "{place}");
                assert_eq!(numbers.last().copied(), optional::<u64>(expect, "last"), "{place}");
            }
        }
        Outcome::LastTick(tick) => {
            assert_eq!(*tick, optional::<u64>(expect, "last_tick"), "{place}");
        }
        Outcome::Nothing => assert!(expect.as_object().unwrap().is_empty(), "{place}"),
    }
}

#[test]
fn generators_follow_every_schedule_in_the_test_vectors() {
    let file = load("schedules");
    for row in rows(&file, "schedules") {
        let name = text(row, "name");
        let clock = ManualClock::new(number(row, "clock"));
        let generator = match (build(row, &clock), &row["build_error"]) {
            (Ok(generator), Value::Null) => generator,
            (Err(error), expected) if !expected.is_null() => {
                assert_eq!(error.code(), text(expected, "code"), "{name}: {error}");
                assert_eq!(error.field(), expected["field"].as_str(), "{name}");
                continue;
            }
            (Ok(_), expected) => panic!("{name}: built, but expected {expected}"),
            (Err(error), _) => panic!("{name}: {error}"),
        };
        for (index, step) in rows(row, "steps").iter().enumerate() {
            let place = format!("{name}, step {index}: {step}");
            if let Some(ms) = optional(step, "clock") {
                clock.set(ms);
            }
            match call(&generator, step) {
                Ok(outcome) => check_outcome(&outcome, &step["expect"], &place),
                Err(error) => check_error(&error, &step["expect"], &place),
            }
            assert_eq!(clock.unix_ms(), number::<i64>(step, "clock_after"), "{place}");
        }
        let (stats, expected) = (generator.stats(), &row["stats"]);
        assert_eq!(Some(stats.waits), expected["waits"].as_u64(), "{name}");
        assert_eq!(Some(stats.rollbacks), expected["rollbacks"].as_u64(), "{name}");
        assert_eq!(stats.largest_ahead, number::<u64>(expected, "largest_ahead"), "{name}");
    }
}
