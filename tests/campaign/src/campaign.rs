use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use clap::{Args, ValueEnum};
use flakeid_core::{Clock, SystemClock};
use flakeid_lease::store::{Location, operations};

use crate::audit::Audit;
use crate::board::{Board, GROUPS, Tally};
use crate::crew::{Crew, Recipe};
use crate::fault::{Blow, Setting, Trouble};
use crate::report::Report;
use crate::schedule::{Schedule, Terrain};
use crate::site::{self, Site};
use crate::terms;

/// The kinds of stores.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Kind {
    All,
    Sqlite,
    Postgres,
    Mysql,
    Redis,
    Etcd,
}

impl Kind {
    pub(crate) const EACH: [Self; 5] =
        [Self::Sqlite, Self::Postgres, Self::Mysql, Self::Redis, Self::Etcd];

    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::All => "all",
            Self::Sqlite => "sqlite",
            Self::Postgres => "postgres",
            Self::Mysql => "mysql",
            Self::Redis => "redis",
            Self::Etcd => "etcd",
        }
    }
}

/// A campaign.
#[derive(Args, Clone)]
pub(crate) struct Campaign {
    /// The store.
    #[arg(long)]
    store: Kind,
    /// For how long faults happen, for each store.
    #[arg(long, default_value_t = 30, value_parser = clap::value_parser!(u64).range(5..86400))]
    seconds: u64,
    /// What all chance comes from; the time if not given.
    #[arg(long)]
    seed: Option<u64>,
    /// How many worker processes.
    #[arg(long, default_value_t = 14, value_parser = clap::value_parser!(u64).range(12..=32))]
    workers: u64,
    /// How many IDs per second each worker makes that has a node.
    #[arg(long, default_value_t = 120_000, value_parser = clap::value_parser!(u64).range(1..))]
    rate: u64,
    /// An interpreter that has the package flakeid: two of the workers are Python then.
    #[arg(long)]
    python: Option<PathBuf>,
    /// Print one line of JSON for each store, too.
    #[arg(long)]
    json: bool,
    /// Where the notebooks and events go; they are deleted if all is as it has to be.
    #[arg(long)]
    folder: PathBuf,
    /// Keep them in any case.
    #[arg(long)]
    keep: bool,
}

/// How long everything may take to be well again after the last fault: longer than the furthest
/// step of a clock, because fences may be that far ahead.
const HEALING: Duration = Duration::from_secs(60);
const PHASES: usize = 6;

impl Campaign {
    /// Runs it, and returns whether all is as it has to be.
    pub(crate) fn run(&self) -> io::Result<bool> {
        let kinds = if self.store == Kind::All { &Kind::EACH[..] } else { &[self.store] };
        let seed = self.seed.unwrap_or_else(|| SystemClock.unix_ms().cast_unsigned());
        let mut passed = true;
        for kind in kinds {
            let report = self.on(*kind, seed)?;
            report.print();
            if self.json {
                println!("{}", report.json());
            }
            if report.has_passed() && !self.keep {
                fs::remove_dir_all(self.folder.join(kind.name()))?;
            }
            passed &= report.has_passed();
        }
        Ok(passed)
    }

    fn on(&self, kind: Kind, seed: u64) -> io::Result<Report> {
        let folder = self.folder.join(kind.name());
        if folder.exists() {
            fs::remove_dir_all(&folder)?;
        }
        for part in ["leased", "plain", "heartbeat", "events"] {
            fs::create_dir_all(folder.join(part))?;
        }
        let board = Arc::new(Board::open(&folder.join("board"))?);
        let site = site::of(kind)?;
        create_namespace(&*site)?;
        site.prepare()?;
        let workers = self.workers as usize;
        let places = (0..workers).map(|slot| (site.url(slot % GROUPS), group_of(&*site, slot)));
        let script = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("worker.py");
        let recipe = Recipe {
            folder: folder.clone(),
            seed,
            rate: self.rate,
            places: places.collect(),
            python: self.python.clone().map(|interpreter| (interpreter, script, 2)),
        };
        let terrain = Terrain {
            one_clock: site.has_one_clock(),
            troubles: site.troubles(),
            trouble_every_ms: if site.has_one_clock() { 1500 } else { 3000 },
        };
        let schedule = Schedule::draw(seed, self.seconds, workers, terrain);
        let crew = Crew::new(recipe, Arc::clone(&board));
        let mut field = Field::new(&*site, Arc::clone(&board), crew);
        field.begin()?;
        let began = Instant::now();
        field.fight(&schedule, Duration::from_secs(self.seconds))?;
        let healed = field.heal()?;
        let took = began.elapsed();
        board.end();
        field.crew.disband(Duration::from_secs(15))?;
        // Forked children end within three seconds, or when they see the board.
        thread::sleep(Duration::from_secs(1));
        let command = format!(
            "cargo xtask campaign --store {} --seconds {} --seed {seed}",
            kind.name(),
            self.seconds
        );
        field.report(kind, &folder, took, healed, seed, command)
    }
}

