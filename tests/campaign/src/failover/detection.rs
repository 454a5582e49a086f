//! The time until holders prove an event that a store cannot detect, and the repeated IDs until
//! then.

use std::collections::HashSet;
use std::fmt::{self, Display, Formatter};
use std::io;
use std::thread::sleep;
use std::time::{Duration, Instant};

use flakeid_core::{Clock, SystemClock};
use flakeid_protocol::operations;
use tempfile::TempDir;

use super::excluded::Excluded;
use super::issuer::{Fleet, Issued, NAMESPACE, create_namespace};
use crate::stores;

/// The time between two readings of the namespace.
const INTERVAL: Duration = Duration::from_millis(20);

/// The result of a measurement.
pub(super) struct Detection {
    /// The time until a holder had proved the event to the store.
    proved: Option<Duration>,
    twice: usize,
    /// The times after the event at which the first and the last repeated ID were issued, in
    /// milliseconds.
    repeated: Option<(i64, i64)>,
    ids: usize,
}

impl Detection {
    /// Runs processes that lease and issue IDs, then causes the event and starts further processes.
    pub(super) fn measure(
        mut store: Excluded,
        processes: usize,
        after: Duration,
    ) -> io::Result<Self> {
        let url = store.url();
        create_namespace(&url)?;
        let before = incarnation(&url);
        store.copy()?;
        let folder = TempDir::with_prefix("flakeid-put-back")?;
        let mut fleet = Fleet::new(&url, folder.path());
        for _ in 0..processes {
            fleet.start_with(&url, store.ahead_ms())?;
        }
        sleep(store.before());
        if store.ahead_ms() > 0 {
            fleet.stop()?;
        }
        store.begin()?;
        let (began, began_at) = (Instant::now(), SystemClock.unix_ms());
        for url in store.newcomers() {
            fleet.start_with(&url, 0)?;
        }
        let (mut proved, mut has_ended) = (None, false);
        while began.elapsed() < store.lasts() + after {
            has_ended = has_ended || store.end(began.elapsed());
            let now = incarnation(&url);
            let is_proof = store.can_be_proved() && now.is_some() && now != before;
            if proved.is_none() && is_proof {
                proved = Some(began.elapsed());
            }
            sleep(INTERVAL);
        }
        let issued = fleet.end()?;
        Ok(Self::new(proved, began_at, &issued))
    }

    fn new(proved: Option<Duration>, began_at: i64, issued: &[Issued]) -> Self {
        let mut all: Vec<(i64, u64)> =
            issued.iter().flat_map(|process| &process.ids).copied().collect();
        all.sort_unstable();
        let mut seen = HashSet::new();
        let again = all.iter().filter(|(_, id)| !seen.insert(*id));
        let times: Vec<i64> = again.map(|(at, _)| at - began_at).collect();
        let repeated = times.first().copied().zip(times.last().copied());
        Self { proved, twice: times.len(), repeated, ids: all.len() }
    }
}

/// Returns the namespace's incarnation, or `None` if it cannot be read now.
fn incarnation(url: &str) -> Option<String> {
    let mut store = stores::connect(url).ok()?;
    Some(operations::list(&mut *store, NAMESPACE).ok()?.namespace.incarnation)
}

impl Display for Detection {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        let proved =
            self.proved.map_or_else(|| "-".to_owned(), |time| format!("{:.1}", time.as_secs_f32()));
        let seconds = |ms: i64| ms as f64 / 1000.0;
        let repeated = self.repeated.map_or_else(
            || "-".to_owned(),
            |(first, last)| format!("{:.1} to {:.1}", seconds(first), seconds(last)),
        );
        write!(formatter, "{proved} | {repeated} | {} | {}", self.twice, self.ids)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn detection_report_contains_the_number_and_times_of_repeated_ids() {
        let one = Issued { began: 0, ids: vec![(10, 1), (20, 2), (630, 3)] };
        let other = Issued { began: 15, ids: vec![(22, 2), (1_530, 3), (1_540, 4), (1_700, 1)] };
        let detection = Detection::new(Some(Duration::from_millis(1_250)), 20, &[one, other]);
        assert_eq!(detection.to_string(), "1.2 | 0.0 to 1.7 | 3 | 7");
        assert_eq!(Detection::new(None, 0, &[]).to_string(), "- | - | 0 | 0");
    }
}
