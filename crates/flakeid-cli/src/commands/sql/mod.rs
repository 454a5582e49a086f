//! `flakeid sql`: writes a script of functions that decode and generate IDs inside a database.

mod claim;
mod layout_terms;
mod mariadb;
mod postgres;
mod sqlite;
mod template;

pub(crate) use claim::DATABASE;

use std::io::Write;

use clap::{Args, ValueEnum};
use flakeid_core::{Clock, Error, Layout, SystemClock};
use flakeid_json::layout_obstacle;

use crate::args::layout_arg::LayoutArg;
use crate::failure::{Failure, Outcome};
use crate::format::number;
use crate::store::StoreArgs;
use crate::terminal;

use self::claim::{Claim, DatabaseNode};

/// Writes a script that lets a database decode or generate IDs itself
///
/// Pipe the script into the database's client. The functions are written in plain SQL and PL/pgSQL,
/// so they also run on servers where you cannot install extensions. You can run the script
/// repeatedly, and should run it again after you update flakeid.
///
/// No other database or program may use the node that you specify with --node. With --name, the
/// database gets a node from a namespace. The node is quarantined in the namespace, so that no
/// process leases the node. If you run the command again, the same name gets the same node.
///
/// A copy of the database, or the database itself after a restore from a dump, does not generate
/// IDs until its owner calls `flakeid_rearm`. The dialect `mariadb` detects a copy only if the copy
/// has a different name.
#[derive(Args)]
#[command(after_long_help = EXAMPLES)]
pub(crate) struct SqlArgs {
    /// Database system for which to write the script
    #[arg(long, value_enum, value_name = "DIALECT")]
    dialect: Dialect,

    #[command(flatten)]
    layout: LayoutArg,

    /// Node of the IDs that the database generates; no other generator may use this node
    #[arg(long, value_name = "N", allow_hyphen_values = true, conflicts_with = "decode_only")]
    node: Option<String>,

    /// Permanently take a node from a namespace for the database with this name
    #[arg(long, value_name = "NAME", conflicts_with_all = ["node", "decode_only"])]
    name: Option<String>,

    #[command(flatten)]
    store: StoreArgs,

    /// Existing schema for the functions; with mariadb and mysql, an existing database [default for
    /// postgres: public]
    #[arg(long, value_name = "NAME")]
    schema: Option<String>,

    /// Write only the functions that decode IDs, compute bounds and convert text forms
    #[arg(long)]
    decode_only: bool,

    /// Also write functions that seal and open public IDs (only with postgres); the script contains
    /// no keys
    #[arg(long)]
    keyed: bool,
}

// The tests run every example line that begins with `flakeid`.
const EXAMPLES: &str = "\
Functions:
  flakeid_next()                             the next ID, as the default of a column
  flakeid_next_n(count)                      many IDs at a time, which is faster than one by one
  flakeid_time(id), _node, _sequence …       the fields of an ID; flakeid_inspect(id) returns all
  flakeid_min(timestamptz), flakeid_max(…)   bounds of a time range, which let queries skip partitions
  flakeid_text(id, form), flakeid_parse(…)   base62 and the other text forms
  flakeid_seal(id, domain), flakeid_open(…)  with --keyed: public IDs, see `flakeid seal`
  flakeid_rearm(node, from_tick)             gives the database or a copy this node; fails while transactions
                                             that have taken IDs are open

Examples:
  flakeid sql --dialect postgres --node 7
  flakeid sql --dialect postgres --layout sonyflake --node 7 --schema ids
  flakeid sql --dialect postgres --layout js-safe --decode-only
  flakeid sql --dialect postgres --node 7 --keyed
  flakeid sql --dialect postgres --node 7 > ids.sql
  flakeid sql --dialect mariadb --node 7 --schema orders
  flakeid sql --dialect mysql --decode-only
  flakeid sql --dialect sqlite --node 7

With a node of a namespace, next to programs that lease the others:
  flakeid leases init --store sqlite://flakeid.db --namespace orders
  flakeid sql --dialect postgres --name db1 --store sqlite://flakeid.db --namespace orders

Then:
  psql --file ids.sql DATABASE
  CREATE TABLE orders (id bigint DEFAULT flakeid_next() PRIMARY KEY)

Call the first two functions in the statement itself: in a subquery, several rows may share an ID.

MariaDB and MySQL lack flakeid_next_n and flakeid_rearm, and their times are DATETIME in UTC. For SQLite, the
script loads and configures an extension; with --store each connection leases its node.";

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Dialect {
    #[value(help = "PostgreSQL 13 or later")]
    Postgres,
    #[value(help = "MariaDB 10.3 or later")]
    Mariadb,
    #[value(help = "MySQL 8.0 or later, only with --decode-only")]
    Mysql,
    #[value(help = "SQLite 3.14 or later, with the extension flakeid_sqlite")]
    Sqlite,
}

pub(crate) fn run(args: &SqlArgs) -> Outcome {
    let script = script(args)?;
    let mut out = terminal::stream();
    out.write_all(script.as_bytes())?;
    out.flush()?;
    Ok(())
}

