//! Campaigns of restores, each round of which has a namespace with random bounds. Windows last from two ticks to an hour,
//! and ticks a millisecond or a second.
//!
//! The environment variable `FLAKEID_TEST_RESTORES` overrides the number of rounds.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::ops::Range;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use super::StoreUnderTest;
use super::fixture::{Client, Fixture, fresh_name, renewal};
use flakeid_core::Layout;
use flakeid_protocol::operations;
use flakeid_protocol::{Bounds, Namespace, Refusal, Renew};

/// The number of stores on which the rounds with a pause run at the same time.
const AT_ONCE: u32 = 8;

/// Checks that no restore lets a store grant a tick twice. The copy was made before the first grant in two thirds of the
/// rounds. In half of the rounds, a second copy is restored after the first one.
///
/// The store must be one in which a new namespace can grant nodes right after a restore.
///
/// # Panics
/// If the store grants a tick twice, leaves the floor below a granted tick, or grants nothing in all rounds.
pub fn random_restores_repeat_no_tick(under_test: &dyn StoreUnderTest, rounds: u32) {
    let (rounds, mut counts, mut low_floors) = (rounds_or(rounds), Counts::default(), Vec::new());
    for round in 0..rounds {
        low_floors.extend(restore_in_round(under_test, round, &mut counts).err());
    }
    println!("{rounds} rounds: {counts:?}");
    assert!(low_floors.is_empty(), "{low_floors:#?}");
    assert!(counts.grants >= rounds, "{counts:?}");
}

/// The counts of a campaign.
///
/// ```
/// use flakeid_conformance::campaigns::Counts;
///
/// let counts = Counts::default();
/// assert!(format!("{counts:?}").contains("restores: 0"));
/// ```
#[derive(Debug, Default)]
pub struct Counts {
    grants: u32,
    restores: u32,
    restores_before_the_first_grant: u32,
}

/// Runs a round of [`random_restores_repeat_no_tick`].
///
/// # Errors
/// A text if the store leaves the floor below a granted tick.
///
/// # Panics
/// If the store grants a tick twice.
pub fn restore_in_round(
    under_test: &dyn StoreUnderTest,
    round: u32,
    counts: &mut Counts,
) -> Result<(), String> {
    let mut random = Random { round, drawn: 0 };
    let mut fixture = Fixture::with_namespace(under_test, &random.namespace());
    fixture.clock_error_ms = random.clock_error_ms(&fixture);
    let mut client = fixture.client();
    let copied_after = random.below(6).saturating_sub(3);
    let (mut copies, mut kept_grants) = (Vec::new(), 0);
    for step in 0..3 {
        if step == copied_after {
            copies.extend((0..=random.below(2)).map(|_| under_test.backup()));
            kept_grants = fixture.log().grants();
        }
        counts.grants += u32::from(random.grant(&fixture, &mut client));
    }
    drop(client);
    for copy in copies {
        let loses_grants = fixture.log().grants() > kept_grants;
        under_test.restore(copy);
        fixture.log().record_restoration();
        counts.restores += 1;
        counts.restores_before_the_first_grant += u32::from(kept_grants == 0);
        println!("restore {}, in round {round}", counts.restores);
        // A store need not notice that it was restored to the present state.
        grant_again(&fixture).or_else(|low| if loses_grants { Err(low) } else { Ok(()) })?;
    }
    Ok(())
}

/// Checks that a process does not use what it writes, if the store was restored after its read to the state that it
/// read. In each round, the process is paused for a random time of `pauses_ms` between its read and its write, and another
/// process leases a node before the restore. The rounds run on several stores of `new` at the same time.
///
/// # Panics
/// If the store grants a tick twice, or leaves the floor below a granted tick.
pub fn random_pauses_repeat_no_tick<S: StoreUnderTest>(
    new: impl Fn() -> S + Sync,
    rounds: u32,
    pauses_ms: Range<u64>,
) {
    let rounds = rounds_or(rounds);
    let (next, low_floors) = (AtomicU32::new(0), Mutex::new(Vec::new()));
    let work = || {
        let under_test = new();
        loop {
            let round = next.fetch_add(1, Ordering::Relaxed);
            if round >= rounds {
                return;
            }
            let low_floor = pause_in_round(&under_test, round, pauses_ms.clone()).err();
            low_floors.lock().unwrap_or_else(PoisonError::into_inner).extend(low_floor);
        }
    };
    thread::scope(|scope| {
        for _ in 0..rounds.min(AT_ONCE) {
            scope.spawn(work);
        }
    });
    println!("{rounds} pauses");
    let low_floors = low_floors.into_inner().unwrap_or_else(PoisonError::into_inner);
    assert!(low_floors.is_empty(), "{low_floors:#?}");
}

