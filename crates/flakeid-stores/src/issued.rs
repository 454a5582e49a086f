//! Credentials that a program or a service issues for a limited time.

use std::collections::BTreeMap;
use std::io::Read as _;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Mutex, PoisonError, mpsc};
use std::thread;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use flakeid_core::Rfc3339;
use flakeid_core::internal::spawn_background;

use crate::fork_gate;
use flakeid_protocol::store::Fault;

/// The time before their expiry from which credentials are renewed, in milliseconds.
const EARLY_MS: i64 = 300_000;

/// The shortest time between two renewals of credentials that are still valid.
const RENEWAL_INTERVAL: Duration = Duration::from_secs(10);

/// The time limit for a program that prints credentials. Leases are not renewed while the program runs.
const PROGRAM_TIMEOUT: Duration = Duration::from_secs(2);

/// Credentials that were issued.
#[derive(Clone)]
pub(crate) struct Issued<T> {
    pub(crate) credentials: T,
    /// The time at which the credentials expire, in Unix milliseconds; `None` if they never expire.
    pub(crate) expires: Option<i64>,
}

impl<T> Issued<T> {
    /// Creates credentials with the time at which they expire, in the format of RFC 3339. Credentials with a time that
    /// cannot be read expire soon, because they would otherwise never be renewed.
    pub(crate) fn new(credentials: T, expires: Option<&str>) -> Self {
        let soon = || unix_ms().saturating_add(EARLY_MS);
        Self { credentials, expires: expires.map(|text| parse(text).unwrap_or_else(soon)) }
    }
}

/// Parses a time in the format of RFC 3339. The fraction of the second is ignored, because programs print fractions of
/// any length.
fn parse(text: &str) -> Option<i64> {
    let Some((seconds, fraction)) = text.split_once('.') else { return Rfc3339::parse(text) };
    let zone = fraction.trim_start_matches(|c: char| c.is_ascii_digit());
    Rfc3339::parse(&format!("{seconds}{zone}"))
}

/// The credentials from each source. All connections of a process share them, because a connection is replaced after
/// each fault of its store.
pub(crate) struct Issuers<S, T>(Mutex<BTreeMap<S, Kept<T>>>);

struct Kept<T> {
    issued: Issued<T>,
    /// The time of the last attempt to renew the credentials.
    tried: Instant,
    /// Whether a store has rejected the credentials.
    is_rejected: bool,
}

impl<S: Clone + Ord, T: Clone> Issuers<S, T> {
    pub(crate) const fn new() -> Self {
        Self(Mutex::new(BTreeMap::new()))
    }

    /// Returns valid credentials from a source. Calls `issue` if there are none, and at most every 10 s if they expire
    /// soon or a store has rejected them. If the renewal of valid credentials fails, returns the valid ones.
    ///
    /// # Errors
    /// The fault of `issue`.
    pub(crate) fn get(
        &self,
        source: &S,
        issue: impl FnOnce() -> Result<Issued<T>, Fault>,
    ) -> Result<T, Fault> {
        let found = self.locked(|all| {
            let kept = all.get_mut(source)?;
            let left = kept.issued.expires.map_or(i64::MAX, |at| at.saturating_sub(unix_ms()));
            let is_due = (left <= EARLY_MS || kept.is_rejected)
                && (left <= 0 || kept.tried.elapsed() >= RENEWAL_INTERVAL);
            if is_due {
                kept.tried = Instant::now();
            }
            let is_valid = left > 0 && !(is_due && kept.is_rejected);
            Some((is_valid.then(|| kept.issued.credentials.clone()), is_due))
        });
        let valid = match found.flatten() {
            Some((Some(valid), false)) => return Ok(valid),
            Some((valid, _)) => valid,
            None => None,
        };
        match (issue(), valid) {
            (Ok(issued), _) => {
                let credentials = issued.credentials.clone();
                let kept = Kept { issued, tried: Instant::now(), is_rejected: false };
                self.locked(|all| all.insert(source.clone(), kept));
                Ok(credentials)
            }
            (Err(fault), Some(valid)) => {
                log(&fault);
                Ok(valid)
            }
            (Err(fault), None) => Err(fault),
        }
    }

    /// Records that a store has rejected the credentials from a source.
    pub(crate) fn reject(&self, source: &S) {
        self.locked(|all| {
            if let Some(kept) = all.get_mut(source) {
                kept.is_rejected = true;
            }
        });
    }

