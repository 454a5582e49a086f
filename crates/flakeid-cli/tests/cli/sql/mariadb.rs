//! Tests of the scripts for `MariaDB`: decoding and generating IDs, copies of the database, and
//! privileges.

use std::fmt::Write as _;
use std::process::Command;

use flakeid_core::{Id, Layout};
use flakeid_test_servers::MariadbServer;

use super::decode::{Engine, are_enough, check_decoding};
use super::{ids, outcome};
use crate::run::run;

/// Starts a private server whose user `flakeid` may create databases.
pub(super) fn server() -> MariadbServer {
    let server = MariadbServer::new();
    server.sql("GRANT ALL ON *.* TO flakeid").unwrap();
    server
}

/// Builds a `mariadb` client command that connects to the database `ids` as its owner.
pub(super) fn client(server: &MariadbServer) -> Command {
    let mut client = Command::new("mariadb");
    client.args(["--no-defaults", "-h", "127.0.0.1", "-u", "flakeid", "-N", "-B", "--raw"]);
    client.arg(format!("-P{}", server.port()));
    client.arg(format!("-p{}", MariadbServer::PASSWORD)).arg("ids");
    client
}

/// Runs SQL in the database `ids`, and returns the output or the error.
pub(super) fn query(server: &MariadbServer, sql: &str) -> Result<String, String> {
    outcome(client(server), sql)
}

/// Returns the script that `flakeid sql` prints for a dialect and a layout. `args` contains
/// additional options.
pub(super) fn script(dialect: &str, layout: &str, args: &[&str]) -> String {
    let first = ["sql", "--dialect", dialect, "--layout", layout];
    run(&[&first, args].concat()).quiet().text().to_owned()
}

/// A server on which the tests run the scripts of one dialect.
pub(super) struct DialectServer<'a> {
    pub(super) server: &'a MariadbServer,
    pub(super) dialect: &'static str,
}

impl Engine for DialectServer<'_> {
    /// Whether the test uses the given layout. All layouts are tested in the server's own dialect.
    /// A few layouts are enough for the other dialect, because the scripts for both dialects
    /// contain the same functions.
    fn supports(&self, layout: &str) -> bool {
        let is_own_dialect = self.server.is_mysql() == (self.dialect == "mysql");
        is_own_dialect || ["twitter", "sonyflake", "js-safe"].contains(&layout)
    }

    fn install(&self, layout: &str, schema: &str) {
        let script = script(self.dialect, layout, &["--decode-only", "--schema", schema]);
        let recreate = format!("DROP DATABASE IF EXISTS {schema}; CREATE DATABASE {schema};\n");
        assert_eq!(query(self.server, &format!("{recreate}{script}")).unwrap(), "");
    }

    fn results(&self, queries: &[String]) -> Vec<String> {
        let mut sql =
            "SET NAMES utf8mb4, sql_mode = 'NO_BACKSLASH_ESCAPES';\nDELIMITER $$\n".to_owned();
        // In MySQL, SQL code can handle errors only in a stored program, such as a procedure.
        // Creating a procedure is slow, so each procedure runs up to 200 queries.
        for queries in queries.chunks(200) {
            sql += "DROP PROCEDURE IF EXISTS answers $$\nCREATE PROCEDURE answers() READS SQL DATA BEGIN\n";
            for query in queries {
                let expression = query.strip_prefix("SELECT ").expect(query);
                write!(
                    sql,
                    "BEGIN DECLARE EXIT HANDLER FOR SQLEXCEPTION BEGIN
                       GET DIAGNOSTICS CONDITION 1 @state = RETURNED_SQLSTATE, @text = MESSAGE_TEXT;
                       SELECT REPLACE(REPLACE(CONCAT(@state, ' ', @text), CHAR(10), ' '), CHAR(13), ' ');
                     END; SELECT IFNULL({expression}, 'null'); END;\n"
                )
                .unwrap();
            }
            sql += "END $$\nCALL answers() $$\n";
        }
        query(self.server, &sql).unwrap().lines().map(str::to_owned).collect()
    }

    fn unix_ms(&self, instant: &str) -> String {
        format!("TIMESTAMPDIFF(MICROSECOND, '1970-01-01', {instant}) DIV 1000")
    }

    fn uuid(&self, digits: &str) -> String {
        format!("X'{digits}'")
    }

    fn yes(&self) -> &'static str {
        "1"
    }

    fn instant(&self, rfc3339: &str) -> Option<String> {
        Some(rfc3339.strip_suffix('Z')?.replace('T', " "))
    }
}

