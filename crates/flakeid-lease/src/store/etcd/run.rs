//! Which run of a cluster this is.

use super::super::Fault;
use crate::protocol::Token;

/// One run of a cluster on its data.
///
/// The term tells a restart, and so a cold copy. It does not tell a snapshot that was restored into
/// the same members: their cluster has the same ID, and begins again with term 2. But its log begins
/// again too, while its revisions go on. Every entry of the log makes one revision at most, so
/// `slack = entries applied − revision` never falls in the life of a cluster, and falls by the whole
/// length of the log with a restored snapshot.
///
/// A member reports the two numbers one after the other, and counts an entry shortly after its revision
/// can be seen. So what is noted is the least that the slack can be, what is compared with it the most,
/// and that is asked for again if it falls short. What other clients add between the two readings
/// passes for slack: a snapshot would pass for its original if they added as many entries in that
/// moment as the log was long when the run was noted.
///
/// Two runs that began with the same copy cannot be told apart by all this, so what is noted also has
/// something random in it: a transaction that compares it knows which of them noted it.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Run {
    pub cluster: u64,
    pub term: u64,
    pub slack: i64,
}

/// What a run is, compared with one that was noted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RunComparison {
    Same,
    /// It has less slack.
    Behind,
    Other,
}

impl Run {
    /// As it is noted in the namespace.
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
    pub(super) fn compare(&self, noted: &str) -> RunComparison {
        match Self::from_text(noted) {
            Some(noted) if (noted.cluster, noted.term) != (self.cluster, self.term) => {
                RunComparison::Other
            }
            Some(noted) if noted.slack > self.slack => RunComparison::Behind,
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
        let noted = Run { cluster: 7, term: 2, slack: 3 }.to_text(Token::from_bits(5));
        let now = |cluster, term, slack| Run { cluster, term, slack }.compare(&noted);
        assert_eq!(now(7, 2, 3), RunComparison::Same);
        assert_eq!(now(7, 2, 90), RunComparison::Same);
        assert_eq!(now(7, 2, 2), RunComparison::Behind, "a snapshot");
        assert_eq!(now(7, 2, -2), RunComparison::Behind, "a snapshot");
        assert_eq!(now(7, 3, 3), RunComparison::Other, "a restart");
        assert_eq!(now(8, 2, 3), RunComparison::Other, "another cluster");
        let run = Run { cluster: 7, term: 2, slack: 3 };
        assert!(["", "7/2/3"].iter().all(|noted| run.compare(noted) == RunComparison::Other));
    }

    #[test]
    fn the_slack_may_be_negative_and_never_overflows() {
        assert_eq!(slack(4, 6), Ok(-2));
        assert!(slack(u64::MAX, 0).is_err());
    }
}
