//! The scripts for `MariaDB` and `MySQL`. Both scripts define functions that decode IDs, and the
//! script for `MariaDB` can also define functions that generate IDs.

use flakeid_core::{Error, Layout};

use super::claim::DatabaseNode;
use super::layout_terms::{self, FormTerm, Places, Term};
use super::template::{check_name, fill};

const BEGIN: &str = include_str!("mariadb/begin.sql");
const NODE_GUARD: &str = include_str!("mariadb/node_guard.sql");
const DECODE: &str = include_str!("mariadb/decode.sql");
const FIELD: &str = include_str!("mariadb/field.sql");
const BOUNDS: &str = include_str!("mariadb/bounds.sql");
const UUID: &str = include_str!("mariadb/uuid.sql");
const TEXT: &str = include_str!("mariadb/text.sql");
const INSPECT: &str = include_str!("mariadb/inspect.sql");
const NEXT: &str = include_str!("mariadb/next.sql");
const END: &str = include_str!("mariadb/end.sql");

/// The largest number of characters in a database's name.
const LONGEST_NAME: usize = 64;

/// The SQL statement that stores the current time, in Unix milliseconds, in the variable `ms`.
const READ_CLOCK: &str = "SET STATEMENT time_zone = '+00:00' FOR \
    SELECT TIMESTAMPDIFF(MICROSECOND, TIMESTAMP'1970-01-01 00:00:00', SYSDATE(6)) DIV 1000 INTO ms;";