#[test]
fn mariadb_id_decoding_matches_the_test_vectors() {
    let server = server();
    let compared = check_decoding(&DialectServer { server: &server, dialect: "mariadb" });
    assert!(are_enough(compared), "{compared:?}");
}

/// The statements that create a table and a trigger. The trigger generates an ID for each row that
/// is inserted without an ID.
const TABLE: &str = "
    CREATE TABLE t (id BIGINT DEFAULT 0 PRIMARY KEY, x INT);
    CREATE TRIGGER t_id BEFORE INSERT ON t FOR EACH ROW SET NEW.id = IF(NEW.id = 0, flakeid_next(), NEW.id);
";

#[test]
fn mariadb_script_installs_functions_that_generate_ids() {
    let server = server();
    let own_script = |node| script("mariadb", "twitter", &["--node", node, "--schema", "ids"]);
    assert_eq!(query(&server, &own_script("7")).unwrap(), "");
    // When daylight saving time ends in autumn, one hour of local time occurs twice, so the
    // session's time zone must not affect the generated IDs.
    let sql = format!(
        "{TABLE} SET time_zone = '+05:00', sql_mode = 'ANSI_QUOTES,PIPES_AS_CONCAT,NO_UNSIGNED_SUBTRACTION';
         INSERT INTO t (x) SELECT seq FROM seq_1_to_6000;
         INSERT INTO t (x) VALUES (1), (2);
         INSERT INTO t (id, x) VALUES (flakeid_next(), 3), (17, 4);
         SELECT ABS(TIMESTAMPDIFF(SECOND, flakeid_time(flakeid_next()), UTC_TIMESTAMP(6))) < 5;
         SELECT id FROM t ORDER BY id;"
    );
    let answer = query(&server, &sql).unwrap();
    let (is_now, all) = answer.split_once('\n').unwrap();
    assert_eq!(is_now, "1");
    let all = ids(all);
    assert_eq!((all.len(), all[0]), (6004, 17));
    for id in &all[1..] {
        assert_eq!(Layout::TWITTER.unpack(Id::from_i64(*id)).unwrap().node, 7);
    }
    // The same script can run again, but a script for another node or layout is rejected.
    assert_eq!(query(&server, &own_script("7")).unwrap(), "");
    let next = || ids(&query(&server, "SELECT flakeid_next();").unwrap())[0];
    assert!(next() > all[all.len() - 1]);
    for other in [
        own_script("8"),
        script("mariadb", "plain", &["--node", "7", "--schema", "ids"]),
        script("mariadb", "sonyflake", &["--decode-only"]),
    ] {
        let refusal = query(&server, &other).unwrap_err();
        assert!(
            refusal.contains("(IDOPT)") && refusal.contains("FLAKEID_INVALID_OPTION"),
            "{refusal}"
        );
    }
    assert_eq!(
        query(&server, "SELECT flakeid_node(flakeid_next()), flakeid_layout();").unwrap(),
        format!("7\t{}", Layout::TWITTER)
    );
    check_that_a_copy_does_not_generate(&server);
    check_privileges(&server);
}

