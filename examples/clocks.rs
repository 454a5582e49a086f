//! A clock that a test moves by hand, and the reaction of a generator when the clock goes back.

use std::time::Duration;

use flakeid::{Error, ErrorKind, Generator, Layout, ManualClock, Rollback};

fn main() -> Result<(), Error> {
    let clock = ManualClock::new(1_800_000_000_000); // Unix milliseconds
    let generator = Generator::builder(Layout::TWITTER)
        .node(7)
        .clock(clock.clone())
        .rollback(Rollback::Error)
        .build()?;
    let first = generator.next_id()?;
    clock.advance(Duration::from_millis(5));
    let second = generator.next_id()?;
    assert!(second > first);

    clock.set(1_800_000_000_000); // five milliseconds back
    let refused = generator.next_id().map_err(|error| error.kind());
    assert_eq!(refused, Err(ErrorKind::ClockRollback));
    println!("{first} {second}, then {refused:?}");
    Ok(())
}
