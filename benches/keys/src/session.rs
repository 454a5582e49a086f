//! A session of the application: one connection with its own generators.

use std::error::Error;

use tokio::runtime::{Builder, Runtime};
use tokio_postgres::{Client, NoTls, Statement};

use crate::kind::{Generators, Keys, Kind};

pub(crate) type Failed = Box<dyn Error + Send + Sync>;

/// The number of rows that one statement inserts in a batch.
pub(crate) const BATCH: usize = 1000;

/// One connection, which one thread uses at a time.
pub(crate) struct Session {
    runtime: Runtime,
    client: Client,
    generators: Generators,
    /// The statements of each kind: a batch, and a single row.
    statements: Vec<[Statement; 2]>,
    customers: Vec<i32>,
    notes: Vec<String>,
}

impl Session {
    /// Connects, and prepares the statements. `node` distinguishes the session's IDs from those of other sessions.
    pub(crate) fn open(url: &str, node: u64) -> Result<Self, Failed> {
        let (runtime, client) = connect(url)?;
        let mut statements = Vec::new();
        for kind in Kind::ALL {
            let [batch, single] = inserts(kind);
            let batch = runtime.block_on(client.prepare(&batch))?;
            statements.push([batch, runtime.block_on(client.prepare(&single))?]);
        }
        let numbers = 0..BATCH as i32;
        Ok(Self {
            runtime,
            client,
            generators: Generators::new(node)?,
            statements,
            customers: numbers.clone().map(|number| number * 7919 % 10_007).collect(),
            notes: numbers.map(|number| format!("{number:040}")).collect(),
        })
    }

    /// Sets whether commits wait until the WAL is on the disk.
    pub(crate) fn set_durable(&mut self, durable: bool) -> Result<(), Failed> {
        let value = if durable { "on" } else { "off" };
        let set = format!("SET synchronous_commit = {value}");
        Ok(self.runtime.block_on(self.client.batch_execute(&set))?)
    }

    /// Inserts rows in transactions of `batch` rows, each with one statement.
    pub(crate) fn insert(&mut self, kind: Kind, rows: usize, batch: usize) -> Result<(), Failed> {
        let mut left = rows;
        while left > 0 {
            let count = left.min(batch).min(BATCH);
            match batch {
                1 => self.insert_single(kind)?,
                _ => self.insert_batch(kind, count)?,
            }
            left -= count;
        }
        Ok(())
    }

    fn insert_batch(&mut self, kind: Kind, count: usize) -> Result<(), Failed> {
        let statement = &self.statements[kind as usize][0];
        let (customers, notes) = (&&self.customers[..count], &&self.notes[..count]);
        let execute = async {
            match self.generators.keys(kind, count)? {
                Keys::Default => self.client.execute(statement, &[customers, notes]).await,
                Keys::Bigint(ids) => {
                    self.client.execute(statement, &[customers, notes, &ids]).await
                }
                Keys::Uuid(ids) => self.client.execute(statement, &[customers, notes, &ids]).await,
            }
            .map_err(Failed::from)
        };
        let inserted = self.runtime.block_on(execute)?;
        if inserted == count as u64 {
            return Ok(());
        }
        Err(format!("{}: inserted {inserted} of {count} rows", kind.table()).into())
    }

    fn insert_single(&mut self, kind: Kind) -> Result<(), Failed> {
        let statement = &self.statements[kind as usize][1];
        let (customer, note) = (&self.customers[0], &self.notes[0]);
        let execute = async {
            match self.generators.keys(kind, 1)? {
                Keys::Default => self.client.execute(statement, &[customer, note]).await,
                Keys::Bigint(ids) => {
                    self.client.execute(statement, &[customer, note, &ids[0]]).await
                }
                Keys::Uuid(ids) => self.client.execute(statement, &[customer, note, &ids[0]]).await,
            }
            .map_err(Failed::from)
        };
        self.runtime.block_on(execute)?;
        Ok(())
    }
}

/// Returns the statements that insert a batch and a single row.
fn inserts(kind: Kind) -> [String; 2] {
    let table = kind.table();
    let rows = "SELECT * FROM unnest($1::integer[], $2::text[]";
    match kind.array() {
        None => [
            format!("INSERT INTO {table} (customer, note) {rows})"),
            format!("INSERT INTO {table} (customer, note) VALUES ($1, $2)"),
        ],
        Some(array) => [
            format!("INSERT INTO {table} (customer, note, id) {rows}, $3::{array})"),
            format!("INSERT INTO {table} (customer, note, id) VALUES ($1, $2, $3)"),
        ],
    }
}

/// Connects with a runtime that drives the connection while it waits for a response.
pub(crate) fn connect(url: &str) -> Result<(Runtime, Client), Failed> {
    let runtime = Builder::new_current_thread().enable_all().build()?;
    let (client, connection) = runtime.block_on(tokio_postgres::connect(url, NoTls))?;
    runtime.spawn(async move {
        if let Err(error) = connection.await {
            eprintln!("flakeid-bench-keys: a connection failed: {error}");
        }
    });
    Ok((runtime, client))
}
