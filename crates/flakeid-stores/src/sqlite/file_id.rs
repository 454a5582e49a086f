//! Which file a database is in.

use std::fmt;
use std::fs::{File, Metadata};
use std::os::unix::fs::MetadataExt;
use std::time::{SystemTime, UNIX_EPOCH};

/// A file. An inode's number is given out again once its file is deleted, so the time at which the
/// file was made counts too, which no copy takes over from its original.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct FileId {
    pub(super) inode: u64,
    /// In nanoseconds since 1970. Not every file system keeps it, nor every system tells it.
    born: Option<i128>,
}

impl FileId {
    pub(super) fn of(file: &File, found: &Metadata) -> Self {
        let born = asked_for(file).or_else(|| found.created().ok().map(nanoseconds));
        Self { inode: found.ino(), born }
    }

    /// Reads what [`Display`](fmt::Display) wrote; `None` if it makes no sense.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let Some((inode, born)) = text.split_once('/') else {
            return Some(Self { inode: text.parse().ok()?, born: None });
        };
        Some(Self { inode: inode.parse().ok()?, born: Some(born.parse().ok()?) })
    }

    /// Combines what is known of a file by two readings, `None` if they are of different files. A birth
    /// time that one of them lacks does not count: two processes of which only one can read it would
    /// otherwise find the file changed for ever.
    pub(super) fn merge(self, other: Self) -> Option<Self> {
        let differ = self.born.zip(other.born).is_some_and(|(one, other)| one != other);
        let born = self.born.or(other.born);
        (self.inode == other.inode && !differ).then_some(Self { inode: self.inode, born })
    }
}

/// As it is recorded.
impl fmt::Display for FileId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.born {
            Some(born) => write!(f, "{}/{born}", self.inode),
            None => write!(f, "{}", self.inode),
        }
    }
}

/// The birth time, by the system call itself: with musl `Metadata` does not have it.
#[cfg(target_os = "linux")]
fn asked_for(file: &File) -> Option<i128> {
    use rustix::fs::{AtFlags, StatxFlags, statx};

    let found = statx(file, "", AtFlags::EMPTY_PATH, StatxFlags::BTIME).ok()?;
    let born = &found.stx_btime;
    let known = found.stx_mask & StatxFlags::BTIME.bits() != 0;
    known.then(|| i128::from(born.tv_sec) * 1_000_000_000 + i128::from(born.tv_nsec))
}

#[cfg(not(target_os = "linux"))]
fn asked_for(_file: &File) -> Option<i128> {
    None
}

fn nanoseconds(time: SystemTime) -> i128 {
    match time.duration_since(UNIX_EPOCH) {
        Ok(after) => after.as_nanos().cast_signed(),
        Err(before) => -before.duration().as_nanos().cast_signed(),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use std::time::Duration;

    use super::{FileId, UNIX_EPOCH, asked_for, nanoseconds};

    fn file(inode: u64, born: Option<i128>) -> FileId {
        FileId { inode, born }
    }

    #[test]
    fn texts_are_read_back() {
        for (id, text) in [
            (file(7, None), "7"),
            (
                file(u64::MAX, Some(1_793_491_200_123_456_789)),
                "18446744073709551615/1793491200123456789",
            ),
            (file(7, Some(-1)), "7/-1"),
        ] {
            assert_eq!(id.to_string(), text);
            assert_eq!(FileId::parse(text), Some(id));
        }
        for text in ["", "x", "7/", "/7", "7/x", "7/7/7", "-7"] {
            assert_eq!(FileId::parse(text), None, "{text:?}");
        }
        assert_eq!(nanoseconds(UNIX_EPOCH - Duration::from_nanos(5)), -5);
    }

    /// Where `Metadata` has a birth time, stores were noted with it, and it has to be the same.
    #[cfg(target_os = "linux")]
    #[test]
    fn birth_times_are_those_of_metadata_to_the_nanosecond() {
        let file = tempfile::tempfile().unwrap();
        let asked = asked_for(&file);
        if let Ok(created) = file.metadata().unwrap().created() {
            assert_eq!(asked, Some(nanoseconds(created)));
        }
        // The file systems of the tests have it, also where `Metadata` does not.
        assert!(asked.is_some());
    }

    #[test]
    fn an_inode_that_was_given_out_again_is_another_file() {
        let known = file(7, Some(100));
        assert_eq!(known.merge(known), Some(known));
        assert_eq!(known.merge(file(7, Some(101))), None);
        assert_eq!(known.merge(file(8, Some(100))), None);
        assert_eq!(known.merge(file(7, None)), Some(known));
        assert_eq!(file(7, None).merge(known), Some(known));
        assert_eq!(file(7, None).merge(file(8, None)), None);
    }
}
