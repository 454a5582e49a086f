//! The table `flakeid_meta`: what a database says about itself.

use rusqlite::Connection;

use super::fault::{reject, sqlite_fault};
use super::file_id::FileId;
use super::files::StoreFiles;
use super::schema;
use crate::random;
use flakeid_protocol::Bounds;
use flakeid_protocol::store::Fault;

/// How far a database is, which file it was in, and what it lost.
pub(super) struct Meta {
    /// How many transactions it has had.
    pub(super) serial: u64,
    /// Another one after every restoration.
    pub(super) run: String,
    /// Which file it was in; `None` if what the table says makes no sense.
    pub(super) file: Option<FileId>,
    /// When it had last lost something.
    pub(super) forgot_at: Option<i64>,
}

impl Meta {
    /// Of a database that was not in this file until now.
    pub(super) fn new(serial: u64, forgot_at: Option<i64>, file: FileId) -> Self {
        Self { serial, run: random::token().to_text(), file: Some(file), forgot_at }
    }

    /// `None` in an empty database.
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
        if version != schema::VERSION {
            return Err(reject(&format!(
                "{} has tables of version {version}, and this build knows version {}: use the \
                 flakeid that created them, or a newer one",
                files.file.display(),
                schema::VERSION
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
        connection.execute_batch(schema::CREATE)?;
        let columns = "INSERT INTO flakeid_meta (one, version, serial, run, inode, forgot_at) \
                       VALUES (1, ?1, 0, '', '', NULL)";
        connection.execute(columns, [schema::VERSION]).map(drop)
    }

    pub(super) fn write(&self, connection: &Connection) -> rusqlite::Result<()> {
        let Self { serial, run, file, forgot_at } = self;
        let file = file.map_or_else(String::new, |file| file.to_string());
        connection.execute(
            "UPDATE flakeid_meta SET serial = ?1, run = ?2, inode = ?3, forgot_at = ?4",
            (serial.cast_signed(), run, file, forgot_at),
        )?;
        // Also in the file's first page, where it can be read without the log.
        connection.pragma_update(None, "user_version", (*serial as u32).cast_signed())
    }
}

/// The widest bounds of the namespaces in a database.
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
