//! The search: breadth first, one level of steps after the other, so that every world is met after as
//! few steps as lead to it, and a way to a broken invariant is a shortest one.

use std::collections::HashSet;
use std::fmt::Debug;
use std::hash::{BuildHasherDefault, Hash, Hasher};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Instant;

use crate::fingerprint::Fingerprint;
use crate::invariant::Invariant;

/// A scenario: which worlds there are, and what can happen in each.
pub trait Scenario: Sync {
    /// The most steps to an invariant that a mutant breaks; `None` if the search tries every order of events.
    const MOST_STEPS_OF_MUTANTS: Option<usize>;
    /// The state of everything at one moment.
    type World: Hash + Send + Sync;
    /// One thing that can happen in a world.
    type Action: Copy + Debug;
    /// A thing that must happen sometime, because a scenario in which nothing happens proves nothing.
    type Event: Copy + Debug;

    fn name(&self) -> &str;
    /// Returns the most steps to try; `None` means every order of events.
    fn steps(&self) -> Option<usize>;
    fn happens(&self) -> &[Self::Event];
    /// Returns the same scenario with one invariant that counts.
    fn only(&self, invariant: Invariant) -> Self;
    fn first(&self) -> Self::World;
    fn actions(&self, world: &Self::World, actions: &mut Vec<Self::Action>);
    /// Returns the world after an action; `None` if the action changes nothing.
    fn after(&self, world: &Self::World, action: Self::Action) -> Option<Self::World>;
    fn broken(&self, world: &Self::World) -> Option<Invariant>;
    /// Whether an event is visible in one of these worlds, or happened on the way to them.
    fn has_happened(&self, event: Self::Event, level: &[Self::World]) -> bool;
}

/// The choice of scenarios and mutants to run.
pub struct Run {
    /// A part of the names of the chosen ones.
    pub only: String,
    /// The most steps to try in every scenario; with it, mutants do not run.
    pub steps: Option<usize>,
}

impl Run {
    /// Checks that a scenario breaks no invariant and that everything happens that must.
    pub fn holds<S: Scenario>(&self, scenario: &S) {
        let name = scenario.name();
        if !name.contains(&self.only) {
            return;
        }
        let outcome = explore(scenario, self.steps.or(scenario.steps()));
        if let Some((invariant, path)) = &outcome.broken {
            for action in path {
                println!("  {action:?}");
            }
            panic!("{name}: {} is broken in {} steps", invariant.name(), path.len());
        }
        let Outcome { states, steps, seconds, missing, .. } = outcome;
        println!("test {name} ... ok: {states} states, {steps} steps, {seconds:.1} s");
        assert!(missing.is_empty(), "{name}: never happened: {missing:?}");
    }

    /// Checks that the scenario of a mutant breaks `first` before any other invariant, and whether it repeats an ID.
    pub fn refutes<S: Scenario>(
        &self,
        mutant: &str,
        scenario: &S,
        first: Invariant,
        duplicates: bool,
    ) {
        if self.steps.is_some() || !mutant.contains(&self.only) {
            return;
        }
        let most = S::MOST_STEPS_OF_MUTANTS;
        let breaks = |scenario: &S, expected: Invariant| {
            let Some((broken, path)) = explore(scenario, most).broken else {
                panic!("{mutant} does not break {} in {most:?} steps", expected.name())
            };
            assert_eq!(broken, expected, "{mutant} was refuted by {path:#?}");
            format!("{} in {} steps", broken.name(), path.len())
        };
        let mut told = breaks(scenario, first);
        if duplicates && first != Invariant::I1 {
            told = format!("{told}, {}", breaks(&scenario.only(Invariant::I1), Invariant::I1));
        } else if !duplicates && most.is_none() {
            let outcome = explore(&scenario.only(Invariant::I1), most);
            assert!(outcome.broken.is_none(), "{mutant} does repeat an ID");
            told = format!("{told}, never {} in {} states", Invariant::I1.name(), outcome.states);
        }
        println!("test mutant {mutant} ... ok: breaks {told}");
    }
}

