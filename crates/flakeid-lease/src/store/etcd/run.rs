//! Which run of a cluster this is.

use super::super::Fault;
use crate::protocol::Token;

/// One run of a cluster on its data.
///
/// The term shows a restart, and so a cold copy. It does not show that a snapshot was restored into the
/// same members: their cluster has the same ID, and begins again with term 2. But its log begins again,
/// too, while its revisions go on. Every entry of the log makes one revision at most, so
/// `slack = entries applied − revision` never falls in the life of a cluster, and falls by the whole
/// length of the log with a restored snapshot.
///
/// A member reports the two numbers one after the other, and counts an entry shortly after its revision
/// can be seen. So the least that the slack can be is recorded, and the most that it can be is compared
/// with that; if it falls short, both numbers are read again.
///
/// Two kinds of entries count as slack although they show nothing: those that other clients add between
/// the two readings, and those without a revision (a lease, a compaction) that they add between a
/// restoration and our first transaction after it. A snapshot would be taken for its original if there
/// were as many of them as the log had entries when the run was recorded. So we make the log at least
/// 100 entries long before we record its run.
///
/// All this does not distinguish two runs that began with the same copy, so a random value is recorded,
/// too: a transaction that compares it knows which of them recorded it.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Run {
    pub cluster: u64,
    pub term: u64,
    pub slack: i64,
}

/// What a run is, compared with one that was recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RunComparison {
    Same,
    /// It has less slack.
    Behind,
    Other,
}

impl Run {
    /// As it is recorded in the namespace.
    pub(super) fn to_text(&self, random: Token) -> String {
        format!("{:016x}/{}/{}/{}", self.cluster, self.term, self.slack, random.to_text())
    }

    fn from_text(text: &str) -> Option<Self> {
        let mut parts = text.split('/');
        let cluster = u64::from_str_radix(parts.next()?, 16).ok()?;
        let (term, slack) = (parts.next()?.parse().ok()?, parts.next()?.parse().ok()?);
        Token::from_text(parts.next()?)?;
        Some(Self { cluster, term, slack })
    }

    /// Compares this run, whose slack is at most what it says.
    pub(super) fn compare(&self, recorded: &str) -> RunComparison {
        match Self::from_text(recorded) {
            Some(recorded) if (recorded.cluster, recorded.term) != (self.cluster, self.term) => {
                RunComparison::Other
            }
            Some(recorded) if recorded.slack > self.slack => RunComparison::Behind,
            Some(_) => RunComparison::Same,
            None => RunComparison::Other,
        }
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
mod tests {
    use super::*;

    #[test]
    fn a_restart_and_a_restored_snapshot_are_other_runs() {
        let recorded = Run { cluster: 7, term: 2, slack: 3 }.to_text(Token::from_bits(5));
        let now = |cluster, term, slack| Run { cluster, term, slack }.compare(&recorded);
        assert_eq!(now(7, 2, 3), RunComparison::Same);
        assert_eq!(now(7, 2, 90), RunComparison::Same);
        assert_eq!(now(7, 2, 2), RunComparison::Behind, "a snapshot");
        assert_eq!(now(7, 2, -2), RunComparison::Behind, "a snapshot");
        assert_eq!(now(7, 3, 3), RunComparison::Other, "a restart");
        assert_eq!(now(8, 2, 3), RunComparison::Other, "another cluster");
        let run = Run { cluster: 7, term: 2, slack: 3 };
        assert!(["", "7/2/3"].iter().all(|recorded| run.compare(recorded) == RunComparison::Other));
    }

    #[test]
    fn the_slack_may_be_negative_and_never_overflows() {
        assert_eq!(slack(4, 6), Ok(-2));
        assert!(slack(u64::MAX, 0).is_err());
    }
}
