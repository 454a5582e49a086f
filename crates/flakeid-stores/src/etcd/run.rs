//! Which run of a cluster this is, and what is recorded about it.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use flakeid_protocol::Token;
use flakeid_protocol::store::Fault;

/// The voting members by ID, each with the start of its process as it reports it; empty if unknown.
pub(super) type Voters = BTreeMap<u64, String>;

/// After how many milliseconds, by the store's clock, a record is written again with what is known then.
/// Members that are restarted one after the other must not be so within this time.
const RECORD_AGE_MS: u64 = 5_000;

/// One run of a cluster on its data, as one member reports it.
///
/// A restored snapshot begins with the same cluster ID, an old term and a new log, while its revisions
/// go on. Every entry of the log makes one revision at most, so `slack = index − revision` never falls
/// in the life of a cluster, and falls by the whole length of the log with a restored snapshot.
///
/// A member reports the two numbers one after the other, and counts an entry shortly after its revision
/// can be seen. So the least that the slack can be is recorded, and the most that it can be is compared
/// with that; if it falls short, both numbers are read again.
///
/// Two kinds of entries count as slack although they show nothing: those that other clients add between
/// the two readings, and those without a revision (a lease, a compaction) that they add between a
/// restoration and our first transaction after it. A snapshot would be taken for its original if there
/// were as many of them as the log had entries when the run was recorded. So we make the log at least
/// 100 entries long before we record its run, and record it again when the log has become twice as long.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Run {
    pub cluster: u64,
    pub term: u64,
    /// How many entries of the log were applied.
    pub index: u64,
    pub slack: i64,
}

/// What is recorded about the run that a namespace's incarnation stands for.
///
/// A copy of all members' data that is put back goes on in a higher term, like a cluster that elected a
/// new leader, and nothing in the data tells the two apart. But a copy needs new processes. So the
/// voting members are recorded with the starts of their processes, and a higher term is an election only
/// if a majority of them still vote, in the same processes.
///
/// All this does not distinguish two runs that began with the same copy, so the incarnation has a random
/// part: a transaction that compares it knows which of them recorded it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct RunRecord {
    pub incarnation: String,
    pub run: Run,
    /// When it was written, by the store's clock in Unix milliseconds.
    pub written: i64,
    pub voters: Voters,
}

/// What a run is, compared with one that was recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RunComparison {
    Same,
    /// The same if the term is that of a new leader.
    LaterTerm,
    /// It has less slack, or fewer entries.
    Behind,
    Other,
}

impl Run {
    /// Compares this run, whose slack is at most what it says.
    pub(super) fn compare(&self, recorded: &Self) -> RunComparison {
        if self.cluster != recorded.cluster || self.term < recorded.term {
            RunComparison::Other
        } else if self.slack < recorded.slack || self.index < recorded.index {
            RunComparison::Behind
        } else if self.term > recorded.term {
            RunComparison::LaterTerm
        } else {
            RunComparison::Same
        }
    }
}

impl RunRecord {
    /// The incarnation of a cluster's run.
    pub(super) fn incarnation(cluster: u64, random: Token) -> String {
        format!("{cluster:016x}/{}", random.to_text())
    }

    pub(super) fn to_text(&self) -> String {
        let Run { cluster, term, index, slack } = self.run;
        let voters: Map<String, Value> =
            self.voters.iter().map(|(id, start)| (format!("{id:016x}"), json!(start))).collect();
        json!({
            "incarnation": self.incarnation, "cluster": format!("{cluster:016x}"), "term": term,
            "index": index, "slack": slack, "written": self.written, "voters": voters,
        })
        .to_string()
    }

    /// Reads what [`to_text`](Self::to_text) wrote; `None` for anything else.
    pub(super) fn from_text(text: &str) -> Option<Self> {
        let fields: Value = serde_json::from_str(text).ok()?;
        let hexadecimal = |text: &str| u64::from_str_radix(text, 16).ok();
        let voter =
            |(id, start): (&String, &Value)| Some((hexadecimal(id)?, start.as_str()?.to_owned()));
        Some(Self {
            incarnation: fields["incarnation"].as_str()?.to_owned(),
            run: Run {
                cluster: hexadecimal(fields["cluster"].as_str()?)?,
                term: fields["term"].as_u64()?,
                index: fields["index"].as_u64()?,
                slack: fields["slack"].as_i64()?,
            },
            written: fields["written"].as_i64()?,
            voters: fields["voters"].as_object()?.iter().map(voter).collect::<Option<_>>()?,
        })
    }

    /// Whether a cluster of several members that has these voters now may have elected a new leader
    /// since: a majority of those that were recorded still vote, in the same processes.
    pub(super) fn is_continued_by(&self, now: &Voters) -> bool {
        let remains =
            |(id, start): &(&u64, &String)| !start.is_empty() && now.get(id) == Some(*start);
        let remaining = self.voters.iter().filter(remains).count();
        now.len() > 1 && remaining > 1 && 2 * remaining > self.voters.len()
    }

    /// Whether it may be [continued](Self::is_continued_by) after all by voters some of which have not
    /// answered.
    pub(super) fn may_be_continued_by(&self, now: &Voters) -> bool {
        self.is_continued_by(&self.with_recorded(now.clone()))
    }

    /// Whether it is time to write it again.
    pub(super) fn is_due(&self, run: &Run, now: i64) -> bool {
        self.written.abs_diff(now) >= RECORD_AGE_MS || run.index / 2 >= self.run.index
    }

