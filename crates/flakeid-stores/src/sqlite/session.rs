//! One transaction in an `SQLite` file, from opening the file to closing it.

use std::io::Read;
use std::time::Duration;

use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags, OptionalExtension};

use super::fault::{io_fault, is_busy, reject, sqlite_fault};
use super::file_id::FileId;
use super::files::StoreFiles;
use super::meta::{Meta, widest_bounds};
use super::serial::{NO_BOUNDS, Progress, Serial};
use super::transaction::SqliteTransaction;
use crate::machine;
use crate::sql::{DatabaseState, SqlLedger};
use flakeid_protocol::steps::HostTime;
use flakeid_protocol::store::Fault;
use flakeid_protocol::{Bounds, Refusal};

/// The number of transactions between two checkpoints, which copy the write-ahead log into the database file.
const CHECKPOINT_EVERY: u64 = 64;

/// The longest time that `SQLite` waits for a lock. A fork may have to wait equally long, because each transaction
/// holds the fork gate.
const BUSY: Duration = Duration::from_millis(250);

/// A transaction in an `SQLite` file, from opening the file to closing it. Uncommitted changes are discarded when the
/// session is dropped.
pub(super) struct Session<'a> {
    // The connection is the first field, so that it is closed before the lock is released.
    connection: Connection,
    serial: Serial<'a>,
    files: &'a StoreFiles,
    in_file: u32,
    meta: Meta,
    /// For each bound, the largest value that any namespace of this store has ever had.
    bounds: Bounds,
    now: i64,
    /// Whether the transaction has changes to commit.
    changed: bool,
    /// The reason why the transaction may change nothing, because the host's clock was set forward.
    refusal: Option<Refusal>,
}

impl<'a> Session<'a> {
    /// Opens the file and begins a transaction. Returns `None` while another process is using the file. Checks the
    /// time of the host, `host`, unless the program provides its own clock.
    pub(super) fn begin(
        files: &'a StoreFiles,
        now: i64,
        host: Option<HostTime>,
    ) -> Result<Option<Self>, Fault> {
        let Some(mut serial) = Serial::lock(files)? else { return Ok(None) };
        let refusal = host.map_or(Ok(None), |host| serial.check_clock(host))?;
        let (file, in_file) = read_header(files)?;
        let fault = |error: rusqlite::Error| sqlite_fault(&files.file, &error);
        let connection = open(files)?;
        match connection.execute_batch("BEGIN IMMEDIATE") {
            Ok(()) => {}
            Err(error) if is_busy(&error) => return Ok(None),
            Err(error) => return Err(fault(error)),
        }
        let found = Meta::read(&connection, files)?;
        let created = found.is_none();
        if created {
            if !files.creates {
                return Err(files.missing_store());
            }
            Meta::create(&connection).map_err(fault)?;
            // Zero is recorded as the progress before the first commit. Otherwise, if the first writer were killed
            // between committing and recording a transaction, the database would be mistaken for an older copy.
            if serial.recorded.is_none() {
                serial.record(Progress::default(), NO_BOUNDS)?;
            }
        }
        let (reached, recorded_bounds) =
            serial.recorded.map_or((0, NO_BOUNDS), |(recorded, bounds)| (recorded.serial, bounds));
        let record_is_late = found.as_ref().is_some_and(|meta| meta.serial > reached);
        // The file's identity; `None` if the file is not the recorded file or is an older copy.
        let known = found.as_ref().and_then(|meta| {
            let explained = serial.recorded?.0.explains(meta.serial, in_file);
            meta.file?.merge(file).filter(|_| explained)
        });
        let bounds = if created || (known.is_some() && !record_is_late) {
            recorded_bounds
        } else {
            widest_bounds(&connection, files)?.fieldwise_max(&recorded_bounds)
        };
        let meta = match (found, known) {
            (Some(meta), Some(file)) => {
                // The last writer committed a transaction but was killed before recording it. This session therefore
                // records that transaction.
                if record_is_late {
                    serial.record(Progress { serial: meta.serial, in_file }, bounds)?;
                }
                Meta { file: Some(file), ..meta }
            }
            // The file is a copy or contains an older state of the database, so an unknown number of transactions may
            // be missing.
            (Some(meta), None) => Meta::new(meta.serial.max(reached), Some(now), file),
            (None, _) => Meta::new(reached, (reached > 0).then_some(now), file),
        };
        let changed = created;
        Ok(Some(Self { connection, serial, files, in_file, meta, bounds, now, changed, refusal }))
    }