    /// Runs `work` with the credentials of all sources. Returns `None` in a child that a raw `clone` created while the
    /// gate was held.
    fn locked<R>(&self, work: impl FnOnce(&mut BTreeMap<S, Kept<T>>) -> R) -> Option<R> {
        // The gate delays a fork, because the child could otherwise find the map locked forever.
        let _gate = fork_gate::hold()?;
        Some(work(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner)))
    }
}

/// Logs a failed renewal, if this build has a log.
#[cfg_attr(not(feature = "tracing"), expect(unused_variables, reason = "there is no log"))]
fn log(fault: &Fault) {
    #[cfg(feature = "tracing")]
    tracing::warn!(
        target: "flakeid::credentials",
        error = %fault,
        "credentials cannot be renewed, so the valid ones are kept"
    );
}

fn unix_ms() -> i64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(now.as_millis()).unwrap_or(i64::MAX)
}

/// Runs a program that prints credentials, and returns its output. On Unix, the program has its own process group. If
/// the program does not end within 2 s, the whole group is killed. `name` is the name of the program in messages.
///
/// # Errors
/// [`Fault::Unavailable`] if the program does not end in time; [`Fault::Rejected`] if it cannot be started or fails.
pub(crate) fn printed(name: &str, program: &mut Command) -> Result<String, Fault> {
    let deadline = Instant::now() + PROGRAM_TIMEOUT;
    let not_started = |error| Fault::Rejected(format!("{name} cannot be started ({error})"));
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(program, 0);
    program.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = program.spawn().map_err(not_started)?;
    let output = read(&mut child, deadline);
    let ended = match &output {
        Ok(Some(_)) => exit_status(&mut child, deadline),
        _ => Ended::No,
    };
    if matches!(ended, Ended::No) {
        kill(&mut child);
    }
    match (output.map_err(not_started)?, ended) {
        (Some(output), Ended::Unknown) => Ok(output),
        (Some(output), Ended::With(status)) if status.success() => Ok(output),
        (_, Ended::With(status)) => Err(Fault::Rejected(format!("{name} failed with {status}"))),
        _ => Err(Fault::Unavailable(format!(
            "{name} did not print credentials and end within {} s, so it was killed",
            PROGRAM_TIMEOUT.as_secs()
        ))),
    }
}

/// Reads the output of a program to its end. Returns `None` if the output does not end in time.
fn read(child: &mut Child, deadline: Instant) -> std::io::Result<Option<String>> {
    let Some(mut pipe) = child.stdout.take() else { return Ok(None) };
    let (sender, output) = mpsc::channel();
    spawn_background("flakeid-helper", move || {
        let mut bytes = Vec::new();
        // An output that cannot be read contains no credentials. The receiver is missing after the time limit.
        let _ = pipe.read_to_end(&mut bytes);
        let _ = sender.send(bytes);
    })?;
    let bytes = output.recv_timeout(deadline.saturating_duration_since(Instant::now()));
    Ok(bytes.ok().map(|bytes| String::from_utf8_lossy(&bytes).into_owned()))
}

/// The end of a program.
enum Ended {
    No,
    With(ExitStatus),
    /// The process that uses flakeid has waited for the program itself, or ignores the ends of its children.
    Unknown,
}

/// Waits for a program that has closed its output.
fn exit_status(child: &mut Child, deadline: Instant) -> Ended {
    loop {
        match child.try_wait() {
            Ok(None) if Instant::now() < deadline => thread::sleep(Duration::from_millis(1)),
            Ok(None) => return Ended::No,
            Ok(Some(status)) => return Ended::With(status),
            Err(_) => return Ended::Unknown,
        }
    }
}