fn script(args: &SqlArgs) -> Result<String, Failure> {
    let schema = args.schema.as_deref();
    match args.dialect {
        Dialect::Postgres => {
            let (layout, node) = args.layout_and_node()?;
            let schema = schema.unwrap_or("public");
            Ok(postgres::script(&layout, schema, node.as_ref(), args.keyed)?)
        }
        Dialect::Mariadb => {
            args.refuse_keyed()?;
            let (layout, node) = args.layout_and_node()?;
            Ok(mariadb::script(&layout, schema, node.as_ref())?)
        }
        Dialect::Mysql => {
            if !args.decode_only {
                let reason = "missing: MySQL supports only functions that read IDs; generate the IDs in your program";
                return Err(Error::invalid_option("--decode-only", reason).into());
            }
            args.refuse_keyed()?;
            let (layout, _) = args.layout_and_node()?;
            Ok(mariadb::mysql_script(&layout, schema)?)
        }
        Dialect::Sqlite => {
            sqlite::check(args.name.as_deref(), schema, args.keyed)?;
            if args.store.is_given() {
                return args.leasing_connections();
            }
            let (layout, node) = args.without_a_store()?;
            let node: Vec<_> = node.iter().map(|node| format!("node={}", node.node)).collect();
            Ok(sqlite::script(&layout, &node))
        }
    }
}

impl SqlArgs {
    fn refuse_keyed(&self) -> Outcome {
        if !self.keyed {
            return Ok(());
        }
        let reason = "the scripts for MariaDB and MySQL have no functions for public IDs; create them in your program";
        Err(Error::invalid_option("--keyed", reason).into())
    }

    fn layout_and_node(&self) -> Result<(Layout, Option<DatabaseNode>), Failure> {
        match &self.name {
            Some(name) => self.claim(name),
            None => self.without_a_store(),
        }
    }

    /// Returns the layout and the node that the options specify. The node is `None` for a script
    /// that only decodes IDs.
    fn without_a_store(&self) -> Result<(Layout, Option<DatabaseNode>), Failure> {
        if self.store.is_given() {
            let reason = "missing: with --store or --namespace, give the name of the database that gets the node";
            return Err(Error::invalid_option("--name", reason).into());
        }
        let layout = self.layout.resolve()?;
        fits_a_column(&layout)?;
        let Some(node) = &self.node else {
            if self.decode_only {
                return Ok((layout, None));
            }
            let leased =
                if self.dialect == Dialect::Sqlite { "--store URL" } else { "--name NAME" };
            let reason = format!(
                "missing: give --node N (0 to {}) or {leased} for IDs that the database generates, or \
                 --decode-only",
                layout.max_node()
            );
            return Err(Error::invalid_option("--node", &reason).into());
        };
        let node = number::parse("node", node, 0, layout.max_node())?;
        can_generate(&layout)?;
        let origin = String::new();
        Ok((layout, Some(DatabaseNode { node, first_tick: 0, first_tick_of_new: 0, origin })))
    }

    /// Returns the statements that each connection to `SQLite` must run to lease a node.
    fn leasing_connections(&self) -> Result<String, Failure> {
        if self.decode_only || self.node.is_some() {
            let reason = "a store is for leased nodes: omit it, or omit --node and --decode-only";
            return Err(Error::invalid_option("--store", reason).into());
        }
        let mut connection = self.store.connect()?;
        let layout = connection.list()?.namespace.layout;
        self.check_layout(&layout)?;
        let location = &connection.location;
        if let Some(file) = location.file()
            && !location.as_url().starts_with("sqlite:///")
        {
            let reason = format!(
                "{location} is relative to the folder of the process, and processes in other folders would lease the \
                 same nodes from other stores; write sqlite://{}",
                file.display()
            );
            return Err(Error::invalid_option("--store", &reason).into());
        }
        if location.file().is_none() && location.to_string() != location.as_url() {
            terminal::warning(
                "the script contains the URL of the store as given, including the user name and password",
            );
        }
        let store = format!("store={}", location.as_url());
        Ok(sqlite::script(&layout, &[store, format!("namespace={}", connection.namespace)]))
    }

    /// Returns the namespace's layout and the node that the database uses from now on.
    fn claim(&self, name: &str) -> Result<(Layout, Option<DatabaseNode>), Failure> {
        let mut connection = self.store.connect()?;
        let mut claim = Claim::new(&mut connection, name)?;
        let layout = claim.layout()?;
        // All other checks precede the call to `claim.node`, because that call takes the node
        // permanently.
        self.check_layout(&layout)?;
        match (self.dialect, &self.schema) {
            (Dialect::Postgres, Some(schema)) => _ = postgres::quoted(schema)?,
            (Dialect::Postgres, None) => {}
            (_, schema) => mariadb::check(schema.as_deref(), true)?,
        }
        Ok((layout, Some(claim.node()?)))
    }

    /// Checks that a column can hold IDs with the namespace's layout, and that `--layout`, if used,
    /// specifies the same layout.
    fn check_layout(&self, layout: &Layout) -> Outcome {
        if let Some(given) = self.layout.given()?
            && !given.is_same_space(layout)
        {
            let reason =
                format!("the namespace has the layout {layout}, not {given}: omit --layout");
            return Err(Error::invalid_option("--layout", &reason).into());
        }
        fits_a_column(layout)?;
        can_generate(layout)
    }
}

fn can_generate(layout: &Layout) -> Outcome {
    match layout_obstacle(layout, SystemClock.unix_ms()) {
        None => Ok(()),
        Some(error) => {
            Err(Failure::hinted(error, "to write a script that only decodes, add --decode-only"))
        }
    }
}

/// Checks that the layout has at most 63 bits. A signed 64-bit column would sort IDs with the top
/// bit set before all other IDs, and the bounds of time ranges would be wrong.
fn fits_a_column(layout: &Layout) -> Outcome {
    if layout.width() < 64 {
        return Ok(());
    }
    let reason = format!(
        "{layout} has 64 bits, and a signed 64-bit column sorts an ID with the top bit set before all \
         others; use a layout of at most 63 bits in a database"
    );
    let hint = "`flakeid layout` lists the number of bits of each preset";
    Err(Failure::hinted(Error::invalid_option("--layout", &reason), hint))
}