/// The differences between the scripts for `MariaDB` and `MySQL`.
struct Server {
    dialect: &'static str,
    name: &'static str,
    /// The maximum length of a `SIGNAL` message.
    longest_message: usize,
    /// The SQL that precedes statements outside functions, and the SQL that follows them.
    block: [&'static str; 2],
}

const MARIADB: Server = Server {
    dialect: "mariadb",
    name: "MariaDB 10.3 or later",
    longest_message: 500,
    block: ["BEGIN NOT ATOMIC", ""],
};

const MYSQL: Server = Server {
    dialect: "mysql",
    name: "MySQL 8.0 or later",
    longest_message: 128,
    block: [
        "CREATE OR REPLACE PROCEDURE flakeid_guard() READS SQL DATA\nBEGIN",
        "CALL flakeid_guard() $$\nDROP PROCEDURE flakeid_guard $$\n",
    ],
};

/// Returns the script for `MariaDB`. If `node` is given, the script also defines functions that
/// generate IDs.
///
/// # Errors
/// [`InvalidOption`](flakeid_core::ErrorKind::InvalidOption) if the database has an unsupported
/// name, or if `node` is given but no database is named.
pub(super) fn script(
    layout: &Layout,
    database: Option<&str>,
    node: Option<&DatabaseNode>,
) -> Result<String, Error> {
    check(database, node.is_some())?;
    Ok(render(&MARIADB, layout, database, node))
}

/// Returns the script for `MySQL`. The script only decodes IDs, because the functions that generate
/// IDs have not been tested on `MySQL`.
///
/// # Errors
/// [`InvalidOption`](flakeid_core::ErrorKind::InvalidOption) if the database has an unsupported
/// name.
pub(super) fn mysql_script(layout: &Layout, database: Option<&str>) -> Result<String, Error> {
    check(database, false)?;
    let script = render(&MYSQL, layout, database, None);
    let replace = |line: &str| {
        let Some(created) = line.strip_prefix("CREATE OR REPLACE ") else { return line.to_owned() };
        let name = created.split('(').next().unwrap_or_default();
        format!("DROP {} $$\nCREATE {created}", name.replacen(' ', " IF EXISTS ", 1))
    };
    let lines: Vec<String> = script.lines().map(replace).collect();
    Ok(lines.join("\n") + "\n")
}

/// Checks that the database has a supported name, and that a database is named if the script
/// generates IDs.
pub(super) fn check(database: Option<&str>, generates: bool) -> Result<(), Error> {
    let Some(name) = database else {
        if generates {
            let reason = "missing: name the database that will generate the IDs, because the name serves to detect a copy";
            return Err(Error::invalid_option("--schema", reason));
        }
        return Ok(());
    };
    check_name(name, LONGEST_NAME)
}

fn render(
    server: &Server,
    layout: &Layout,
    database: Option<&str>,
    node: Option<&DatabaseNode>,
) -> String {
    let mut terms = layout_terms::common(layout);
    let fields = layout_terms::fields(layout);
    let call = |name: &str| format!("flakeid_{name}(id)");
    terms.extend(layout_terms::optional_fields(&fields, call, "NULL"));
    let target =
        database.map_or("the database in use".to_owned(), |name| format!("the database {name}"));
    let times_1000 = |ms: i128| (ms * 1000).to_string();
    terms.extend([
        ("dialect", server.dialect.to_owned()),
        ("server", server.name.to_owned()),
        ("longest_message", server.longest_message.to_string()),
        ("guard_begin", server.block[0].to_owned()),
        ("guard_end", server.block[1].to_owned()),
        ("target", target),
        ("use", database.map_or(String::new(), |name| format!("USE `{name}`;\n"))),
        ("database_name", database.unwrap_or_default().to_owned()),
        ("stray", layout_terms::stray(layout).to_string()),
        ("epoch_us", times_1000(layout.epoch().into())),
        ("unit_us", times_1000(layout.unit_ms().into())),
        ("forms", layout_terms::form_branches(branch)),
        ("form_names", layout_terms::form_names()),
        (
            "header_node",
            node.map_or(String::new(), |node| format!(", node {}{}", node.node, node.origin)),
        ),
    ]);
    if let Some(node) = node {
        terms.extend(generator_terms(layout, node));
    }
    let guard = node.map_or(String::new(), |_| fill(NODE_GUARD, &terms));
    terms.push(("guard_node", guard));

    let mut text = fill(BEGIN, &terms) + &fill(DECODE, &terms);
    for field in fields {
        let own = [("field", field.name.to_owned()), ("field_of_id", field.of_id)];
        text += &fill(&fill(FIELD, &own), &terms);
    }
    for part in [BOUNDS, UUID, TEXT, INSPECT] {
        text += &fill(part, &terms);
    }
    if node.is_some() {
        text += &fill(NEXT, &terms);
    }
    text + END
}

/// Returns the template terms for `mariadb/next.sql`.
fn generator_terms(layout: &Layout, node: &DatabaseNode) -> Vec<Term> {
    let places = Places::of(layout);
    let (epoch, unit) = (layout.epoch(), layout.unit_ms());
    // A tick above `last_tick` is replaced with `last_tick + 1`, which has no slot. A database that
    // starts at this tick reports that the layout has no ticks left.
    let first = |tick: u64| tick.min(places.last_tick + 1);
    let used_up = |tick: u64| match first(tick).checked_sub(1) {
        Some(before) => (before << places.slot_bits) + places.usable - 1,
        None => 1,
    };
    let number = node.node.to_string();
    let mut own = layout_terms::counting(layout, &places);
    own.extend([
        ("used_up", used_up(node.first_tick).to_string()),
        ("used_up_of_new", used_up(node.first_tick_of_new).to_string()),
        ("first_tick_of_new", first(node.first_tick_of_new).to_string()),
        ("read_clock", READ_CLOCK.to_owned()),
        ("clock_tick", format!("(ms - {epoch}) DIV {unit}")),
        ("id_of_place", layout_terms::id_of_place(layout, &places, "place", &number)),
        ("node", number),
    ]);
    own
}

/// Formats a text form as a branch of a `CASE` statement.
fn branch(form: FormTerm) -> String {
    let FormTerm { name, alphabet, typed, meant, fewest, most } = form;
    format!(
        "  WHEN '{name}' THEN\n    SET alphabet = '{alphabet}', typed = '{typed}', meant = '{meant}',\n      \
         fewest = {fewest}, most = {most};"
    )
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    #[test]
    fn mariadb_and_mysql_scripts_contain_no_unfilled_placeholder() {
        for (name, layout) in Layout::presets().iter().filter(|(_, layout)| layout.width() < 64) {
            for node in [None, Some(0), Some(layout.max_node())] {
                let node = node.map(|node| DatabaseNode {
                    node,
                    first_tick: 0,
                    first_tick_of_new: u64::MAX,
                    origin: String::new(),
                });
                let script = script(layout, Some("ids"), node.as_ref()).unwrap();
                assert!(!script.contains("{{") && !script.contains("}}"), "{name}: {script}");
                assert_eq!(script.contains("AUTO_INCREMENT"), node.is_some(), "{name}");
            }
            let mysql = mysql_script(layout, None).unwrap();
            assert!(!mysql.contains("{{") && !mysql.contains("OR REPLACE"), "{name}: {mysql}");
            assert!(mysql.contains("DROP FUNCTION IF EXISTS flakeid_tick $$\n"), "{name}: {mysql}");
        }
    }
}
