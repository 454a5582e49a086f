//! The file that holds the store's lock and the serial number of the last transaction. The file is next to the database
//! and has the suffix `-serial`.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom, Write};

use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;

use super::fault::{io_fault, reject};
use super::files::StoreFiles;
use flakeid_protocol::steps::{AcceptedTime, HostTime};
use flakeid_protocol::store::Fault;
use flakeid_protocol::{Bounds, Refusal};

/// The file next to the database that records the database's progress. A database with less progress than this file
/// records is an older copy. The store's lock is held while this file is open.
pub(super) struct Serial<'a> {
    files: &'a StoreFiles,
    file: File,
    /// The recorded progress, and the widest bounds that any namespace in the database has ever had. These bounds are
    /// recorded because a lost namespace may have had them. `None` if the file is empty.
    pub(super) recorded: Option<(Progress, Bounds)>,
    /// The latest time that the store accepted; `None` before the first transaction with the system's clock.
    time: Option<AcceptedTime>,
}

/// The maximum number of bytes to read from the file. Every valid file is shorter.
const LONGEST: usize = 256;

/// The bounds of a database without namespaces.
pub(super) const NO_BOUNDS: Bounds =
    Bounds { max_window_ms: 0, max_ahead_ms: 0, max_skew_ms: 0, quiet_ms: 0 };

/// The progress of a database, which distinguishes the database from its older copies.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Progress {
    /// The number of confirmed transactions.
    pub(super) serial: u64,
    /// The low bits of the serial number in the database file itself, without the write-ahead log.
    pub(super) in_file: u32,
}

impl<'a> Serial<'a> {
    /// Takes the store's lock and reads the file. Returns `None` while another process holds the lock.
    pub(super) fn lock(files: &'a StoreFiles) -> Result<Option<Self>, Fault> {
        files.check_presence()?;
        let path = &files.serial;
        let (mut file, _) = StoreFiles::open(path, true)?;
        match flock(&file, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => {}
            Err(Errno::WOULDBLOCK | Errno::INTR) => return Ok(None),
            Err(error) => return Err(io_fault(path, &error.into())),
        }
        let mut text = String::with_capacity(LONGEST);
        let read = Read::by_ref(&mut file).take(LONGEST as u64).read_to_string(&mut text);
        read.map_err(|error| io_fault(path, &error))?;
        let damaged = || {
            reject(&format!(
                "{} was edited or damaged: delete this file; the store then counts as restored from a backup",
                path.display()
            ))
        };
        let (recorded, time) = match text.as_str() {
            "" => (None, None),
            text => {
                let (progress, bounds, time) = parse(text).ok_or_else(damaged)?;
                (Some((progress, bounds)), time)
            }
        };
        Ok(Some(Self { files, file, recorded, time }))
    }

    /// Returns the refusal of every change if the host's clock was set forward recently. The file also records such a
    /// step, because the process that sees the step next may be another one.
    pub(super) fn check_clock(&mut self, now: HostTime) -> Result<Option<Refusal>, Fault> {
        let (Some((progress, bounds)), Some(time)) = (self.recorded, self.time) else {
            self.time = Some(AcceptedTime::new(now));
            return Ok(None);
        };
        let (judged, refusal) = time.judge(now, &bounds);
        self.time = Some(judged);
        if judged.stepped != time.stepped {
            self.record(progress, bounds)?;
        }
        Ok(refusal)
    }

    /// Writes the progress, the bounds and the accepted time durably to the file.
    pub(super) fn record(&mut self, recorded: Progress, bounds: Bounds) -> Result<(), Fault> {
        let written = self
            .file
            .seek(SeekFrom::Start(0))
            .and_then(|_| self.file.write_all(text(recorded, bounds, self.time).as_bytes()))
            .and_then(|()| self.file.sync_data());
        written.map_err(|error| {
            Fault::Unavailable(format!("{}: {error}", self.files.serial.display()))
        })?;
        self.recorded = Some((recorded, bounds));
        Ok(())
    }
}

impl Progress {
    /// Whether a database with this recorded progress may have the given serial numbers. `serial` may be the recorded
    /// serial number. It may also be the next number, if a writer was killed after committing a transaction but before
    /// recording and confirming the transaction.
    pub(super) fn explains(self, serial: u64, in_file: u32) -> bool {
        // The low bits of the serial number wrap around, so the code checks the sign of their difference.
        let goes_on = in_file.wrapping_sub(self.in_file).cast_signed() >= 0;
        serial.checked_sub(self.serial).is_some_and(|further| further <= 1) && goes_on
    }
}

