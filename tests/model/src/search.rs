//! The search: breadth first, one level of steps after the other, so that every world is met after as
//! few steps as lead to it, and a way to a broken invariant is a shortest one.

use std::collections::HashSet;
use std::hash::{BuildHasherDefault, Hash, Hasher};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Instant;

use crate::fingerprint::Fingerprint;
use crate::invariant::{Event, Invariant};
use crate::scenario::Scenario;
use crate::world::{Action, World};

/// What came out of a scenario.
pub struct Outcome {
    pub states: usize,
    /// The most steps that it takes to a state.
    pub steps: usize,
    pub seconds: f64,
    /// A shortest way to a broken invariant.
    pub broken: Option<(Invariant, Vec<Action>)>,
    /// What never happened.
    pub missing: Vec<Event>,
}

/// How a world came about: the place of the one before it in its level, and which of its actions led
/// to this one.
#[derive(Clone, Copy)]
struct Origin {
    before: u32,
    action: u16,
}

/// How many worlds a thread takes at a time.
const BLOCK: usize = 256;

impl Scenario {
    /// Tries every order of events, or only of so many, or stops when something is broken.
    pub fn explore(&self, steps: Option<usize>) -> Outcome {
        let began = Instant::now();
        let known = Known::new();
        let mut level = vec![World::new(self)];
        let mut origins: Vec<Vec<Origin>> = Vec::new();
        let mut missing = self.happens.clone();
        let mut states = 0;
        known.insert(&level[0]);
        let broken = loop {
            states += level.len();
            missing.retain(|event| !level.iter().any(|world| world.shows(*event)));
            let broken = self.first_broken(&level, &origins);
            if broken.is_some() || steps == Some(origins.len()) {
                break broken;
            }
            let next = self.next_level(&level, &known);
            if next.is_empty() {
                break None;
            }
            let (worlds, from) = next.into_iter().unzip();
            level = worlds;
            origins.push(from);
        };
        let seconds = began.elapsed().as_secs_f64();
        Outcome { states, steps: origins.len(), seconds, broken, missing }
    }

    /// What one action makes of the worlds of a level, as far as it was not known.
    fn next_level(&self, level: &[World], known: &Known) -> Vec<(World, Origin)> {
        let place = AtomicUsize::new(0);
        let work = || {
            let (mut found, mut actions) = (Vec::new(), Vec::new());
            loop {
                let start = place.fetch_add(BLOCK, Ordering::Relaxed);
                let Some(rest) = level.get(start..).filter(|rest| !rest.is_empty()) else {
                    return found;
                };
                for (before, world) in (start as u32..).zip(rest.iter().take(BLOCK)) {
                    world.actions(self, &mut actions);
                    for (number, action) in (0..).zip(actions.drain(..)) {
                        let next = world.after(self, action);
                        if let Some(next) = next.filter(|next| known.insert(next)) {
                            found.push((next, Origin { before, action: number }));
                        }
                    }
                }
            }
        };
        let processors = thread::available_parallelism().map_or(1, usize::from);
        let threads = processors.min(level.len().div_ceil(BLOCK));
        thread::scope(|scope| {
            let others: Vec<_> = (1..threads).map(|_| scope.spawn(work)).collect();
            let mut found = work();
            for other in others {
                found.append(&mut other.join().expect("a thread of the search has panicked"));
            }
            found
        })
    }

    /// The first of the invariants that a world of the latest level breaks, and a way to it.
    fn first_broken(
        &self,
        level: &[World],
        origins: &[Vec<Origin>],
    ) -> Option<(Invariant, Vec<Action>)> {
        let breaks = |invariant| level.iter().position(|world| world.broken == Some(invariant));
        let (invariant, place) =
            Invariant::ALL.into_iter().find_map(|one| Some((one, breaks(one)?)))?;
        // From the last step to the first.
        let mut place = place;
        let mut numbers = Vec::new();
        for level in origins.iter().rev() {
            let Origin { before, action } = level[place];
            numbers.push(action);
            place = before as usize;
        }
        let mut world = World::new(self);
        let mut actions = Vec::new();
        let path = numbers.into_iter().rev().map(|number| {
            actions.clear();
            world.actions(self, &mut actions);
            let action = actions[usize::from(number)];
            world = world.after(self, action).expect("it was a step before");
            action
        });
        Some((invariant, path.collect()))
    }
}

/// The worlds that were met, by their fingerprints.
struct Known([Mutex<HashSet<u64, BuildHasherDefault<Fingerprint>>>; 64]);

impl Known {
    fn new() -> Self {
        Self(std::array::from_fn(|_| Mutex::default()))
    }

    /// Whether it was not known yet.
    fn insert(&self, world: &World) -> bool {
        let mut fingerprint = Fingerprint::default();
        world.hash(&mut fingerprint);
        let fingerprint = fingerprint.finish();
        let part = &self.0[(fingerprint >> 58) as usize];
        part.lock().expect("nothing panics with it").insert(fingerprint)
    }
}
