use std::fs::File;
use std::io::{Read, Seek, SeekFrom, Write};

use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;

use super::place::{Place, failed, rejected};
use crate::store::Fault;

/// The file beside the database that remembers how far the database has been. A database that
/// knows less is an older copy. Holding it open is holding the store's lock.
pub(super) struct Serial<'a> {
    place: &'a Place,
    file: File,
    /// What it says; all zeros if nothing was ever confirmed.
    pub(super) noted: Noted,
}

/// How far a database has been.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Noted {
    /// How many transactions it confirmed.
    pub(super) serial: u64,
    /// The low bits of the serial that is in the database's file itself, without its log.
    pub(super) in_file: u32,
}

impl<'a> Serial<'a> {
    /// Takes the lock and reads. `None` while another holds it.
    pub(super) fn lock(place: &'a Place) -> Result<Option<Self>, Fault> {
        place.check_presence()?;
        let path = &place.serial;
        let mut file = Place::open(path, true)?;
        match flock(&file, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => {}
            Err(Errno::WOULDBLOCK | Errno::INTR) => return Ok(None),
            Err(error) => return Err(failed(path, &error.into())),
        }
        let mut text = String::new();
        let read = Read::by_ref(&mut file).take(64).read_to_string(&mut text);
        read.map_err(|error| failed(path, &error))?;
        let noted = Noted::parse(&text).ok_or_else(|| {
            rejected(&format!(
                "{} was edited or damaged: delete it, and the store counts as restored",
                path.display()
            ))
        })?;
        Ok(Some(Self { place, file, noted }))
    }

    /// Notes, durably.
    pub(super) fn note(&mut self, noted: Noted) -> Result<(), Fault> {
        let written = self
            .file
            .seek(SeekFrom::Start(0))
            .and_then(|_| self.file.write_all(noted.to_text().as_bytes()))
            .and_then(|()| self.file.sync_data());
        written.map_err(|error| {
            Fault::Unavailable(format!("{}: {error}", self.place.serial.display()))
        })?;
        self.noted = noted;
        Ok(())
    }
}

impl Noted {
    /// Always of the same length, so that it is written within one block.
    fn to_text(self) -> String {
        format!("{:016x} {:08x}\n", self.serial, self.in_file)
    }

    fn parse(text: &str) -> Option<Self> {
        if text.is_empty() {
            return Some(Self::default());
        }
        let (serial, in_file) = text.strip_suffix('\n')?.split_once(' ')?;
        let plain = |text: &str| text.bytes().all(|b| b.is_ascii_hexdigit());
        if serial.len() != 16 || in_file.len() != 8 || !plain(serial) || !plain(in_file) {
            return None;
        }
        let serial = u64::from_str_radix(serial, 16).ok()?;
        Some(Self { serial, in_file: u32::from_str_radix(in_file, 16).ok()? })
    }

    /// Whether a database may have been this far and be as it was left: at the serial noted, or
    /// one further if its writer was killed before it could note that (and told nobody).
    pub(super) fn explains(self, serial: u64, in_file: u32) -> bool {
        // The serials in the file are compared as they wrap around.
        let goes_on = in_file.wrapping_sub(self.in_file).cast_signed() >= 0;
        serial.checked_sub(self.serial).is_some_and(|further| further <= 1) && goes_on
    }
}

#[cfg(test)]
mod tests {
    use super::Noted;

    #[test]
    fn texts_are_read_back_and_nothing_else_is() {
        for noted in [Noted::default(), Noted { serial: u64::MAX, in_file: u32::MAX }] {
            assert_eq!(Noted::parse(&noted.to_text()), Some(noted));
        }
        assert_eq!(Noted::parse(""), Some(Noted::default()));
        for text in ["1 1\n", "0000000000000001 00000001", "+000000000000001 00000001\n", "\0"] {
            assert_eq!(Noted::parse(text), None, "{text:?}");
        }
    }

    #[test]
    fn older_copies_are_not_explained() {
        let noted = Noted { serial: 10, in_file: 8 };
        for (serial, in_file, same) in [
            (10, 8, true),
            (11, 8, true),
            (10, 10, true),
            (9, 8, false),
            (12, 8, false),
            // An older file with the newer log left beside it.
            (10, 7, false),
            (0, 0, false),
        ] {
            assert_eq!(noted.explains(serial, in_file), same, "{serial} {in_file}");
        }
        let noted = Noted { serial: (1 << 32) + 1, in_file: u32::MAX };
        assert!(noted.explains((1 << 32) + 1, 1));
        // Its notes were lost.
        assert!(!Noted::default().explains(2, 0));
        assert!(Noted::default().explains(1, 0));
    }
}
