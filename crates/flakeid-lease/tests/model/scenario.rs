//! What is let loose, and how far: within these bounds every order of events is tried.

use std::time::Instant;

use flakeid_lease::protocol::{Bounds, Identity};
use stateright::{Checker, HasDiscoveries, Model, Property};

use crate::contents::{LAYOUT, MAX_SKEW_MS};
use crate::invariant::{Event, Invariant};
use crate::mutant::Mutant;
use crate::process::Process;
use crate::world::{Action, World};

/// What a process's clock may read when its keeper looks.
#[derive(Clone, Copy, Debug)]
pub enum Reading {
    /// The epoch, as after a dead battery.
    FarBehind,
    /// So much more than the store's.
    Off(i64),
    /// The last tick of the layout.
    FarAhead,
}

impl Reading {
    pub fn at(self, store: i64) -> i64 {
        match self {
            Self::FarBehind => LAYOUT.epoch(),
            Self::Off(by) => store + by,
            Self::FarAhead => LAYOUT.horizon() - 1,
        }
    }
}

#[derive(Clone, Debug)]
#[allow(clippy::struct_excessive_bools, reason = "each is a kind of accident")]
pub struct Scenario {
    pub name: &'static str,
    /// One process each.
    pub identities: Vec<Identity>,
    /// How many nodes the first process leases at a time; the others lease one.
    pub leased: usize,
    /// How many steps are tried at most; every order of events if `None`.
    pub steps: Option<usize>,
    pub nodes: u64,
    /// How far ahead of the clock a grant may start, in ticks.
    pub ahead: u64,
    /// What the store's clock reads, one after the other.
    pub times: Vec<i64>,
    pub readings: Vec<Reading>,
    /// How many messages of one process may be on their way.
    pub mail: usize,
    /// How many accidents there may be, of the kinds below up to the blank line.
    pub mischief: u8,
    pub crashes: bool,
    pub forks: bool,
    /// Requests reach the store more than once.
    pub repeats: bool,
    pub operates: bool,

    /// How often an older copy is put back.
    pub restorations: u8,
    /// How many copies are made at most.
    pub copies: usize,
    /// Whether rows have an age, so that their holders may go on after a restoration, and time passes
    /// before the last one.
    pub ages: bool,
    pub ttl: u64,
    pub max_window: u64,
    /// For how long a restored store grants nothing.
    pub quiet: u64,
    pub closes: bool,
    /// The store's clock may read less, as after a failover.
    pub slow_clock: bool,
    /// Whether all IDs of a tick are issued one by one, not only the first.
    pub fills_ticks: bool,
    pub mutant: Mutant,
    /// The one invariant that counts.
    pub only: Option<Invariant>,
    /// What must happen.
    pub happens: Vec<Event>,
}

impl Scenario {
    /// Two processes that want any node, clocks that agree, and no accidents.
    pub fn new(name: &'static str) -> Self {
        Self {
            name,
            identities: vec![Identity::Any; 2],
            leased: 1,
            steps: None,
            nodes: 1,
            ahead: 1,
            times: vec![0, 1, 2],
            readings: vec![Reading::Off(0)],
            mail: 1,
            mischief: 0,
            crashes: false,
            forks: false,
            repeats: false,
            operates: false,
            restorations: 0,
            copies: 1,
            ages: false,
            ttl: 1,
            max_window: 2,
            quiet: 5,
            closes: false,
            slow_clock: false,
            fills_ticks: false,
            mutant: Mutant::Nothing,
            only: None,
            happens: Vec::new(),
        }
    }
}

impl Scenario {
    pub const fn bounds(&self) -> Bounds {
        Bounds {
            max_window_ms: self.max_window,
            max_ahead_ms: self.ahead,
            max_skew_ms: MAX_SKEW_MS,
            quiet_ms: self.quiet,
        }
    }

    /// A process that knows nothing yet.
    pub fn process(&self, index: usize) -> Process {
        Process::new(if index == 0 { self.leased } else { 1 })
    }

    /// Whether it makes no difference which process is which.
    pub fn is_symmetric(&self) -> bool {
        // Without a lease a process is its node.
        self.mutant != Mutant::Plain
            && self.leased == 1
            && self.identities.windows(2).all(|pair| pair[0] == pair[1])
    }
}

/// What came out of a scenario.
pub struct Outcome {
    pub states: usize,
    pub depth: usize,
    pub seconds: f64,
    /// A way to a broken invariant.
    pub broken: Option<(Invariant, Vec<Action>)>,
    /// What never happened.
    pub missing: Vec<Event>,
}

impl Scenario {
    /// Tries every order of events, or only of so many, or stops soon after something is broken.
    pub fn explore(&self, threads: usize, steps: Option<usize>) -> Outcome {
        let began = Instant::now();
        let mut checker =
            self.clone().checker().threads(threads).finish_when(HasDiscoveries::AnyFailures);
        if let Some(steps) = steps {
            // A world is its own first step, and the last one is not looked at.
            checker = checker.target_max_depth(steps + 2);
        }
        let checker = checker.spawn_bfs().join();
        let discoveries = checker.discoveries();
        let found = Invariant::ALL.into_iter().filter_map(|invariant| {
            let path = discoveries.get(invariant.name())?.clone();
            Some((invariant, path.into_actions()))
        });
        let broken = found.min_by_key(|(_, path)| path.len());
        let is_missing = |event: &Event| !discoveries.contains_key(event.name());
        Outcome {
            states: checker.unique_state_count(),
            depth: checker.max_depth(),
            seconds: began.elapsed().as_secs_f64(),
            missing: self.happens.iter().copied().filter(is_missing).collect(),
            broken,
        }
    }
}

macro_rules! always {
    ($($invariant:ident)*) => {
        vec![$(Property::always(Invariant::$invariant.name(), |_, world: &World| {
            world.broken != Some(Invariant::$invariant)
        })),*]
    };
}

macro_rules! sometimes {
    ($event:expr; $($known:ident)*) => {
        match $event {
            $(Event::$known => Property::sometimes($event.name(), |_, world: &World| {
                Event::$known.happens(world)
            }),)*
        }
    };
}

impl Model for Scenario {
    type State = World;
    type Action = Action;

    fn init_states(&self) -> Vec<World> {
        vec![World::new(self)]
    }

    fn actions(&self, world: &World, actions: &mut Vec<Action>) {
        world.actions(self, actions);
    }

    fn next_state(&self, world: &World, action: Action) -> Option<World> {
        world.after(self, action)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        let mut properties: Vec<Property<Self>> = always!(I1 I2 I3 I4 I5 I6 I7 I8 I9 I10 I14);
        properties.extend(self.happens.iter().map(|event| {
            sometimes!(event; TwoIssue TwoHold LateConfirmation MovesOn Ousted Released
                GrantsAfterRestoration IssuesAfterRestoration Quarantined ClosedWhileAsking
                WindowsDoNotMeet Continues HasLastWindow)
        }));
        properties
    }
}
