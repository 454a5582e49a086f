//! The breadth-first search. It explores one level of steps after the other, so that it reaches every world in the
//! fewest possible steps, and the path to a broken invariant is a shortest path.

use std::collections::HashSet;
use std::fmt::Debug;
use std::hash::{BuildHasherDefault, Hash, Hasher};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Instant;

use crate::fingerprint::Fingerprint;
use crate::invariant::Invariant;
use crate::scenario::{Event, Mutant, Scenario};

/// The state of the store and all actors at one moment.
pub trait World: Hash + Send + Sync + Sized {
    /// The maximum number of steps in the search for an invariant that a mutant breaks; `None` if the search tries
    /// every order of events.
    const MOST_STEPS_OF_MUTANTS: Option<usize>;
    /// One event that can happen in a world.
    type Action: Copy + Debug;

    fn new(scenario: &Scenario) -> Self;
    fn actions(&self, scenario: &Scenario, actions: &mut Vec<Self::Action>);
    /// Returns the world after an action, or `None` if the action changes nothing.
    fn after(&self, scenario: &Scenario, action: Self::Action) -> Option<Self>;
    fn broken(&self) -> Option<Invariant>;
    /// Whether an event is visible in this world. Events that no world records are noted in the scenario.
    fn shows(&self, _event: Event) -> bool {
        false
    }
}

/// A mutant, its scenario, the first invariant that it breaks, and whether it issues an ID twice.
pub type Refutation = (Mutant, Scenario, Invariant, bool);

/// A search with its name.
pub type Search = (String, Box<dyn Fn()>);

/// Returns the searches of all scenarios and mutants. The names of mutants begin with `mutants`. `steps` limits the
/// number of steps in every scenario. If it is set, there are no searches of mutants.
pub fn all<W: World + 'static>(
    scenarios: Vec<Scenario>,
    mutants: &str,
    refutations: Vec<Refutation>,
    steps: Option<usize>,
) -> Vec<Search> {
    let mut searches: Vec<Search> = Vec::new();
    for scenario in scenarios {
        // A name without spaces can be an argument of a command.
        let words = scenario.name.split(|c: char| !c.is_alphanumeric());
        let name = words.filter(|word| !word.is_empty()).collect::<Vec<_>>().join("_");
        searches.push((name, Box::new(move || holds::<W>(&scenario, steps))));
    }
    let refutations = if steps.is_none() { refutations } else { Vec::new() };
    for (mutant, scenario, first, duplicates) in refutations {
        let mut name = format!("{mutants}_{mutant:?}");
        if searches.iter().any(|(known, _)| *known == name) {
            name.push_str("_in_another_scenario");
        }
        let (label, scenario) = (name.clone(), Scenario { mutant, ..scenario });
        searches.push((name, Box::new(move || refutes::<W>(&label, &scenario, first, duplicates))));
    }
    searches
}

/// Checks that a scenario breaks no invariant and that all its required events occur.
fn holds<W: World>(scenario: &Scenario, steps: Option<usize>) {
    let name = scenario.name;
    let outcome = explore::<W>(scenario, steps.or(scenario.steps));
    if let Some((invariant, path)) = &outcome.broken {
        for action in path {
            println!("  {action:?}");
        }
        panic!("{name}: {} is broken in {} steps", invariant.name(), path.len());
    }
    let Outcome { states, steps, seconds, missing, .. } = outcome;
    println!("{name}: {states} states, {steps} steps, {seconds:.1} s");
    assert!(missing.is_empty(), "{name}: required events did not occur: {missing:?}");
}

/// Checks that a mutant breaks `first` before any other invariant, and that it repeats an ID if `duplicates`.
fn refutes<W: World>(mutant: &str, scenario: &Scenario, first: Invariant, duplicates: bool) {
    let most = W::MOST_STEPS_OF_MUTANTS;
    let only = Scenario { only: Some(Invariant::I1), ..scenario.clone() };
    let breaks = |scenario: &Scenario, expected: Invariant| {
        let Some((broken, path)) = explore::<W>(scenario, most).broken else {
            panic!("{mutant} does not break {} in {most:?} steps", expected.name())
        };
        assert_eq!(broken, expected, "{mutant} was refuted by {path:#?}");
        format!("{} in {} steps", broken.name(), path.len())
    };
    let mut report = breaks(scenario, first);
    if duplicates && first != Invariant::I1 {
        report = format!("{report}, {}", breaks(&only, Invariant::I1));
    } else if !duplicates && most.is_none() {
        let outcome = explore::<W>(&only, most);
        assert!(outcome.broken.is_none(), "{mutant} repeats an ID unexpectedly");
        report =
            format!("{report}, never breaks {} in {} states", Invariant::I1.name(), outcome.states);
    }
    println!("{mutant} breaks {report}");
}