/// Formats the contents of the file with the suffix `-serial`. The contents always have the same length, so that only
/// one disk block is written.
fn text(recorded: Progress, bounds: Bounds, time: Option<AcceptedTime>) -> String {
    let Progress { serial, in_file } = recorded;
    let Bounds { max_window_ms, max_ahead_ms, max_skew_ms, quiet_ms } = bounds;
    let reading = |time: Option<HostTime>| {
        let missing = HostTime { unix_ms: NONE, boot_ms: NONE, boot: 0 };
        let HostTime { unix_ms, boot_ms, boot } = time.unwrap_or(missing);
        format!("{:016x} {:016x} {boot:016x}", unix_ms.cast_unsigned(), boot_ms.cast_unsigned())
    };
    let (accepted, stepped) =
        (reading(time.map(|kept| kept.time)), reading(time.and_then(|kept| kept.stepped)));
    format!(
        "{serial:016x} {in_file:08x} {max_window_ms:016x} {max_ahead_ms:016x} {max_skew_ms:016x} \
         {quiet_ms:016x} {accepted} {stepped}\n"
    )
}

/// The number that stands for a missing time. No clock shows this time.
const NONE: i64 = i64::MIN;

/// Parses file contents produced by [`text`]; returns `None` if the contents are malformed. Earlier builds wrote no
/// time.
fn parse(text: &str) -> Option<(Progress, Bounds, Option<AcceptedTime>)> {
    let mut words = text.strip_suffix('\n')?.split(' ');
    let mut number = |digits: usize| {
        let word = words.next()?;
        let plain = word.len() == digits && word.bytes().all(|b| b.is_ascii_hexdigit());
        plain.then(|| u64::from_str_radix(word, 16).ok())?
    };
    let recorded = Progress { serial: number(16)?, in_file: number(8)? as u32 };
    let bounds = Bounds {
        max_window_ms: number(16)?,
        max_ahead_ms: number(16)?,
        max_skew_ms: number(16)?,
        quiet_ms: number(16)?,
    };
    let mut time = None;
    if text.len() > WITHOUT_TIME {
        let mut reading = || {
            let (unix_ms, boot_ms) = (number(16)?.cast_signed(), number(16)?.cast_signed());
            let time = HostTime { unix_ms, boot_ms, boot: number(16)? };
            Some((unix_ms != NONE).then_some(time))
        };
        let (accepted, stepped) = (reading()?, reading()?);
        time = accepted.map(|time| AcceptedTime { time, stepped });
    }
    words.next().is_none().then_some((recorded, bounds, time))
}

/// The length of the contents without a time.
const WITHOUT_TIME: usize = 94;

#[cfg(test)]
mod tests {
    use super::{AcceptedTime, Bounds, HostTime, NO_BOUNDS, Progress, parse, text};

    #[test]
    fn serial_file_parser_rejects_malformed_strings() {
        let most = Progress { serial: u64::MAX, in_file: u32::MAX };
        let day = Bounds {
            max_window_ms: 86_400_000,
            max_ahead_ms: u64::MAX,
            max_skew_ms: 1,
            quiet_ms: 7,
        };
        let time = HostTime { unix_ms: 1_800_000_000_000, boot_ms: -5, boot: u64::MAX };
        let accepted = AcceptedTime::new(time);
        for (recorded, bounds, time) in [
            (Progress::default(), NO_BOUNDS, None),
            (most, day, Some(accepted)),
            (most, day, Some(AcceptedTime { stepped: Some(time), ..accepted })),
        ] {
            let text = text(recorded, bounds, time);
            assert_eq!(text.len(), 196);
            assert_eq!(parse(&text), Some((recorded, bounds, time)));
            // Earlier builds wrote no time.
            assert_eq!(parse(&format!("{}\n", &text[..93])), Some((recorded, bounds, None)));
        }
        let whole = text(most, day, Some(accepted));
        for text in [
            "",
            "1 1\n",
            "0000000000000001 00000001\n",
            &whole.replacen('f', "+", 1),
            &format!("{} \n", &whole[..93]),
            &format!("{}\n", &whole[..76]),
            &format!("{}\n", &whole[..178]),
            "\0",
            &whole[..195],
            &whole[..93],
            &whole[..60],
            &format!("{whole}0"),
            &format!("{} 0\n", &whole[..93]),
            &format!("{} 0\n", &whole[..195]),
        ] {
            assert_eq!(parse(text), None, "{text:?}");
        }
    }

    #[test]
    fn recorded_progress_reveals_older_copies_of_the_database() {
        let recorded = Progress { serial: 10, in_file: 8 };
        for (serial, in_file, same) in [
            (10, 8, true),
            (11, 8, true),
            (10, 10, true),
            (9, 8, false),
            (12, 8, false),
            // These numbers occur if an older database file is put back next to a newer write-ahead log.
            (10, 7, false),
            (0, 0, false),
        ] {
            assert_eq!(recorded.explains(serial, in_file), same, "{serial} {in_file}");
        }
        let recorded = Progress { serial: (1 << 32) + 1, in_file: u32::MAX };
        assert!(recorded.explains((1 << 32) + 1, 1));
        // In a new store, no transaction has been confirmed yet.
        assert!(!Progress::default().explains(2, 0));
        assert!(Progress::default().explains(1, 0));
    }
}
