//! A store in an `SQLite` file. Each request waits until no other process is using the file.

use std::cell::Cell;
use std::sync::Arc;
use std::time::{Duration, Instant};

use flakeid_core::Clock;

use super::fault::reject;
use super::files::StoreFiles;
use super::session::Session;
use crate::random::jitter;
use crate::retry::{Conflicts, retry};
use crate::{fork_gate, machine};
use flakeid_protocol::Refusal;
use flakeid_protocol::steps::HostTime;
use flakeid_protocol::store::{CONNECT_TIMEOUT, Fault, Ledger, Store};

/// The earliest time that a clock may show, in Unix milliseconds: 2026-11-01. An earlier reading is wrong, because it
/// precedes the release of this version.
const RELEASED_MS: i64 = 1_793_491_200_000;

/// The latest time that a clock may show, in Unix milliseconds: 20 years after `RELEASED_MS`. A later reading is
/// rejected, because a fence in the far future would make its node unusable until that time.
const LATEST_MS: i64 = RELEASED_MS + 20 * 365 * 86_400_000;

/// A store in a file.
pub(super) struct SqliteStore {
    files: StoreFiles,
    clock: Arc<dyn Clock>,
}

/// The maximum age of a clock reading that a transaction may use.
const STALE: Duration = Duration::from_millis(500);

/// The outcome of one attempt to run a transaction.
enum Attempt<T> {
    Done(T),
    Locked,
    Late,
}

impl SqliteStore {
    /// Creates a store for the file that the URL names. Checks the file and its directory, but leaves opening the file
    /// to the transactions.
    pub(super) fn new(url: &str, clock: &Arc<dyn Clock>, creates: bool) -> Result<Self, Fault> {
        let files = StoreFiles::parse(url, creates)?;
        files.check()?;
        Ok(Self { files, clock: Arc::clone(clock) })
    }

    /// Runs `work` in a transaction, retrying for up to `CONNECT_TIMEOUT` while another process is using the file.
    fn session<T>(
        &self,
        work: &mut dyn FnMut(&mut Session<'_>) -> Result<T, Fault>,
    ) -> Result<T, Fault> {
        let is_late = Cell::new(false);
        let gave_up = |_: &Conflicts| {
            let (file, seconds) = (self.files.file.display(), CONNECT_TIMEOUT.as_secs());
            if is_late.get() {
                format!(
                    "{file} is taking too long to open: no attempt has succeeded for {seconds} s, \
                     perhaps because the disk or the host is overloaded"
                )
            } else {
                format!("{file} has been locked by another process for more than {seconds} s")
            }
        };
        // The fork gate is not held during a pause, so that a fork does not have to wait until another process releases
        // the file.
        let pause = |_: &Conflicts| Duration::from_millis(4).mul_f64(jitter());
        retry(CONNECT_TIMEOUT, pause, gave_up, |_| {
            let outcome = self.attempt(work);
            is_late.set(matches!(outcome, Ok(Attempt::Late)));
            match outcome? {
                Attempt::Done(done) => Ok(done),
                Attempt::Locked | Attempt::Late => Err(Fault::Conflict),
            }
        })
    }

    fn attempt<T>(
        &self,
        work: &mut dyn FnMut(&mut Session<'_>) -> Result<T, Fault>,
    ) -> Result<Attempt<T>, Fault> {
        // The clock is read before the fork gate is taken, because a user-supplied clock may itself call `fork`.
        let (now, read) = (check_clock(self.clock.unix_ms())?, Instant::now());
        let host = self.clock.since_boot_ms().map(|boot_ms| HostTime {
            unix_ms: now,
            boot_ms,
            boot: machine::boot_id().unwrap_or(0),
        });
        let Some(_gate) = fork_gate::hold() else {
            return Err(reject(
                "this process was cloned while its parent used an SQLite store: start it with \
                 fork, or call exec in it",
            ));
        };
        let Some(mut session) = Session::begin(&self.files, now, host)? else {
            return Ok(Attempt::Locked);
        };
        // While this session waited for the file, other processes may have received grants of later ticks, and the
        // database may then have been replaced. If this session detected the replacement, an old clock reading would
        // set the floor too low, so the attempt is repeated with a new reading. One check is sufficient, because other
        // processes are granted nothing while this session is open.
        if read.elapsed() > STALE {
            return Ok(Attempt::Late);
        }
        let done = work(&mut session)?;
        session.commit()?;
        Ok(Attempt::Done(done))
    }
}

impl Store for SqliteStore {
    fn transact(
        &mut self,
        namespace: &str,
        work: &mut dyn FnMut(&mut dyn Ledger) -> Result<(), Fault>,
    ) -> Result<(), Fault> {
        self.session(&mut |session| {
            let mut ledger = session.ledger(namespace);
            work(&mut ledger)?;
            ledger.into_outcome()
        })
    }

    fn prepare(&mut self) -> Result<(), Fault> {
        self.session(&mut |_| Ok(()))
    }

    fn namespaces(&mut self) -> Result<Vec<String>, Fault> {
        self.session(&mut |session| session.namespaces())
    }

    /// Whether a missing namespace is created. The user of a local file also administers the file, so this method
    /// returns `false` only if the store must already exist.
    fn creates_namespaces(&self) -> bool {
        self.files.creates
    }
}

fn check_clock(now: i64) -> Result<i64, Fault> {
    let by_ms = if now < RELEASED_MS { now.saturating_sub(RELEASED_MS) } else { now - LATEST_MS };
    if (RELEASED_MS..=LATEST_MS).contains(&now) {
        return Ok(now);
    }
    Err(Refusal::ImpossibleClock { by_ms }.into())
}
