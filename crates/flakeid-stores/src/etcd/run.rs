//! The runs of an etcd cluster, and the records of these runs.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use flakeid_protocol::Token;
use flakeid_protocol::store::Fault;

/// A map from the IDs of the voting members to the start times that their processes reported. An unknown start time is
/// an empty string.
pub(super) type Voters = BTreeMap<u64, String>;

/// The age, in milliseconds by the store's clock, at which a run record is rewritten with current data. Two members
/// must not be restarted within this time of each other, because the cluster could then be mistaken for a restored
/// copy.
const RECORD_AGE_MS: u64 = 5_000;

/// One run of a cluster, as reported by one member.
///
/// A cluster that is restored from a snapshot has the same cluster ID, an old term and a new log, but continues the
/// snapshot's revisions. Each log entry creates at most one revision, so `slack = index − revision` never decreases
/// while a cluster exists. Restoring a snapshot lowers the slack by the whole length of the log.
///
/// A member reports the index and the revision in separate responses, and counts a log entry shortly after the entry's
/// revision becomes visible. flakeid therefore records the smallest possible slack, and compares the largest possible
/// current slack with the recorded slack. If the current slack seems smaller, flakeid reads the index and the revision
/// again.
///
/// Two kinds of log entries increase the slack and could therefore hide a restore. Other clients may add entries
/// between the readings of the index and the revision. Other clients may also add entries without a revision, such as
/// leases and compactions, between a restore and the next flakeid transaction. A restored snapshot would be mistaken
/// for the original cluster if these entries were as many as the log had when the run was recorded. flakeid therefore
/// extends the log to at least 100 entries before it records the run, and records the run again when the log has
/// doubled in length.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Run {
    pub cluster: u64,
    pub term: u64,
    /// The number of log entries that the member has applied.
    pub index: u64,
    pub slack: i64,
}

/// The record of the run that a namespace's incarnation represents.
///
/// If a copy of all members' data is restored, the cluster continues in a higher term, as after an election. The data
/// does not distinguish the two cases, but a restored copy requires new processes. The record therefore contains the
/// voting members with the start times of their processes. A higher term counts as an election only if a majority of
/// the recorded members still vote, in the same processes.
///
/// The start times do not distinguish two runs that began with the same copy, so the incarnation contains a random
/// value. By comparing the incarnation, a transaction detects which of the runs recorded it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct RunRecord {
    pub incarnation: String,
    pub run: Run,
    /// The time at which the record was written, by the store's clock, in Unix milliseconds.
    pub written: i64,
    pub voters: Voters,
}

/// The result of comparing a run with a recorded run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RunComparison {
    Same,
    /// A later term of the same cluster. The run is still the same if the term began with the election of a new
    /// leader.
    LaterTerm,
    /// A run that has less slack or fewer entries than the recorded run.
    Behind,
    Other,
}

impl Run {
    /// Compares this run with a recorded run. The slack of this run must be an upper bound on the actual slack.
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
    /// Builds an incarnation from a cluster ID and a random value.
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

    /// Parses the output of [`to_text`](Self::to_text); returns `None` for any other string.
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

    /// Whether a cluster with the voters in `now` may be the recorded cluster after the election of a new leader. The
    /// cluster must have several voters. A majority of the recorded voters, and at least two of them, must still vote
    /// and run in the same processes.
    pub(super) fn is_continued_by(&self, now: &Voters) -> bool {
        let remains =
            |(id, start): &(&u64, &String)| !start.is_empty() && now.get(id) == Some(*start);
        let remaining = self.voters.iter().filter(remains).count();
        now.len() > 1 && remaining > 1 && 2 * remaining > self.voters.len()
    }

    /// Whether [`is_continued_by`](Self::is_continued_by) would return `true` if each voter that has not responded
    /// were still running in its recorded process.
    pub(super) fn may_be_continued_by(&self, now: &Voters) -> bool {
        self.is_continued_by(&self.with_recorded(now.clone()))
    }

    /// Whether the record must be rewritten, because of its age or because the log has doubled in length.
    pub(super) fn is_due(&self, run: &Run, now: i64) -> bool {
        self.written.abs_diff(now) >= RECORD_AGE_MS || run.index / 2 >= self.run.index
    }

    /// Returns a new record of the same run. A voter that does not respond keeps its recorded start time. If the voter
    /// later reports that start time, the voter's process has not been restarted.
    pub(super) fn rewritten(&self, run: Run, written: i64, voters: Voters) -> Self {
        let voters = self.with_recorded(voters);
        Self { incarnation: self.incarnation.clone(), run, written, voters }
    }

    /// Adds the recorded start times of the voters that did not respond.
    fn with_recorded(&self, mut voters: Voters) -> Voters {
        for (id, start) in voters.iter_mut().filter(|(_, start)| start.is_empty()) {
            if let Some(recorded) = self.voters.get(id) {
                start.clone_from(recorded);
            }
        }
        voters
    }
}

/// Computes the slack from an index and a revision.
pub(super) fn slack(index: u64, revision: u64) -> Result<i64, Fault> {
    let signed = |number: u64| i64::try_from(number).ok();
    signed(index)
        .zip(signed(revision))
        .and_then(|(index, revision)| index.checked_sub(revision))
        .ok_or_else(|| {
            Fault::Unavailable(
                "etcd sent an invalid index or revision; check that no proxy answers for etcd"
                    .into(),
            )
        })
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
    fn restored_etcd_snapshot_is_distinguished_from_a_later_raft_term() {
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
    fn recorded_run_continues_only_if_most_of_its_processes_still_run() {
        let recorded = record(&[(1, "a"), (2, "b"), (3, "c")]);
        for (now, continued, why) in [
            (vec![(1, "a"), (2, "b"), (3, "c")], true, "all"),
            (vec![(1, "a"), (2, "b"), (3, "")], true, "one is down"),
            (vec![(1, "a"), (2, "b"), (4, "d")], true, "one was replaced"),
            (vec![(1, "a"), (2, "b"), (3, "x")], true, "one was restarted"),
            (vec![(1, "a"), (2, "x"), (3, "x")], false, "a majority was restarted"),
            (vec![(1, "x"), (2, "x"), (3, "x")], false, "all data may have been restored"),
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
    fn run_record_becomes_outdated_by_age_or_log_growth() {
        let old = record(&[(1, "a"), (2, "b")]);
        assert!(!old.is_due(&Run { index: 199, ..RUN }, 1_000));
        assert!(old.is_due(&Run { index: 200, ..RUN }, 1_000));
        assert!(old.is_due(&RUN, 6_000) && old.is_due(&RUN, -4_000));
        let new = old.rewritten(RUN, 9_000, voters(&[(1, ""), (2, "x"), (3, "")]));
        assert_eq!(new.voters, voters(&[(1, "a"), (2, "x"), (3, "")]));
        assert_eq!(RunRecord::from_text(&new.to_text()), Some(new));
    }

    #[test]
    fn malformed_run_records_are_rejected() {
        let text = record(&[(u64::MAX, "1.5e+09")]).to_text();
        assert!(RunRecord::from_text(&text).is_some());
        for (from, to) in [("\"term\":2", "\"term\":-2"), ("ffff", "gggg"), ("{", "")] {
            assert_eq!(RunRecord::from_text(&text.replace(from, to)), None, "{from}");
        }
    }

    #[test]
    fn index_minus_revision_may_be_negative_but_overflow_is_rejected() {
        assert_eq!(slack(4, 6), Ok(-2));
        assert!(slack(u64::MAX, 0).is_err());
    }
}