/// The result of a search.
struct Outcome<W: World> {
    states: usize,
    /// The number of steps to the farthest state.
    steps: usize,
    seconds: f64,
    /// A broken invariant, and a shortest path to it.
    broken: Option<(Invariant, Vec<W::Action>)>,
    /// The required events that did not occur.
    missing: Vec<Event>,
}

/// The origin of a world: the index of the preceding world in its level, and the index of the action that led from
/// there to this world.
#[derive(Clone, Copy)]
struct Origin {
    before: u32,
    action: u16,
}

/// The number of worlds that a thread takes at a time.
const BLOCK: usize = 256;

/// Tries every order of events, or every order of at most `steps` events; stops when an invariant is broken.
fn explore<W: World>(scenario: &Scenario, steps: Option<usize>) -> Outcome<W> {
    let began = Instant::now();
    let known = Known::new();
    let mut level = vec![W::new(scenario)];
    let mut origins: Vec<Vec<Origin>> = Vec::new();
    let mut missing = scenario.happens.clone();
    let mut states = 0;
    known.insert(&level[0]);
    let broken = loop {
        states += level.len();
        missing.retain(|event| !level.iter().any(|world| world.shows(*event)));
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
    missing.retain(|event| !scenario.has_seen(*event));
    let seconds = began.elapsed().as_secs_f64();
    Outcome { states, steps: origins.len(), seconds, broken, missing }
}

/// Returns the new worlds that the search reaches from a level by one action.
fn next_level<W: World>(scenario: &Scenario, level: &[W], known: &Known) -> Vec<(W, Origin)> {
    let place = AtomicUsize::new(0);
    let work = || {
        let (mut found, mut actions) = (Vec::new(), Vec::new());
        loop {
            let start = place.fetch_add(BLOCK, Ordering::Relaxed);
            let Some(rest) = level.get(start..).filter(|rest| !rest.is_empty()) else {
                return found;
            };
            for (before, world) in (start as u32..).zip(rest.iter().take(BLOCK)) {
                world.actions(scenario, &mut actions);
                for (number, action) in (0..).zip(actions.drain(..)) {
                    let next = world.after(scenario, action);
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
            found.append(&mut other.join().expect("a search thread panicked"));
        }
        found
    })
}

/// Returns the lowest-numbered invariant that a world of the latest level breaks, and a path to that world.
fn first_broken<W: World>(
    scenario: &Scenario,
    level: &[W],
    origins: &[Vec<Origin>],
) -> Option<(Invariant, Vec<W::Action>)> {
    let broken = level.iter().map(W::broken);
    let (invariant, place) = broken.zip(0..).filter_map(|(one, at)| Some((one?, at))).min()?;
    // The origins lead from the last step back to the first.
    let mut place: usize = place;
    let mut numbers = Vec::new();
    for level in origins.iter().rev() {
        let Origin { before, action } = level[place];
        numbers.push(action);
        place = before as usize;
    }
    let mut world = W::new(scenario);
    let mut actions = Vec::new();
    let path = numbers.into_iter().rev().map(|number| {
        actions.clear();
        world.actions(scenario, &mut actions);
        let action = actions[usize::from(number)];
        world = world.after(scenario, action).expect("the search took this step before");
        action
    });
    Some((invariant, path.collect()))
}

/// The fingerprints of the worlds that the search has reached.
struct Known([Mutex<HashSet<u64, BuildHasherDefault<Fingerprint>>>; 64]);

impl Known {
    fn new() -> Self {
        Self(std::array::from_fn(|_| Mutex::default()))
    }

    /// Adds a world; returns whether the world is new.
    fn insert(&self, world: &impl Hash) -> bool {
        let mut fingerprint = Fingerprint::default();
        world.hash(&mut fingerprint);
        let fingerprint = fingerprint.finish();
        let part = &self.0[(fingerprint >> 58) as usize];
        part.lock().expect("no thread panics while it holds the lock").insert(fingerprint)
    }
}