/// Whose clock a worker has.
fn group_of(site: &dyn Site, slot: usize) -> usize {
    if site.has_one_clock() { 0 } else { slot % GROUPS }
}

/// The namespace, by the operator's way.
fn create_namespace(site: &dyn Site) -> io::Result<()> {
    let location = Location::parse(&site.url(0)).map_err(io::Error::other)?;
    let clock: Arc<dyn Clock> = Arc::new(SystemClock);
    let mut store = location.connect(&clock).map_err(io::Error::other)?;
    let wanted = terms::namespace(site.max_ahead_ms());
    operations::init(&mut *store, &wanted).map_err(io::Error::other).map(drop)
}

/// A campaign while it goes on.
struct Field<'a> {
    site: &'a dyn Site,
    board: Arc<Board>,
    crew: Crew,
    tale: Tale,
    /// IDs in each phase.
    phases: Vec<u64>,
    /// When a group's clock is set right.
    clocks: [Option<Instant>; GROUPS],
}

/// What happened, told by both threads that make things happen.
#[derive(Default)]
struct Tale {
    faults: Mutex<BTreeMap<&'static str, u64>>,
    /// While it is set no clock is set wrong.
    truce: AtomicBool,
    over: AtomicBool,
}

impl Tale {
    fn count(&self, name: &'static str) {
        *self.faults.lock().unwrap_or_else(PoisonError::into_inner).entry(name).or_default() += 1;
    }

    /// Does to the store what is due, one thing at a time; what comes too late is left out.
    fn trouble(&self, site: &dyn Site, schedule: &Schedule, began: Instant) -> io::Result<()> {
        for &(at, trouble, ms, group) in &schedule.troubles {
            let due = began + Duration::from_millis(at);
            while Instant::now() < due && !self.over.load(Ordering::SeqCst) {
                thread::sleep(Duration::from_millis(5));
            }
            if self.over.load(Ordering::SeqCst) {
                break;
            }
            let tells_time = site.has_one_clock() && trouble == Trouble::Restored;
            if tells_time {
                // The store finds out by the workers' clock, so that has to be right.
                self.truce.store(true, Ordering::SeqCst);
                thread::sleep(Duration::from_millis(50));
            }
            site.strike(trouble, Duration::from_millis(ms), group)?;
            self.count(trouble.name());
            if tells_time {
                thread::sleep(Duration::from_secs(1));
                self.truce.store(false, Ordering::SeqCst);
            }
        }
        Ok(())
    }
}

impl<'a> Field<'a> {
    fn new(site: &'a dyn Site, board: Arc<Board>, crew: Crew) -> Self {
        let (tale, phases) = (Tale::default(), Vec::new());
        Self { site, board, crew, tale, phases, clocks: [None; GROUPS] }
    }

    /// Starts the workers and waits for the first IDs.
    fn begin(&mut self) -> io::Result<()> {
        self.crew.start_all()?;
        let began = Instant::now();
        while self.board.total(Tally::Ids) == 0 {
            if began.elapsed() > HEALING {
                return Err(io::Error::other("the workers do not get the first IDs"));
            }
            self.crew.tend()?;
            thread::sleep(Duration::from_millis(5));
        }
        Ok(())
    }

    /// Everything on the schedule, for so long.
    fn fight(&mut self, schedule: &Schedule, duration: Duration) -> io::Result<()> {
        let began = Instant::now();
        let (site, tale) = (self.site, std::mem::take(&mut self.tale));
        let done = thread::scope(|scope| {
            let other = scope.spawn(|| tale.trouble(site, schedule, began));
            let done = self.hit(&tale, schedule, began, duration);
            tale.over.store(true, Ordering::SeqCst);
            let troubled = other.join();
            done.and(troubled.unwrap_or_else(|_| {
                Err(io::Error::other("the store could not be given its troubles"))
            }))
        });
        self.tale = tale;
        done
    }

    fn hit(
        &mut self,
        tale: &Tale,
        schedule: &Schedule,
        began: Instant,
        duration: Duration,
    ) -> io::Result<()> {
        let mut blows = schedule.blows.iter().peekable();
        let mut before = self.board.total(Tally::Ids);
        loop {
            let elapsed = began.elapsed();
            while self.phases.len() < PHASES
                && elapsed >= duration * (self.phases.len() as u32 + 1) / PHASES as u32
            {
                let ids = self.board.total(Tally::Ids);
                self.phases.push(ids - before);
                before = ids;
            }
            if elapsed >= duration {
                return Ok(());
            }
            self.set_clocks_right(tale.truce.load(Ordering::SeqCst));
            self.crew.tend()?;
            while let Some((_, blow)) =
                blows.next_if(|(at, _)| elapsed >= Duration::from_millis(*at))
            {
                if self.strike(*blow, tale)? {
                    tale.count(blow.name());
                }
            }
            thread::sleep(Duration::from_millis(2));
        }
    }