fn check_that_a_copy_does_not_generate(server: &MariadbServer) {
    // The names of the copy and of the original database differ only in case.
    server.sql("CREATE DATABASE Ids").unwrap();
    let dump = Command::new("mariadb-dump")
        .args(["--no-defaults", "-h", "127.0.0.1", "-u", "flakeid", "--routines", "--triggers"])
        .arg(format!("-P{}", server.port()))
        .arg(format!("-p{}", MariadbServer::PASSWORD))
        .arg("ids")
        .output()
        .unwrap();
    assert!(dump.status.success(), "{}", String::from_utf8_lossy(&dump.stderr));
    let dump = String::from_utf8(dump.stdout).unwrap();
    query(server, &format!("USE Ids;\n{dump}")).unwrap();
    let call = "INSERT INTO Ids.t (x) VALUES (1);";
    let refusal = query(server, call).unwrap_err();
    assert!(refusal.contains("(IDFRK)"), "{refusal}");
    assert!(refusal.contains("FLAKEID_FORKED: node 7 belongs to the database ids"), "{refusal}");
    // Running the script in the copy must not enable the copy to generate IDs, unless the function
    // `flakeid_own_node` has been dropped.
    let own = |node| script("mariadb", "twitter", &["--node", node, "--schema", "Ids"]);
    for node in ["7", "9"] {
        let refusal = query(server, &own(node)).unwrap_err();
        assert!(refusal.contains("DROP FUNCTION flakeid_own_node"), "{refusal}");
    }
    query(server, &format!("DROP FUNCTION Ids.flakeid_own_node;\n{}", own("9"))).unwrap();
    query(server, call).unwrap();
    let node = query(server, "SELECT flakeid_node(MAX(id)) FROM Ids.t;").unwrap();
    assert_eq!(node, "9");
}

/// Checks that a user with only the `EXECUTE` privilege can generate IDs, but cannot write to the
/// table of positions.
fn check_privileges(server: &MariadbServer) {
    server.sql("CREATE USER guest; GRANT EXECUTE ON ids.* TO guest").unwrap();
    let call = |sql: &str| {
        let mut client = Command::new("mariadb");
        client.args(["--no-defaults", "-h", "127.0.0.1", "-u", "guest", "-N", "-B", "-e", sql]);
        let output = client.arg(format!("-P{}", server.port())).arg("ids").output().unwrap();
        String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).trim().to_owned()
    };
    assert_eq!(call("SELECT flakeid_next() > 0"), "1");
    let forbidden = call("INSERT INTO flakeid_position VALUES (1, 1)");
    assert!(forbidden.contains("denied"), "{forbidden}");
}

/// For every kind of layout, the functions generate ordered IDs that the core can decode.
#[test]
fn mariadb_generates_ordered_ids_for_every_kind_of_layout() {
    let server = server();
    for (name, node) in super::generate::SHAPES {
        let layout: Layout = name.parse().unwrap();
        let script = script("mariadb", name, &["--node", &node.to_string(), "--schema", "g"]);
        let sql = format!(
            "CREATE OR REPLACE DATABASE g;\n{script}
             SELECT g.flakeid_next() FROM seq_1_to_20; SELECT g.flakeid_next();"
        );
        let issued = ids(&query(&server, &sql).unwrap());
        assert!(issued.len() == 21 && issued.is_sorted_by(|a, b| a < b), "{name}: {issued:?}");
        for id in issued {
            let parts = layout.unpack(Id::from_i64(id)).unwrap();
            assert_eq!((parts.node, parts.clock_sequence), (node, 0), "{name}");
        }
    }
}

/// After the fence is raised and the script is run again, the tick of the next ID is at or above
/// the fence.
#[test]
fn mariadb_issues_no_id_below_the_lease_fence() {
    let (_, store) = crate::run::scratch("sql-mariadb-fence");
    let run = |args: &[&str]| run(&[args, &["--store", &store]].concat()).quiet().text().to_owned();
    run(&["leases", "init"]);
    let server = server();
    let script = || run(&["sql", "--dialect", "mariadb", "--schema", "ids", "--name", "db1"]);
    query(&server, &script()).unwrap();
    let first = ids(&query(&server, "SELECT flakeid_next();").unwrap())[0];
    run(&["leases", "fast-forward", "--by", "3s", "--yes"]);
    query(&server, &script()).unwrap();
    let refusal = query(&server, "SELECT flakeid_next();").unwrap_err();
    assert!(refusal.contains("(IDFNC) at line 1: FLAKEID_FENCE_IN_FUTURE"), "{refusal}");
    std::thread::sleep(std::time::Duration::from_millis(2500));
    let second = ids(&query(&server, "SELECT flakeid_next();").unwrap())[0];
    let seconds = (second >> 22) - (first >> 22);
    assert!((2900..9000).contains(&seconds), "{seconds}");
}
