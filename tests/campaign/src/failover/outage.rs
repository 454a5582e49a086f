//! The outage that an event causes.

use std::collections::HashSet;
use std::fmt::{self, Display, Formatter};
use std::time::Duration;

use super::issuer::Issued;

/// The effects of an event on the running processes, and on a new one that starts afterwards.
#[derive(Debug)]
pub(super) struct Outage {
    down: Duration,
    /// The longest time without an ID for each process, in milliseconds, in decreasing order.
    gaps: Vec<i64>,
    /// The time until the new process had its first ID; `None` if it got none.
    wait: Option<i64>,
    ids: usize,
    pub(super) twice: usize,
}

impl Outage {
    /// Computes the outage. The last element of `issued` is the process that started after the event.
    pub(super) fn new(down: Duration, issued: &[Issued]) -> Self {
        let (new, before) =
            issued.split_last().map_or((None, issued), |(new, all)| (Some(new), all));
        let mut gaps: Vec<i64> = before.iter().map(longest_gap).collect();
        gaps.sort_unstable_by(|a, b| b.cmp(a));
        let wait = new.and_then(|new| new.ids.first().map(|(at, _)| at - new.began));
        let all = || issued.iter().flat_map(|process| process.ids.iter().map(|(_, id)| *id));
        let ids = all().count();
        Self { down, gaps, wait, ids, twice: ids - all().collect::<HashSet<_>>().len() }
    }
}

fn longest_gap(issued: &Issued) -> i64 {
    issued.ids.windows(2).map(|pair| pair[1].0 - pair[0].0).max().unwrap_or(i64::MAX)
}

impl Display for Outage {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        let seconds = |ms: i64| format!("{:.1}", ms as f64 / 1000.0);
        let (longest, others) =
            self.gaps.split_first().map_or((0, &[][..]), |(one, all)| (*one, all));
        let others: Vec<String> = others.iter().map(|gap| seconds(*gap)).collect();
        let wait = self.wait.map_or_else(|| "none".to_owned(), seconds);
        write!(
            formatter,
            "{:.1} | {} | {} | {wait} | {} | {}",
            self.down.as_secs_f64(),
            seconds(longest),
            others.join(", "),
            self.ids,
            self.twice
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn outage_report_contains_gaps_waits_and_repeated_ids() {
        let issued = |began, ids: &[(i64, u64)]| Issued { began, ids: ids.to_vec() };
        let all = [
            issued(0, &[(10, 1), (20, 2), (1_520, 3)]),
            issued(0, &[(10, 4), (20, 5), (30, 2)]),
            issued(2_000, &[(4_500, 6)]),
        ];
        let outage = Outage::new(Duration::from_millis(700), &all);
        assert_eq!(outage.to_string(), "0.7 | 1.5 | 0.0 | 2.5 | 7 | 1");
    }
}
