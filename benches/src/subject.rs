//! The generators of flakeid that are measured.
//!
//! Generators of one layout and node in one process share their position on purpose, so every
//! row gets a layout or a node of its own.

use std::error::Error;
use std::fmt::Display;
use std::time::Duration;

use flakeid_core::{
    CachedGenerator, Clock, Generator, Id, Layout, LocalGenerator, Overflow, Window,
};

use crate::clock;

/// 22 sequence bits: 4.19 million IDs a millisecond, far more than single calls can take.
pub(crate) fn wide(epoch: u64) -> Result<Generator, Box<dyn Error>> {
    let layout: Layout = format!("t41.s22@{epoch}/1ms").parse()?;
    Ok(Generator::new(layout, 0)?)
}

/// The same on another clock.
pub(crate) fn on(clock: impl Clock, epoch: u64) -> Result<Generator, Box<dyn Error>> {
    let layout: Layout = format!("t41.s22@{epoch}/1ms").parse()?;
    Ok(Generator::builder(layout).node(0).clock(clock).build()?)
}

/// A ring of IDs of that layout. It is refilled in the background while IDs are taken.
pub(crate) fn ring(epoch: u64) -> Result<CachedGenerator, Box<dyn Error>> {
    Ok(CachedGenerator::new(wide(epoch)?)?)
}

/// Waits for a refill if the ring is empty.
#[inline]
pub(crate) fn take(ring: &CachedGenerator) -> u64 {
    issued(ring.next_id()).to_u64()
}

#[inline]
pub(crate) fn next_local(local: &mut LocalGenerator<&Generator>) -> u64 {
    issued(local.next_id()).to_u64()
}

/// 27 sequence bits: `fill` writes four million IDs a millisecond, so 22 bits would hold it up.
/// The epoch is an hour ago, because 36 bits of milliseconds last only two years.
pub(crate) fn roomy() -> Result<Generator, Box<dyn Error>> {
    let epoch = clock::unix_ms() - 3_600_000;
    let layout: Layout = format!("t36.s27@{epoch}/1ms").parse()?;
    Ok(Generator::new(layout, 0)?)
}

/// 12 sequence bits: 4096 IDs a millisecond.
pub(crate) fn twitter(node: u64) -> Result<Generator, Box<dyn Error>> {
    Ok(Generator::new(Layout::TWITTER, node)?)
}

/// The same in a window, where a full tick is no reason to wait: up to a day ahead of the clock.
pub(crate) fn borrowing(node: u64) -> Result<Generator, Box<dyn Error>> {
    let layout = Layout::TWITTER;
    let window = Window::new(layout.tick_at(clock::unix_ms().cast_signed())?, layout.max_tick())?;
    let builder = Generator::builder(layout).node(node).window(window).overflow(Overflow::Borrow);
    Ok(builder.max_ahead(Duration::from_hours(24)).build()?)
}

/// Four nodes: 16,384 IDs a millisecond.
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

/// Without IDs there is nothing to measure, so an error ends the run.
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
