//! Repeated campaigns, until a number or a time limit is reached.

use std::time::{Duration, Instant};

use std::path::PathBuf;

use clap::{ArgGroup, Args};

use crate::store_kind::StoreKind;
use crate::summary::Summary;

/// The number of campaigns, and the file that records them.
#[derive(Args, Clone)]
#[command(group(ArgGroup::new("extent").args(["count", "limit", "table"]).multiple(true)))]
pub(crate) struct Rounds {
    /// Run campaigns one after another with increasing seeds, starting at `--seed` (or 1), and append a
    /// line of JSON for each to this file. Skip campaigns that the file already contains.
    #[arg(long, value_name = "FILE", requires = "extent")]
    pub(crate) summary: Option<PathBuf>,
    /// The number of campaigns on each kind of store that the summary contains at the end.
    #[arg(long = "rounds", value_name = "NUMBER", requires = "summary")]
    pub(crate) count: Option<u64>,
    /// Start no campaign after this time, for example 90s, 15m or 4h.
    #[arg(long = "for", value_name = "TIME", requires = "summary", value_parser = duration)]
    pub(crate) limit: Option<Duration>,
    /// Run no campaigns, but print the totals of the summary as a Markdown table.
    #[arg(long, requires = "summary", conflicts_with_all = ["count", "limit"])]
    pub(crate) table: bool,
}

impl Rounds {
    /// Returns the campaigns to run: every kind of store with one seed, then with the next.
    pub(crate) fn pending(
        &self,
        store: StoreKind,
        first_seed: u64,
        summary: &Summary,
    ) -> impl Iterator<Item = (StoreKind, u64)> + Send + use<> {
        let deadline = self.limit.map(|limit| Instant::now() + limit);
        let end = self.count.map_or(u64::MAX, |count| first_seed.saturating_add(count));
        let done = summary.seeds();
        let all =
            (first_seed..end).flat_map(move |seed| store.each().map(move |kind| (kind, seed)));
        all.filter(move |(kind, seed)| !done.contains(&(kind.name().to_owned(), *seed)))
            .take_while(move |_| deadline.is_none_or(|deadline| Instant::now() < deadline))
    }
}

fn duration(text: &str) -> Result<Duration, String> {
    let wrong =
        || format!("{text:?} is not a duration: use a number with s, m or h, such as 90s or 4h");
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let seconds = match &text[digits.len()..] {
        "s" => 1,
        "m" => 60,
        "h" => 3_600,
        _ => return Err(wrong()),
    };
    let number: u64 = digits.parse().map_err(|_| wrong())?;
    number.checked_mul(seconds).map(Duration::from_secs).ok_or_else(wrong)
}

#[cfg(test)]
mod tests {
    use flakeid_test_servers::KINDS;

    use super::*;

    #[test]
    fn duration_requires_a_number_and_a_unit() {
        assert_eq!(duration("90s"), Ok(Duration::from_secs(90)));
        assert_eq!(duration("15m"), Ok(Duration::from_secs(900)));
        assert_eq!(duration("4h"), Ok(Duration::from_secs(14_400)));
        for wrong in
            ["", "4", "h", "4d", "-1s", "1.5h", "99999999999999999999s", "9999999999999999h"]
        {
            assert!(duration(wrong).is_err_and(|why| why.contains("90s")), "{wrong:?}");
        }
    }

    #[test]
    fn campaigns_already_in_the_summary_are_not_run_again() {
        let rounds = |count, limit| Rounds { summary: None, count, limit, table: false };
        let summary = Summary::parse("{\"store\":\"redis\",\"seed\":4}\n").unwrap_or_default();
        let pending =
            |rounds: &Rounds, store| rounds.pending(store, 3, &summary).take(4).collect::<Vec<_>>();
        let redis = StoreKind::Server(&KINDS[2]);
        assert_eq!(pending(&rounds(Some(3), None), redis), [(redis, 3), (redis, 5)]);
        let first = pending(&rounds(None, Some(Duration::from_secs(60))), StoreKind::All);
        assert_eq!(first[0], (StoreKind::Sqlite, 3));
        assert_eq!(first.len(), 4);
        assert_eq!(pending(&rounds(None, Some(Duration::ZERO)), StoreKind::All), []);
    }
}