    /// What to write in its place about the same run. A voter that does not answer keeps the process
    /// that it had: if it answers again from the same one, that ran all the time.
    pub(super) fn rewritten(&self, run: Run, written: i64, voters: Voters) -> Self {
        let voters = self.with_recorded(voters);
        Self { incarnation: self.incarnation.clone(), run, written, voters }
    }

    /// The voters with the recorded processes of those that do not answer.
    fn with_recorded(&self, mut voters: Voters) -> Voters {
        for (id, start) in voters.iter_mut().filter(|(_, start)| start.is_empty()) {
            if let Some(recorded) = self.voters.get(id) {
                start.clone_from(recorded);
            }
        }
        voters
    }
}

/// The slack of an index and a revision.
pub(super) fn slack(index: u64, revision: u64) -> Result<i64, Fault> {
    let signed = |number: u64| i64::try_from(number).ok();
    signed(index)
        .zip(signed(revision))
        .and_then(|(index, revision)| index.checked_sub(revision))
        .ok_or_else(|| Fault::Unavailable("etcd sent an impossible index or revision".into()))
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    const RUN: Run = Run { cluster: 7, term: 2, index: 100, slack: 3 };

    fn voters(starts: &[(u64, &str)]) -> Voters {
        starts.iter().map(|(id, start)| (*id, (*start).to_owned())).collect()
    }

    fn record(starts: &[(u64, &str)]) -> RunRecord {
        let incarnation = RunRecord::incarnation(7, Token::from_bits(5));
        RunRecord { incarnation, run: RUN, written: 1_000, voters: voters(starts) }
    }

    #[test]
    fn a_restored_snapshot_and_an_older_term_are_other_runs() {
        let now = |cluster, term, index, slack| {
            Run { cluster, term, index, slack }.compare(&record(&[]).run)
        };
        assert_eq!(now(7, 2, 100, 3), RunComparison::Same);
        assert_eq!(now(7, 2, 900, 90), RunComparison::Same);
        assert_eq!(now(7, 2, 900, 2), RunComparison::Behind, "a snapshot");
        assert_eq!(now(7, 2, 99, 3), RunComparison::Behind, "a shorter log");
        assert_eq!(now(7, 9, 900, -2), RunComparison::Behind, "a snapshot in a later term");
        assert_eq!(now(7, 3, 100, 3), RunComparison::LaterTerm);
        assert_eq!(now(7, 1, 100, 3), RunComparison::Other);
        assert_eq!(now(8, 2, 100, 3), RunComparison::Other, "another cluster");
    }

    #[test]
    fn an_election_needs_a_majority_of_the_recorded_processes() {
        let recorded = record(&[(1, "a"), (2, "b"), (3, "c")]);
        for (now, continued, why) in [
            (vec![(1, "a"), (2, "b"), (3, "c")], true, "all"),
            (vec![(1, "a"), (2, "b"), (3, "")], true, "one is down"),
            (vec![(1, "a"), (2, "b"), (4, "d")], true, "one was replaced"),
            (vec![(1, "a"), (2, "b"), (3, "x")], true, "one was restarted"),
            (vec![(1, "a"), (2, "x"), (3, "x")], false, "a majority was restarted"),
            (vec![(1, "x"), (2, "x"), (3, "x")], false, "all data may have been put back"),
            (vec![(1, "a"), (4, "d"), (5, "e")], false, "a new cluster was forced"),
            (vec![(1, "a")], false, "a single member's new term is a restart"),
        ] {
            assert_eq!(recorded.is_continued_by(&voters(&now)), continued, "{why}");
        }
        assert!(!record(&[(1, "a")]).is_continued_by(&voters(&[(1, "a"), (2, "b")])));
        let unknown = record(&[(1, "a"), (2, ""), (3, "")]);
        assert!(!unknown.is_continued_by(&voters(&[(1, "a"), (2, ""), (3, "")])));
        assert!(recorded.may_be_continued_by(&voters(&[(1, "a"), (2, ""), (3, "")])));
        assert!(!recorded.may_be_continued_by(&voters(&[(1, "x"), (2, "x"), (3, "")])));
    }

    #[test]
    fn a_record_is_written_again_in_time() {
        let old = record(&[(1, "a"), (2, "b")]);
        assert!(!old.is_due(&Run { index: 199, ..RUN }, 1_000));
        assert!(old.is_due(&Run { index: 200, ..RUN }, 1_000));
        assert!(old.is_due(&RUN, 6_000) && old.is_due(&RUN, -4_000));
        let new = old.rewritten(RUN, 9_000, voters(&[(1, ""), (2, "x"), (3, "")]));
        assert_eq!(new.voters, voters(&[(1, "a"), (2, "x"), (3, "")]));
        assert_eq!(RunRecord::from_text(&new.to_text()), Some(new));
    }

    #[test]
    fn what_is_no_record_is_none() {
        let text = record(&[(u64::MAX, "1.5e+09")]).to_text();
        assert!(RunRecord::from_text(&text).is_some());
        for (from, to) in [("\"term\":2", "\"term\":-2"), ("ffff", "gggg"), ("{", "")] {
            assert_eq!(RunRecord::from_text(&text.replace(from, to)), None, "{from}");
        }
    }

    #[test]
    fn the_slack_may_be_negative_and_never_overflows() {
        assert_eq!(slack(4, 6), Ok(-2));
        assert!(slack(u64::MAX, 0).is_err());
    }
}