fn pause_in_round(
    under_test: &dyn StoreUnderTest,
    round: u32,
    pauses_ms: Range<u64>,
) -> Result<(), String> {
    let mut random = Random { round, drawn: 0 };
    let fixture = Fixture::with_namespace(under_test, &random.namespace());
    let mut paused = fixture.client();
    if random.below(3) > 0 {
        // Nodes 0 to 2 stay free for the paused process.
        paused.grant(&fixture.longest_request(3));
    }
    let read = Instant::now();
    let request = fixture.longest_request(random.below(3));
    let pause = pauses_ms.start + random.below(pauses_ms.end - pauses_ms.start);
    let mut restored = false;
    let outcome = paused.acquire_paused(&request, &mut || {
        let copy = under_test.backup();
        let mut other = fixture.client();
        while !random.grant(&fixture, &mut other) {}
        under_test.restore(copy);
        fixture.log().record_restoration();
        thread::sleep(Duration::from_millis(pause).saturating_sub(read.elapsed()));
        restored = true;
    });
    assert!(restored, "round {round}: {outcome:?}");
    println!("pause {round}: {}", if outcome.is_ok() { "granted" } else { "refused" });
    fixture.log().check_disjoint();
    grant_again(&fixture)
}

/// Acquires nodes after a restore, and checks that no tick is granted twice. Fails if the floor is below a granted tick.
fn grant_again(fixture: &Fixture<'_>) -> Result<(), String> {
    let highest = fixture.log().highest();
    let mut client = fixture.client();
    for node in 0..3 {
        if let Err(Refusal::Foreign(_)) = client.acquire(&fixture.longest_request(node)) {
            client.persist(operations::adopt).expect("an operator may adopt a copy");
        }
    }
    fixture.log().check_disjoint();
    let listing = client.list();
    if listing.namespace.floor >= highest {
        return Ok(());
    }
    Err(format!("the floor is below {highest}: {listing:?}"))
}

fn rounds_or(usual: u32) -> u32 {
    std::env::var("FLAKEID_TEST_RESTORES")
        .map_or(usual, |text| text.parse().expect("FLAKEID_TEST_RESTORES is a number"))
}

/// Numbers that are the same in each run.
struct Random {
    round: u32,
    drawn: u32,
}

impl Random {
    fn below(&mut self, end: u64) -> u64 {
        let mut hasher = DefaultHasher::new();
        (self.round, self.drawn).hash(&mut hasher);
        self.drawn += 1;
        hasher.finish() % end
    }

    fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len() as u64) as usize]
    }

    fn namespace(&mut self) -> Namespace {
        let seconds: Layout = "t31.n10.s22@1767225600000/1s".parse().expect("a layout");
        let layout = self.pick(&[Layout::TWITTER, seconds]);
        let unit = layout.unit_ms();
        let bounds = Bounds {
            max_window_ms: self.pick(&[2 * unit, 300.max(2 * unit), 10_000, 60_000, 3_600_000]),
            max_ahead_ms: self.pick(&[0, 20_000, 3_600_000]),
            max_skew_ms: self.pick(&[1_000, 1_500, 10_000]),
            quiet_ms: 0,
        };
        let bounds = bounds.with_usual_quiet(&layout);
        Namespace { bounds, ..Namespace::new(&fresh_name("round"), layout) }
    }

    /// Returns an error of up to 0.9 × `max_skew`, unless the store's clock, which may show only whole seconds, and a
    /// delay would exceed the rest.
    fn clock_error_ms(&mut self, fixture: &Fixture<'_>) -> i64 {
        match fixture.namespace.bounds.max_skew_ms {
            10_000 => self.pick(&[-9_000, 0, 9_000]),
            _ => 0,
        }
    }

    /// Acquires one of three nodes, and renews half of the grants. Returns whether the node was granted: one that is taken
    /// over too often is too far ahead.
    fn grant(&mut self, fixture: &Fixture<'_>, client: &mut Client<'_>) -> bool {
        let Ok(grant) = client.acquire(&fixture.longest_request(self.below(3))) else {
            return false;
        };
        if self.below(2) == 0 {
            // The store may refuse the renewal of a grant that is too far ahead.
            let renewal = renewal(&grant, grant.fence + 1);
            let _ = client.renew(&Renew { now: fixture.now(), ..renewal });
        }
        true
    }
}
