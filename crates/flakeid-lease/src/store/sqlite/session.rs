use std::io::Read;
use std::os::unix::fs::MetadataExt;
use std::time::Duration;

use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags, OptionalExtension};

use super::page::Page;
use super::place::{Place, failed, rejected};
use super::schema;
use super::serial::{Noted, Serial};
use super::trouble::{is_busy, trouble};
use crate::machine;
use crate::random;
use crate::store::Fault;

/// How often the log is merged into the file, in transactions.
const CHECKPOINT_EVERY: u64 = 64;

/// How long `SQLite` itself waits: forks wait as long.
const BUSY: Duration = Duration::from_millis(250);

/// One transaction, from opening the file to closing it. Unless it is committed it leaves nothing.
pub(super) struct Session<'a> {
    // Closed before the lock is let go.
    connection: Connection,
    serial: Serial<'a>,
    place: &'a Place,
    in_file: u32,
    past: Past,
    now: i64,
    /// Whether there is anything to commit.
    changed: bool,
}

/// What the database says about itself.
struct Past {
    serial: u64,
    run: String,
    inode: u64,
    forgot_at: Option<i64>,
}

impl<'a> Session<'a> {
    /// Opens the file and begins. `None` while another process has it.
    pub(super) fn begin(place: &'a Place, now: i64) -> Result<Option<Self>, Fault> {
        let Some(mut serial) = Serial::lock(place)? else { return Ok(None) };
        let (inode, in_file) = glance(place)?;
        let fault = |error: rusqlite::Error| trouble(&place.file, &error);
        let connection = open(place)?;
        match connection.execute_batch("BEGIN IMMEDIATE") {
            Ok(()) => {}
            Err(error) if is_busy(&error) => return Ok(None),
            Err(error) => return Err(fault(error)),
        }
        let found = read_past(&connection, place)?;
        let created = found.is_none();
        let past = match found {
            Some(past) if past.inode == inode && serial.noted.explains(past.serial, in_file) => {
                // Its writer was killed before it could note that.
                if past.serial > serial.noted.serial {
                    serial.note(Noted { serial: past.serial, in_file })?;
                }
                past
            }
            // An older copy, or a copy: nobody knows what it lacks.
            Some(past) => Past {
                serial: past.serial.max(serial.noted.serial),
                forgot_at: Some(now),
                ..new_past(inode)
            },
            None if !place.creates => return Err(place.missing()),
            None => {
                connection.execute_batch(schema::CREATE).map_err(fault)?;
                let noted = serial.noted.serial;
                let forgot_at = (noted > 0).then_some(now);
                Past { serial: noted, forgot_at, ..new_past(inode) }
            }
        };
        if created {
            let columns = "INSERT INTO flakeid_meta (one, version, serial, run, inode, forgot_at) \
                           VALUES (1, ?1, 0, '', '', NULL)";
            connection.execute(columns, [schema::VERSION]).map_err(fault)?;
        }
        let changed = created;
        Ok(Some(Self { connection, serial, place, in_file, past, now, changed }))
    }

    pub(super) fn ledger<'s>(&'s mut self, namespace: &'s str) -> Page<'s> {
        let machine = machine::name();
        Page {
            connection: &self.connection,
            file: &self.place.file,
            namespace,
            now: self.now,
            incarnation: format!("{machine}/{}/{}", self.past.inode, self.past.run),
            machine,
            forgot_at: self.past.forgot_at,
            changed: &mut self.changed,
        }
    }

    pub(super) fn namespaces(&mut self) -> Result<Vec<String>, Fault> {
        let names = || {
            let mut names =
                self.connection.prepare("SELECT name FROM flakeid_namespace ORDER BY name")?;
            names.query_map([], |row| row.get(0))?.collect::<rusqlite::Result<_>>()
        };
        names().map_err(|error| trouble(&self.place.file, &error))
    }

    /// Makes everything durable, and only then notes how far the database is: who is killed in
    /// between has told nobody.
    pub(super) fn commit(mut self) -> Result<(), Fault> {
        if !self.changed {
            return Ok(());
        }
        let serial = self.past.serial + 1;
        let low = serial as u32;
        self.write_past(serial).map_err(|error| trouble(&self.place.file, &error))?;
        let mut in_file = self.in_file;
        if serial.is_multiple_of(CHECKPOINT_EVERY) && self.checkpoint() {
            in_file = low;
        }
        self.serial.note(Noted { serial, in_file })
    }

    fn write_past(&self, serial: u64) -> rusqlite::Result<()> {
        let Past { run, inode, forgot_at, .. } = &self.past;
        self.connection.execute(
            "UPDATE flakeid_meta SET serial = ?1, run = ?2, inode = ?3, forgot_at = ?4",
            (serial.cast_signed(), run, inode.to_string(), forgot_at),
        )?;
        // Also in the file's first page, where it can be read without the log.
        self.connection.pragma_update(None, "user_version", (serial as u32).cast_signed())?;
        self.connection.execute_batch("COMMIT")
    }