/// The result of a search.
struct Outcome<S: Scenario> {
    states: usize,
    /// The most steps that it takes to a state.
    steps: usize,
    seconds: f64,
    /// A shortest way to a broken invariant.
    broken: Option<(Invariant, Vec<S::Action>)>,
    /// The events that never happened.
    missing: Vec<S::Event>,
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

/// Tries every order of events, or only of so many, or stops when something is broken.
fn explore<S: Scenario>(scenario: &S, steps: Option<usize>) -> Outcome<S> {
    let began = Instant::now();
    let known = Known::new();
    let mut level = vec![scenario.first()];
    let mut origins: Vec<Vec<Origin>> = Vec::new();
    let mut missing = scenario.happens().to_vec();
    let mut states = 0;
    known.insert(&level[0]);
    let broken = loop {
        states += level.len();
        missing.retain(|event| !scenario.has_happened(*event, &level));
        let broken = first_broken(scenario, &level, &origins);
        if broken.is_some() || steps == Some(origins.len()) {
            break broken;
        }
        let next = next_level(scenario, &level, &known);
        if next.is_empty() {
            break None;
        }
        let (worlds, from) = next.into_iter().unzip();
        level = worlds;
        origins.push(from);
    };
    missing.retain(|event| !scenario.has_happened(*event, &[]));
    let seconds = began.elapsed().as_secs_f64();
    Outcome { states, steps: origins.len(), seconds, broken, missing }
}

/// What one action makes of the worlds of a level, as far as it was not known.
fn next_level<S: Scenario>(
    scenario: &S,
    level: &[S::World],
    known: &Known,
) -> Vec<(S::World, Origin)> {
    let place = AtomicUsize::new(0);
    let work = || {
        let (mut found, mut actions) = (Vec::new(), Vec::new());
        loop {
            let start = place.fetch_add(BLOCK, Ordering::Relaxed);
            let Some(rest) = level.get(start..).filter(|rest| !rest.is_empty()) else {
                return found;
            };
            for (before, world) in (start as u32..).zip(rest.iter().take(BLOCK)) {
                scenario.actions(world, &mut actions);
                for (number, action) in (0..).zip(actions.drain(..)) {
                    let next = scenario.after(world, action);
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
fn first_broken<S: Scenario>(
    scenario: &S,
    level: &[S::World],
    origins: &[Vec<Origin>],
) -> Option<(Invariant, Vec<S::Action>)> {
    let broken = level.iter().map(|world| scenario.broken(world));
    let (invariant, place) = broken.zip(0..).filter_map(|(one, at)| Some((one?, at))).min()?;
    // From the last step to the first.
    let mut place: usize = place;
    let mut numbers = Vec::new();
    for level in origins.iter().rev() {
        let Origin { before, action } = level[place];
        numbers.push(action);
        place = before as usize;
    }
    let mut world = scenario.first();
    let mut actions = Vec::new();
    let path = numbers.into_iter().rev().map(|number| {
        actions.clear();
        scenario.actions(&world, &mut actions);
        let action = actions[usize::from(number)];
        world = scenario.after(&world, action).expect("it was a step before");
        action
    });
    Some((invariant, path.collect()))
}

/// The worlds that were met, by their fingerprints.
struct Known([Mutex<HashSet<u64, BuildHasherDefault<Fingerprint>>>; 64]);

impl Known {
    fn new() -> Self {
        Self(std::array::from_fn(|_| Mutex::default()))
    }

    /// Whether it was not known yet.
    fn insert(&self, world: &impl Hash) -> bool {
        let mut fingerprint = Fingerprint::default();
        world.hash(&mut fingerprint);
        let fingerprint = fingerprint.finish();
        let part = &self.0[(fingerprint >> 58) as usize];
        part.lock().expect("nothing panics with it").insert(fingerprint)
    }
}
