//! The measured generators of flakeid.
//!
//! Generators of one layout and node in one process share their position, so every row has its own layout or node.

use std::error::Error;
use std::fmt::Display;
use std::time::Duration;

use flakeid_core::{
    CachedGenerator, Clock, Generator, Id, Layout, LocalGenerator, Overflow, Window,
};

use crate::clock;

/// Returns a generator with 22 sequence bits: 4.19 million IDs per millisecond, far more than single calls can use.
pub(crate) fn wide(epoch: u64) -> Result<Generator, Box<dyn Error>> {
    let layout: Layout = format!("t41.s22@{epoch}/1ms").parse()?;
    Ok(Generator::new(layout, 0)?)
}

/// Returns the same generator on another clock.
pub(crate) fn on(clock: impl Clock, epoch: u64) -> Result<Generator, Box<dyn Error>> {
    let layout: Layout = format!("t41.s22@{epoch}/1ms").parse()?;
    Ok(Generator::builder(layout).node(0).clock(clock).build()?)
}

/// Returns a ring of IDs of that layout, which is refilled in the background.
pub(crate) fn ring(epoch: u64) -> Result<CachedGenerator, Box<dyn Error>> {
    Ok(CachedGenerator::new(&wide(epoch)?)?)
}

/// Takes an ID, and waits for a refill if the ring is empty.
#[inline]
pub(crate) fn take(ring: &CachedGenerator) -> u64 {
    issued(ring.next_id()).to_u64()
}

#[inline]
pub(crate) fn next_local(local: &mut LocalGenerator) -> u64 {
    issued(local.next_id()).to_u64()
}

/// Returns a generator with 27 sequence bits, because `fill` writes four million IDs per millisecond and would wait
/// with 22. The epoch is an hour ago, because 36 bits of milliseconds last only two years.
pub(crate) fn with_large_ticks() -> Result<Generator, Box<dyn Error>> {
    let epoch = clock::unix_ms() - 3_600_000;
    let layout: Layout = format!("t36.s27@{epoch}/1ms").parse()?;
    Ok(Generator::new(layout, 0)?)
}

/// Returns a generator with 12 sequence bits: 4,096 IDs per millisecond.
pub(crate) fn twitter(node: u64) -> Result<Generator, Box<dyn Error>> {
    Ok(Generator::new(Layout::TWITTER, node)?)
}

/// Returns the same generator in a window, in which it borrows up to a day ahead instead of waiting for the next tick.
pub(crate) fn borrowing(node: u64) -> Result<Generator, Box<dyn Error>> {
    let layout = Layout::TWITTER;
    let window = Window::new(layout.tick_at(clock::unix_ms().cast_signed())?, layout.max_tick())?;
    let builder = Generator::builder(layout).node(node).window(window).overflow(Overflow::Borrow);
    Ok(builder.max_ahead(Duration::from_hours(24)).build()?)
}

/// Returns a generator with four nodes: 16,384 IDs per millisecond.
pub(crate) fn twitter_of_four(nodes: [u64; 4]) -> Result<Generator, Box<dyn Error>> {
    Ok(Generator::builder(Layout::TWITTER).nodes(&nodes).build()?)
}

#[inline]
pub(crate) fn next(generator: &Generator) -> u64 {
    issued(generator.next_id()).to_u64()
}

#[inline]
pub(crate) fn try_next(generator: &Generator) -> u64 {
    issued(generator.try_next_id()).to_u64()
}

/// Fills the array and returns how much of it was filled.
#[inline]
pub(crate) fn fill(generator: &Generator, ids: &mut [Id]) -> u64 {
    issued(generator.fill(ids)) as u64
}

/// Returns the ID, or ends the run with the error, because nothing can be measured without IDs.
#[inline]
pub(crate) fn issued<T, E: Display>(result: Result<T, E>) -> T {
    match result {
        Ok(value) => value,
        Err(error) => no_id(&error),
    }
}

#[cold]
#[inline(never)]
fn no_id(error: &dyn Display) -> ! {
    panic!("no ID to measure: {error}")
}