    /// Returns whether it could be done: what is down already cannot be hit.
    fn strike(&mut self, blow: Blow, tale: &Tale) -> io::Result<bool> {
        let later = |ms| Instant::now() + Duration::from_millis(ms);
        match blow {
            Blow::Clock { group, setting, for_ms } => {
                let group = if self.site.has_one_clock() { 0 } else { group };
                if self.clocks[group].is_some() || tale.truce.load(Ordering::SeqCst) {
                    return Ok(false);
                }
                let off = |year_ms: i64| year_ms - SystemClock.unix_ms();
                let error = match setting {
                    Setting::Off(ms) => ms,
                    Setting::Year1970 => off(86_400_000),
                    Setting::Year2080 => off(3_471_292_800_000),
                };
                self.board.set_clock_error(group, error);
                self.clocks[group] = Some(later(for_ms));
            }
            Blow::Kill { slot, children, rest_ms } => {
                return self.crew.kill(slot, children, Duration::from_millis(rest_ms));
            }
            Blow::Restart { slot, .. } | Blow::Pause { slot, .. }
                if !self.crew.is_at_work(slot) =>
            {
                return Ok(false);
            }
            Blow::Restart { slot, rest_ms } => {
                self.crew.dismiss(slot, Duration::from_millis(rest_ms));
            }
            Blow::Pause { slot, for_ms } => {
                self.crew.stop(slot, Duration::from_millis(for_ms));
            }
        }
        Ok(true)
    }

    fn set_clocks_right(&mut self, all: bool) {
        for (group, until) in self.clocks.iter_mut().enumerate() {
            if until.is_some_and(|until| all || Instant::now() >= until) {
                self.board.set_clock_error(group, 0);
                *until = None;
            }
        }
    }

    /// Ends all faults and waits until every worker has issued IDs again; returns how long that
    /// took.
    fn heal(&mut self) -> io::Result<Option<Duration>> {
        self.set_clocks_right(true);
        self.crew.gather()?;
        let slots = self.crew.len();
        let before: Vec<u64> = (0..slots).map(|slot| self.board.tally(slot, Tally::Ids)).collect();
        let began = Instant::now();
        while began.elapsed() < HEALING {
            self.crew.tend()?;
            if (0..slots).all(|slot| self.board.tally(slot, Tally::Ids) > before[slot]) {
                return Ok(Some(began.elapsed()));
            }
            thread::sleep(Duration::from_millis(5));
        }
        let silent = (0..slots).filter(|slot| self.board.tally(*slot, Tally::Ids) == before[*slot]);
        let silent = silent.map(|slot| slot.to_string()).collect::<Vec<_>>().join(", ");
        self.crew.deserters.push(format!("no IDs after the last fault from workers {silent}"));
        Ok(None)
    }

    fn report(
        self,
        kind: Kind,
        folder: &Path,
        took: Duration,
        healed: Option<Duration>,
        seed: u64,
        command: String,
    ) -> io::Result<Report> {
        let leased = Audit::of(&folder.join("leased"))?;
        let plain = Audit::of(&folder.join("plain"))?;
        let heartbeat = Audit::of(&folder.join("heartbeat"))?;
        let mut violations = self.crew.deserters.clone();
        let mut check = |wrong: bool, what: String| {
            if wrong {
                violations.push(what);
            }
        };
        check(leased.duplicates > 0, format!("I1: {} IDs twice", leased.duplicates));
        let disorder = leased.disorder + self.board.total(Tally::Disorder);
        check(disorder > 0, format!("I8: {disorder} IDs out of order"));
        check(leased.strays > 0, format!("{} IDs of other nodes", leased.strays));
        let phase = self.phases.iter().position(|ids| *ids == 0);
        check(phase.is_some(), format!("no IDs in phase {}", phase.unwrap_or_default()));
        violations.extend(leased.traces.iter().cloned());
        let void = [("plain", &plain), ("heartbeat", &heartbeat)]
            .into_iter()
            .find(|(_, control)| control.duplicates == 0)
            .map(|(name, _)| format!("the control {name} repeated no ID, so nothing is proved"));
        Ok(Report {
            store: kind.name().into(),
            seed,
            command,
            took,
            workers: self.crew.len(),
            faults: self.tale.faults.into_inner().unwrap_or_else(PoisonError::into_inner),
            phases: self.phases,
            healed,
            tallies: Report::tallies(&self.board),
            leased,
            plain,
            heartbeat,
            violations,
            void,
            lacks: self.site.lacks().map(Into::into),
        })
    }
}