    /// Merges the log into the file. It can wait: a reader may be in the way, or a disk be full.
    fn checkpoint(&self) -> bool {
        let merged = self
            .connection
            .query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| row.get::<_, i64>(0));
        merged.is_ok_and(|busy| busy == 0)
    }
}

fn new_past(inode: u64) -> Past {
    Past { serial: 0, run: random::token().to_text(), inode, forgot_at: None }
}

/// The file's inode, and the low bits of the serial in its first page (`user_version`). Made if it
/// may be and is not there. Only while `SQLite` has it not open: closing it would drop `SQLite`'s locks.
fn glance(place: &Place) -> Result<(u64, u32), Fault> {
    let fault = |error: std::io::Error| failed(&place.file, &error);
    let file = Place::open(&place.file, place.creates)?;
    let inode = file.metadata().map_err(fault)?.ino();
    let mut head = Vec::with_capacity(64);
    file.take(64).read_to_end(&mut head).map_err(fault)?;
    let field = head.get(60..64).and_then(|bytes| bytes.try_into().ok());
    Ok((inode, field.map_or(0, u32::from_be_bytes)))
}

fn open(place: &Place) -> Result<Connection, Fault> {
    let fault = |error: rusqlite::Error| trouble(&place.file, &error);
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE
        | OpenFlags::SQLITE_OPEN_NO_MUTEX
        | OpenFlags::SQLITE_OPEN_NOFOLLOW
        | OpenFlags::SQLITE_OPEN_EXRESCODE;
    let connection = Connection::open_with_flags(&place.file, flags).map_err(fault)?;
    connection.busy_timeout(BUSY).map_err(fault)?;
    for (config, on) in [
        (DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true),
        (DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true),
        (DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false),
    ] {
        let set = connection.set_db_config(config, on).map_err(fault)?;
        if set != on {
            return Err(rejected(&format!("SQLite does not take {config:?}")));
        }
    }
    // Read back, because SQLite ignores what it cannot do (WAL on some file systems).
    for (pragma, set, expected) in [
        ("journal_mode", "WAL", "wal"),
        ("synchronous", "FULL", "2"),
        ("wal_autocheckpoint", "0", "0"),
    ] {
        let text = |row: &rusqlite::Row<'_>| {
            row.get::<_, rusqlite::types::Value>(0).map(|value| match value {
                rusqlite::types::Value::Integer(number) => number.to_string(),
                rusqlite::types::Value::Text(text) => text,
                other => format!("{other:?}"),
            })
        };
        connection
            .query_row(&format!("PRAGMA {pragma} = {set}"), [], text)
            .optional()
            .map_err(fault)?;
        let found = connection.query_row(&format!("PRAGMA {pragma}"), [], text).map_err(fault)?;
        if found != expected {
            return Err(rejected(&format!(
                "{}: SQLite keeps {pragma} at {found}, {expected} is needed",
                place.file.display()
            )));
        }
    }
    Ok(connection)
}

/// `None` in an empty database.
fn read_past(connection: &Connection, place: &Place) -> Result<Option<Past>, Fault> {
    let fault = |error: rusqlite::Error| trouble(&place.file, &error);
    let tables: (i64, i64) = connection
        .query_row(
            "SELECT count(*), count(*) FILTER (WHERE name = 'flakeid_meta') FROM sqlite_schema",
            [],
            |row| Ok((row.get(0)?, row.get(1)?)),
        )
        .map_err(fault)?;
    match tables {
        (0, _) => return Ok(None),
        (_, 0) => {
            let text = format!("{} is another program's database", place.file.display());
            return Err(Fault::Rejected(text));
        }
        _ => {}
    }
    let version: i64 = connection
        .query_row("SELECT version FROM flakeid_meta", [], |row| row.get(0))
        .map_err(fault)?;
    if version != schema::VERSION {
        return Err(rejected(&format!(
            "{} has tables of version {version}, this build knows {}: use the flakeid that made \
             them, or a newer one",
            place.file.display(),
            schema::VERSION
        )));
    }
    let past =
        connection.query_row("SELECT serial, run, inode, forgot_at FROM flakeid_meta", [], |row| {
            let inode: String = row.get(2)?;
            Ok(Past {
                serial: row.get::<_, i64>(0)?.cast_unsigned(),
                run: row.get(1)?,
                // What is no number is no file's.
                inode: inode.parse().unwrap_or(u64::MAX),
                forgot_at: row.get(3)?,
            })
        });
    past.map(Some).map_err(fault)
}
