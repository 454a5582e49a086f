//! An application that leases nodes and a database that has one of the same namespace fill one table.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use flakeid_core::{Id, Layout};
use flakeid_lease::LeasedGenerator;
use flakeid_lease::protocol::Identity;
use flakeid_test_servers::{PostgresServer, Server};

use super::{ids, psql};
use crate::run::run;

/// Eight nodes, so that processes that come and go have had them all soon.
const LAYOUT: &str = "t41.n3.s10@1577836800000/1ms";

/// For how long; `FLAKEID_SQL_SECONDS` says otherwise.
fn length() -> Duration {
    let text = std::env::var("FLAKEID_SQL_SECONDS").unwrap_or_else(|_| "4".to_owned());
    Duration::from_secs(text.parse().expect("FLAKEID_SQL_SECONDS is a number of seconds"))
}

/// One statement after the other in a session of its own, which a primary key that comes twice would end.
struct Session {
    psql: Child,
    answers: BufReader<ChildStdout>,
}

impl Session {
    fn new(server: &PostgresServer) -> Self {
        let mut psql = Command::new("psql");
        psql.args(["-X", "-q", "-v", "ON_ERROR_STOP=1", &server.url()]);
        psql.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut psql = psql.spawn().expect("the package postgresql-client");
        let answers = BufReader::new(psql.stdout.take().expect("a standard output"));
        Self { psql, answers }
    }

    /// Whether the session has done it, and goes on.
    fn send(&mut self, sql: &str) -> bool {
        let mut input = self.psql.stdin.as_ref().expect("a standard input");
        let sent = input.write_all(format!("{sql}\n\\echo done\n").as_bytes());
        let mut answer = String::new();
        sent.is_ok() && self.answers.read_line(&mut answer).unwrap() > 0
    }

    fn end(mut self) {
        drop(self.psql.stdin.take());
        let output = self.psql.wait_with_output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }
}

fn insert<T: std::fmt::Display>(ids: impl IntoIterator<Item = T>) -> String {
    let mut sql = "INSERT INTO t (id, who) VALUES ".to_owned();
    for id in ids {
        write!(sql, "({id}, 'application'),").unwrap();
    }
    sql.pop();
    sql + ";\n"
}

/// What a session of the database does again and again.
const ROUND: &str = "
    INSERT INTO t DEFAULT VALUES;
    INSERT INTO t (who) SELECT 'database' FROM generate_series(1, 100);
    INSERT INTO t (id) SELECT flakeid_next_n(200);
    BEGIN; INSERT INTO t DEFAULT VALUES; SAVEPOINT s; INSERT INTO t DEFAULT VALUES; ROLLBACK TO s;
    INSERT INTO t DEFAULT VALUES; COMMIT;
";

#[test]
fn an_application_and_the_database_fill_one_table() {
    let server = PostgresServer::new();
    let url = server.url();
    let store = ["--store", &url, "--namespace", "orders"];
    run(&[&["leases", "init", "--layout", LAYOUT, "--fresh"], store.as_slice()].concat()).quiet();
    let args = [&["sql", "--dialect", "postgres", "--name", "db1"], store.as_slice()].concat();
    psql(&server, run(&args).quiet().text()).unwrap();
    psql(
        &server,
        "CREATE TABLE t (id bigint DEFAULT flakeid_next() PRIMARY KEY, who text DEFAULT 'database');",
    )
    .unwrap();
    let begin = Instant::now();
    let is_over = || begin.elapsed() > length();
    thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                let mut session = Session::new(&server);
                while !is_over() && session.send(ROUND) {}
                session.end();
            });
        }
        for number in 0..2 {
            let url = &url;
            let (server, is_over) = (&server, &is_over);
            scope.spawn(move || {
                let layout = LAYOUT.parse().unwrap();
                let name = Identity::Name(format!("web-{number}"));
                let lease = LeasedGenerator::builder(url, layout).unwrap().namespace("orders");
                let generator = lease.identity(name).open().unwrap();
                let mut session = Session::new(server);
                while !is_over() {
                    let ids = (0..200).map(|_| generator.next_id().unwrap());
                    if !session.send(&insert(ids)) {
                        break;
                    }
                }
                session.end();
            });
        }
        for _ in 0..2 {
            // Processes that lease a node, use it for a moment and give it back.
            scope.spawn(|| {
                let mut session = Session::new(&server);
                while !is_over() {
                    let args = [&["next", "-n", "1000", "--layout", LAYOUT], store.as_slice()];
                    let made = run(&args.concat()).quiet();
                    if !session.send(&insert(made.lines())) {
                        break;
                    }
                }
                session.end();
            });
        }
    });
    check(&server);
}

fn check(server: &PostgresServer) {
    let layout: Layout = LAYOUT.parse().unwrap();
    let nodes = psql(
        server,
        "SELECT DISTINCT ON (who, node) id FROM (SELECT id, who, flakeid_node(id) AS node FROM t) rows;",
    )
    .unwrap();
    let mut of = BTreeMap::new();
    for id in ids(&nodes) {
        let who = psql(server, &format!("SELECT who FROM t WHERE id = {id};")).unwrap();
        let node = layout.unpack(Id::from_i64(id)).unwrap().node;
        of.entry(who).or_insert_with(Vec::new).push(node);
    }
    let [database] = of["database"].as_slice() else { panic!("one node: {of:?}") };
    assert!(of["application"].len() >= 3 && !of["application"].contains(database), "{of:?}");
    let counts = psql(server, "SELECT count(*) FROM t GROUP BY who ORDER BY who;").unwrap();
    eprintln!("rows of the application and of the database: {}", counts.replace('\n', ", "));
    for count in ids(&counts) {
        assert!(count > 2000, "{counts}");
    }
}