    pub(super) fn ledger<'s>(
        &'s mut self,
        namespace: &'s str,
    ) -> SqlLedger<'s, SqliteTransaction<'s>> {
        let machine = machine::name();
        let inode = self.meta.file.map_or(0, |file| file.inode);
        let incarnation = format!("{machine}/{inode}/{}", self.meta.run);
        let state = DatabaseState { now: self.now, incarnation };
        let transaction = SqliteTransaction {
            connection: &self.connection,
            file: &self.files.file,
            machine,
            forgot_at: self.meta.forgot_at,
            bounds: &mut self.bounds,
            changed: &mut self.changed,
        };
        SqlLedger::new(namespace, state, transaction)
    }

    pub(super) fn namespaces(&mut self) -> Result<Vec<String>, Fault> {
        let names = || {
            let mut names =
                self.connection.prepare("SELECT name FROM flakeid_namespace ORDER BY name")?;
            names.query_map([], |row| row.get(0))?.collect::<rusqlite::Result<_>>()
        };
        names().map_err(|error| sqlite_fault(&self.files.file, &error))
    }

    /// Commits the transaction durably, and then records the new progress. If the process is killed between these
    /// steps, the transaction is durable but has not been confirmed to the caller.
    pub(super) fn commit(mut self) -> Result<(), Fault> {
        if !self.changed {
            return Ok(());
        }
        if let Some(refusal) = self.refusal {
            return Err(refusal.into());
        }
        self.meta.serial += 1;
        let serial = self.meta.serial;
        self.meta
            .write(&self.connection)
            .and_then(|()| self.connection.execute_batch("COMMIT"))
            .map_err(|error| sqlite_fault(&self.files.file, &error))?;
        let mut in_file = self.in_file;
        if serial.is_multiple_of(CHECKPOINT_EVERY) && self.checkpoint() {
            in_file = serial as u32;
        }
        self.serial.record(Progress { serial, in_file }, self.bounds)
    }

    /// Copies the write-ahead log into the database file, and returns whether this checkpoint succeeded. After a
    /// failure, for example because of a concurrent reader or a full disk, a later transaction repeats the checkpoint.
    fn checkpoint(&self) -> bool {
        let merged = self
            .connection
            .query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| row.get::<_, i64>(0));
        merged.is_ok_and(|busy| busy == 0)
    }
}

/// Reads the file's identity, and the low bits of the serial number from the file's first page (`user_version`).
/// Creates a missing file if the store may be created. Call this function before `SQLite` opens the file, because
/// closing a second descriptor of the file would release `SQLite`'s locks.
fn read_header(files: &StoreFiles) -> Result<(FileId, u32), Fault> {
    let (file, found) = StoreFiles::open(&files.file, files.creates)?;
    let id = FileId::of(&file, &found);
    let mut head = Vec::with_capacity(64);
    let read = file.take(64).read_to_end(&mut head);
    read.map_err(|error| io_fault(&files.file, &error))?;
    let field = head.get(60..64).and_then(|bytes| bytes.try_into().ok());
    Ok((id, field.map_or(0, u32::from_be_bytes)))
}

fn open(files: &StoreFiles) -> Result<Connection, Fault> {
    let fault = |error: rusqlite::Error| sqlite_fault(&files.file, &error);
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE
        | OpenFlags::SQLITE_OPEN_NO_MUTEX
        | OpenFlags::SQLITE_OPEN_NOFOLLOW
        | OpenFlags::SQLITE_OPEN_EXRESCODE;
    let connection = Connection::open_with_flags(&files.file, flags).map_err(fault)?;
    connection.busy_timeout(BUSY).map_err(fault)?;
    for (config, on) in [
        (DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true),
        (DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true),
        (DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false),
    ] {
        let set = connection.set_db_config(config, on).map_err(fault)?;
        if set != on {
            return Err(reject(&format!(
                "this build of SQLite does not support {config:?}: use the SQLite that flakeid contains"
            )));
        }
    }
    // Each setting is read back, because SQLite ignores settings that it cannot apply, such as WAL on some file
    // systems.
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
            return Err(reject(&format!(
                "{}: SQLite keeps {pragma} = {found}, but {expected} is needed: use a local disk",
                files.file.display()
            )));
        }
    }
    Ok(connection)
}
