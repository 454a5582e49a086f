//! The table `flakeid_meta`, which contains the serial number and the run of a database, and the identity of its
//! file.

use rusqlite::Connection;

use super::fault::{reject, sqlite_fault};
use super::file_id::FileId;
use super::files::StoreFiles;
use crate::random;
use flakeid_protocol::Bounds;
use flakeid_protocol::store::Fault;

/// The version of the tables, which is also stored in `flakeid_meta`. A build refuses tables of any other version.
const VERSION: i64 = 5;

/// The statements that create the tables. The tables are `STRICT`, so that numbers are exact. Triggers protect the
/// values on which safety depends. Rows are never deleted, fences are lowered only by a release, floors never fall, and
/// layouts never change.
///
/// The small index `flakeid_node_taken` is used to count nodes without reading the table.
const SCHEMA: &str = include_str!("schema.sql");

/// The contents of `flakeid_meta`: the progress of a database, the identity of its file, and the time of its last loss
/// of data.
pub(super) struct Meta {
    /// The number of committed transactions.
    pub(super) serial: u64,
    /// The random name of the current run; every restore begins a run with a new name.
    pub(super) run: String,
    /// The identity of the file that contained the database when this value was written; `None` if the value in the
    /// table is invalid.
    pub(super) file: Option<FileId>,
    /// The time of the last detected loss of data, in Unix milliseconds; `None` if no loss has ever been detected.
    pub(super) forgot_at: Option<i64>,
}

impl Meta {
    /// Creates the contents of the table for a new run of the database in the given file.
    pub(super) fn new(serial: u64, forgot_at: Option<i64>, file: FileId) -> Self {
        Self { serial, run: random::token().to_text(), file: Some(file), forgot_at }
    }

    /// Reads the table `flakeid_meta`; returns `None` if the database is empty.
    pub(super) fn read(connection: &Connection, files: &StoreFiles) -> Result<Option<Self>, Fault> {
        let fault = |error: rusqlite::Error| sqlite_fault(&files.file, &error);
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
                let text = format!(
                    "{} is another program's database: use another file",
                    files.file.display()
                );
                return Err(Fault::Rejected(text));
            }
            _ => {}
        }
        let version: i64 = connection
            .query_row("SELECT version FROM flakeid_meta", [], |row| row.get(0))
            .map_err(fault)?;
        if version != VERSION {
            return Err(reject(&format!(
                "{} has tables of version {version}, but this build supports version {}: use the \
                 flakeid that created them, or a newer one",
                files.file.display(),
                VERSION
            )));
        }
        let meta = connection.query_row(
            "SELECT serial, run, inode, forgot_at FROM flakeid_meta",
            [],
            |row| {
                let file: String = row.get(2)?;
                Ok(Self {
                    serial: row.get::<_, i64>(0)?.cast_unsigned(),
                    run: row.get(1)?,
                    file: FileId::parse(&file),
                    forgot_at: row.get(3)?,
                })
            },
        );
        meta.map(Some).map_err(fault)
    }

    /// Creates the tables.
    pub(super) fn create(connection: &Connection) -> rusqlite::Result<()> {
        connection.execute_batch(SCHEMA)?;
        let columns = "INSERT INTO flakeid_meta (one, version, serial, run, inode, forgot_at) \
                       VALUES (1, ?1, 0, '', '', NULL)";
        connection.execute(columns, [VERSION]).map(drop)
    }

    pub(super) fn write(&self, connection: &Connection) -> rusqlite::Result<()> {
        let Self { serial, run, file, forgot_at } = self;
        let file = file.map_or_else(String::new, |file| file.to_string());
        connection.execute(
            "UPDATE flakeid_meta SET serial = ?1, run = ?2, inode = ?3, forgot_at = ?4",
            (serial.cast_signed(), run, file, forgot_at),
        )?;
        // The serial number is also stored in the file's first page, where it can be read without the write-ahead log.
        connection.pragma_update(None, "user_version", (*serial as u32).cast_signed())
    }
}

/// Returns, for each bound, the largest value among the namespaces in a database.
pub(super) fn widest_bounds(connection: &Connection, files: &StoreFiles) -> Result<Bounds, Fault> {
    let sql = "SELECT max(max_window_ms), max(max_ahead_ms), max(max_skew_ms), max(quiet_ms) \
         FROM flakeid_namespace";
    let bounds = connection.query_row(sql, [], |row| {
        let milliseconds =
            |at| row.get::<_, Option<i64>>(at).map(|ms| ms.unwrap_or(0).max(0).cast_unsigned());
        Ok(Bounds {
            max_window_ms: milliseconds(0)?,
            max_ahead_ms: milliseconds(1)?,
            max_skew_ms: milliseconds(2)?,
            quiet_ms: milliseconds(3)?,
        })
    });
    bounds.map_err(|error| sqlite_fault(&files.file, &error))
}