/// Kills a program, and on Unix its process group.
fn kill(child: &mut Child) {
    // The program was not waited for, so its ID still belongs to it. Errors mean that it has already ended.
    #[cfg(unix)]
    if let Some(group) = rustix::process::Pid::from_raw(child.id().cast_signed()) {
        let _ = rustix::process::kill_process_group(group, rustix::process::Signal::KILL);
    }
    let _ = child.kill();
    let _ = child.wait();
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests only")]
mod tests {
    use std::cell::Cell;

    use super::*;

    #[allow(clippy::unnecessary_wraps, reason = "the result of a source")]
    #[test]
    fn expiry_is_read_with_a_fraction_of_any_length() {
        let whole = Issued::new((), Some("2027-01-15T08:00:00Z")).expires;
        assert_eq!(whole, Some(1_800_000_000_000));
        for text in ["2027-01-15T08:00:00.123456Z", "2027-01-15T09:00:00.9+01:00"] {
            assert_eq!(Issued::new((), Some(text)).expires, whole, "{text}");
        }
        assert_eq!(Issued::new((), None).expires, None);
        let unreadable = Issued::new((), Some("tomorrow")).expires.unwrap();
        assert!((0..=EARLY_MS).contains(&(unreadable - unix_ms())));
    }

    #[allow(clippy::unnecessary_wraps, reason = "a source returns a result")]
    fn issued(name: &'static str, seconds_left: i64) -> Result<Issued<&'static str>, Fault> {
        Ok(Issued { credentials: name, expires: Some(unix_ms() + seconds_left * 1_000) })
    }

    fn fault() -> Result<Issued<&'static str>, Fault> {
        Err(Fault::Unavailable("the source does not respond".into()))
    }

    /// Makes the last attempt appear as long ago as the shortest time between two attempts.
    fn pass<S: Clone + Ord, T: Clone>(issuers: &Issuers<S, T>, source: &S) {
        issuers.locked(|all| all.get_mut(source).unwrap().tried -= RENEWAL_INTERVAL);
    }

    #[test]
    fn credentials_that_expire_soon_are_renewed_at_most_every_ten_seconds() {
        let (issuers, calls) = (Issuers::new(), Cell::new(0));
        let get = |name, seconds_left| {
            let issue = || {
                calls.set(calls.get() + 1);
                issued(name, seconds_left)
            };
            issuers.get(&"source", issue).unwrap()
        };
        assert_eq!(get("first", 120), "first");
        assert_eq!(get("second", 120), "first");
        pass(&issuers, &"source");
        assert_eq!(get("second", 3_600), "second");
        pass(&issuers, &"source");
        assert_eq!((get("third", 3_600), calls.get()), ("second", 2));
    }

    #[test]
    fn valid_credentials_are_kept_when_their_renewal_fails() {
        let issuers = Issuers::new();
        issuers.get(&1, || issued("first", 120)).unwrap();
        pass(&issuers, &1);
        assert_eq!(issuers.get(&1, fault), Ok("first"));
        issuers.get(&2, || issued("expired", -1)).unwrap();
        assert_eq!(issuers.get(&2, fault), fault().map(|issued| issued.credentials));
        assert_eq!(issuers.get(&2, || issued("again", 120)), Ok("again"));
    }

    #[test]
    fn rejected_credentials_are_renewed_once_in_ten_seconds() {
        let issuers = Issuers::new();
        issuers.get(&1, || issued("first", 3_600)).unwrap();
        issuers.reject(&1);
        assert_eq!(issuers.get(&1, || issued("second", 3_600)), Ok("first"));
        pass(&issuers, &1);
        assert!(issuers.get(&1, fault).is_err());
        pass(&issuers, &1);
        assert_eq!(issuers.get(&1, || issued("second", 3_600)), Ok("second"));
    }

    #[cfg(unix)]
    fn sh(script: &str) -> Result<String, Fault> {
        printed("the program", Command::new("sh").args(["-c", script]))
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn program_that_hangs_is_killed_with_the_processes_that_it_started() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("pid");
        let hung = sh(&format!("sleep 600 & echo $! > {}; wait", file.display()));
        assert!(matches!(&hung, Err(Fault::Unavailable(text)) if text.contains("within 2 s")));
        let pid = std::fs::read_to_string(file).unwrap();
        // The process is a zombie until the init process has waited for it.
        let is_running = || {
            let state = std::fs::read_to_string(format!("/proc/{}/stat", pid.trim()));
            state.is_ok_and(|state| !state.contains(") Z"))
        };
        while is_running() {
            thread::yield_now();
        }
    }

    #[cfg(unix)]
    #[test]
    fn program_that_closes_its_output_and_hangs_is_killed() {
        let hung = sh("exec >&-; sleep 600");
        assert!(matches!(hung, Err(Fault::Unavailable(_))), "{hung:?}");
    }

    #[cfg(unix)]
    #[test]
    fn output_of_a_program_is_returned_if_it_succeeds() {
        assert_eq!(sh("printf '{}'"), Ok("{}".into()));
        assert!(
            matches!(sh("exit 3"), Err(Fault::Rejected(text)) if text.contains("exit status: 3"))
        );
        let missing = printed("the program", &mut Command::new("/nowhere/program"));
        assert!(
            matches!(missing, Err(Fault::Rejected(text)) if text.contains("cannot be started"))
        );
    }
}
