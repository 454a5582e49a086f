//! How a transaction gets the file.

use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use flakeid_core::Clock;

use super::fault::reject;
use super::files::StoreFiles;
use super::session::Session;
use crate::fork_gate;
use crate::random::jitter;
use flakeid_protocol::Refusal;
use flakeid_protocol::store::{CONNECT_TIMEOUT, Fault, Ledger, Store};

/// 2026-11-01: a host's clock before this release is wrong.
const RELEASED_MS: i64 = 1_793_491_200_000;

/// Twenty years on, so is a clock that claims it: a fence in the far future would keep its node
/// out of use until then.
const LATEST_MS: i64 = RELEASED_MS + 20 * 365 * 86_400_000;

/// A store in a file.
pub(super) struct SqliteStore {
    files: StoreFiles,
    clock: Arc<dyn Clock>,
}

/// A reading of the clock that is older is not used.
const STALE: Duration = Duration::from_millis(500);

/// How one attempt ended.
enum Attempt<T> {
    Done(T),
    Locked,
    Late,
}

impl SqliteStore {
    /// Checks the file and its directory; the file is opened only for transactions.
    pub(super) fn new(url: &str, clock: &Arc<dyn Clock>, creates: bool) -> Result<Self, Fault> {
        let files = StoreFiles::parse(url, creates)?;
        files.check()?;
        Ok(Self { files, clock: Arc::clone(clock) })
    }

    /// Runs work in a session, as soon as no other process has the file.
    fn session<T>(
        &self,
        work: &mut dyn FnMut(&mut Session<'_>) -> Result<T, Fault>,
    ) -> Result<T, Fault> {
        let deadline = Instant::now() + CONNECT_TIMEOUT;
        loop {
            let obstacle = match self.attempt(work) {
                Ok(Attempt::Done(done)) => return Ok(done),
                Ok(Attempt::Locked) | Err(Fault::Conflict) => "is locked by another process",
                Ok(Attempt::Late) => "is too slow to open (an overloaded disk or host)",
                Err(fault) => return Err(fault),
            };
            if Instant::now() >= deadline {
                return Err(Fault::Unavailable(format!(
                    "{} {obstacle} for more than {} s",
                    self.files.file.display(),
                    CONNECT_TIMEOUT.as_secs()
                )));
            }
            // Outside the gate, so that forks do not wait for other processes.
            thread::sleep(Duration::from_millis(4).mul_f64(jitter()));
        }
    }

    fn attempt<T>(
        &self,
        work: &mut dyn FnMut(&mut Session<'_>) -> Result<T, Fault>,
    ) -> Result<Attempt<T>, Fault> {
        // The clock may be the user's own code, so it is read outside the gate.
        let (now, read) = (check_clock(self.clock.unix_ms())?, Instant::now());
        let Some(_gate) = fork_gate::hold() else {
            return Err(reject(
                "this process was cloned while its parent used an SQLite store: start it with \
                 fork, or exec in it",
            ));
        };
        let Some(mut session) = Session::begin(&self.files, now)? else {
            return Ok(Attempt::Locked);
        };
        // While this waited, others may have been granted later ticks from a copy that is gone now. If
        // that is found out here, the floor must not be set by the time of before. From here on nobody
        // else is granted anything.
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

    /// Whoever opens the file is its user, so a missing namespace is simply created.
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
