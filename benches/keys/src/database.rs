//! The private server, and the superuser's connection.

use flakeid_test_servers::{PostgresServer, Server};
use serde_json::Value;
use tokio::runtime::Runtime;
use tokio_postgres::{Client, SimpleQueryMessage};

use crate::kind::Kind;
use crate::session::{Failed, connect};

/// The settings that differ from the defaults of `initdb`, except `shared_buffers`. Memory and checkpoints are
/// configured like those of a server in production. Autovacuum would run during the turn of another kind.
const SETTINGS: [(&str, &str); 7] = [
    ("autovacuum", "off"),
    ("checkpoint_timeout", "15min"),
    ("effective_cache_size", "12GB"),
    ("maintenance_work_mem", "256MB"),
    ("max_wal_size", "16GB"),
    ("min_wal_size", "4GB"),
    ("wal_buffers", "16MB"),
];

/// The settings that the results contain.
const REPORTED: [&str; 15] = [
    "autovacuum",
    "checkpoint_completion_target",
    "checkpoint_timeout",
    "data_checksums",
    "effective_cache_size",
    "fsync",
    "full_page_writes",
    "maintenance_work_mem",
    "max_wal_size",
    "min_wal_size",
    "shared_buffers",
    "wal_buffers",
    "wal_compression",
    "wal_level",
    "wal_sync_method",
];

/// The WAL between two positions.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Wal {
    /// The number of bytes in records, without full-page images.
    pub(crate) records: f64,
    /// The number of bytes in full-page images.
    pub(crate) images: f64,
    /// The number of page splits in B-tree indexes.
    pub(crate) splits: f64,
}

pub(crate) struct Database {
    // Declared before the server, so that the connection is closed before the server stops.
    runtime: Runtime,
    client: Client,
    server: PostgresServer,
}

impl Database {
    /// Starts a server with empty tables.
    pub(crate) fn start(shared_buffers: &str) -> Result<Self, Failed> {
        let server = PostgresServer::new();
        for (name, value) in SETTINGS.into_iter().chain([("shared_buffers", shared_buffers)]) {
            server.sql(&format!("ALTER SYSTEM SET {name} = '{value}'"))?;
        }
        server.stop();
        server.start();
        let (runtime, client) = connect(&url(&server))?;
        let database = Self { runtime, client, server };
        for extension in ["pg_prewarm", "pg_walinspect", "pgstattuple"] {
            database.run(&format!("CREATE EXTENSION {extension}"))?;
        }
        // A parallel query would use both cores, and its time would depend on the other programs of the machine.
        database.run("SET max_parallel_workers_per_gather = 0")?;
        for kind in Kind::ALL {
            database.run(&format!(
                "CREATE TABLE {} (id {} PRIMARY KEY,
                 created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
                 customer integer NOT NULL, note text NOT NULL)",
                kind.table(),
                kind.column()
            ))?;
        }
        Ok(database)
    }

    /// The URL for the sessions of the application.
    pub(crate) fn url(&self) -> String {
        url(&self.server)
    }

    /// Runs SQL and ignores its result.
    pub(crate) fn run(&self, sql: &str) -> Result<(), Failed> {
        Ok(self.runtime.block_on(self.client.batch_execute(sql))?)
    }

    /// Returns the columns of the first row.
    pub(crate) fn row(&self, sql: &str) -> Result<Vec<String>, Failed> {
        let messages = self.runtime.block_on(self.client.simple_query(sql))?;
        let row = messages.iter().find_map(|message| match message {
            SimpleQueryMessage::Row(row) => Some(row),
            _ => None,
        });
        let row = row.ok_or_else(|| format!("no row: {sql}"))?;
        let value = |column| row.get(column).map(str::to_owned);
        let values: Option<Vec<String>> = (0..row.len()).map(value).collect();
        values.ok_or_else(|| format!("a NULL: {sql}").into())
    }

    /// Returns the first column of the first row as a number.
    pub(crate) fn number(&self, sql: &str) -> Result<f64, Failed> {
        Ok(self.row(sql)?[0].parse()?)
    }

    /// Runs a query with `EXPLAIN (ANALYZE, BUFFERS)` and returns its plan.
    pub(crate) fn plan(&self, query: &str) -> Result<Value, Failed> {
        let explain = format!("EXPLAIN (ANALYZE, BUFFERS, TIMING OFF, FORMAT JSON) {query}");
        Ok(serde_json::from_str(&self.row(&explain)?[0])?)
    }

    /// Loads the indexes of a table into the buffers, because the previous turns of other kinds may have evicted them.
    pub(crate) fn warm(&self, kind: Kind) -> Result<(), Failed> {
        self.run(&format!(
            "SELECT pg_prewarm(indexrelid) FROM pg_index WHERE indrelid = '{}'::regclass",
            kind.table()
        ))
    }

    /// Writes a checkpoint, so that the next change of each page writes an image of the page to the WAL.
    pub(crate) fn checkpoint(&self) -> Result<(), Failed> {
        self.run("CHECKPOINT")
    }

    /// Returns the start of the last checkpoint. It changes if the server writes a checkpoint on its own.
    pub(crate) fn last_checkpoint(&self) -> Result<String, Failed> {
        Ok(self.row("SELECT redo_lsn FROM pg_control_checkpoint()")?.remove(0))
    }

    /// Returns the end of the WAL, after all WAL has been flushed.
    pub(crate) fn position(&self) -> Result<String, Failed> {
        // A durable commit after a record flushes all WAL before it.
        self.run("SELECT pg_logical_emit_message(true, 'flakeid', '')")?;
        Ok(self.row("SELECT pg_current_wal_flush_lsn()")?.remove(0))
    }

    /// Returns the amount of WAL between two positions.
    pub(crate) fn wal(&self, from: &str, until: &str) -> Result<Wal, Failed> {
        let split = r#""resource_manager/record_type" LIKE 'Btree/SPLIT%'"#;
        let row = self.row(&format!(
            "SELECT sum(record_size), sum(fpi_size), coalesce(sum(count) FILTER (WHERE {split}), 0)
             FROM pg_get_wal_stats('{from}', '{until}', true)"
        ))?;
        let number = |column: usize| row[column].parse::<f64>();
        Ok(Wal { records: number(0)?, images: number(1)?, splits: number(2)? })
    }

    /// Returns the number of different pages of B-tree indexes that changed between two positions.
    pub(crate) fn changed_index_pages(&self, from: &str, until: &str) -> Result<f64, Failed> {
        self.number(&format!(
            "SELECT count(DISTINCT page[1]) FROM pg_get_wal_records_info('{from}', '{until}'),
             regexp_matches(block_ref, 'blkref #\\d+: (rel \\S+ (?:fork \\S+ )?blk \\d+)', 'g') AS page
             WHERE resource_manager = 'Btree'"
        ))
    }

    /// Returns the server's version and settings.
    pub(crate) fn facts(&self) -> Result<Vec<String>, Failed> {
        let version = self.row("SHOW server_version")?.remove(0);
        let settings = REPORTED.map(|name| {
            let value = self.row(&format!("SHOW {name}"))?.remove(0);
            Ok(format!("`{name}={value}`"))
        });
        let settings: Vec<String> = settings.into_iter().collect::<Result<_, Failed>>()?;
        Ok(vec![format!("PostgreSQL {version}"), format!("Settings: {}", settings.join(", "))])
    }
}

fn url(server: &PostgresServer) -> String {
    server.url_of("postgres", PostgresServer::PASSWORD, "ids", "")
}
