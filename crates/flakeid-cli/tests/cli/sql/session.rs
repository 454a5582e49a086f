//! Sessions of a database's client that stay open between statements.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdout, Command, Stdio};

/// Builds `psql` for the database of a URL. It ends at the first error.
pub(super) fn psql_client(url: &str) -> Command {
    let mut psql = Command::new("psql");
    psql.args(["-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", url]);
    psql
}

/// A session that runs one statement after the other.
pub(super) struct Session {
    client: Child,
    answers: BufReader<ChildStdout>,
}

impl Session {
    pub(super) fn new(mut client: Command) -> Self {
        client.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut client = client.spawn().expect("the database's client");
        let answers = BufReader::new(client.stdout.take().expect("a standard output"));
        Self { client, answers }
    }

    /// Returns the lines that the client writes for these statements, or `None` if the client has ended.
    pub(super) fn ask(&mut self, sql: &str) -> Option<Vec<String>> {
        let mut input = self.client.stdin.as_ref().expect("a standard input");
        input.write_all(format!("{sql}\nSELECT 'done';\n").as_bytes()).ok()?;
        let mut lines = Vec::new();
        loop {
            let mut line = String::new();
            if self.answers.read_line(&mut line).unwrap() == 0 {
                return None;
            }
            match line.trim_end() {
                "done" => return Some(lines),
                line => lines.push(line.to_owned()),
            }
        }
    }

    /// Returns the only line for statements that the database must not refuse.
    pub(super) fn answer(&mut self, sql: &str) -> String {
        match self.ask(sql) {
            Some(lines) => lines.join("\n"),
            None => panic!("{sql}: {}", self.fault()),
        }
    }

    /// Returns the client's last words, after a statement that the database refused.
    pub(super) fn refusal(&mut self, sql: &str) -> String {
        match self.ask(sql) {
            Some(lines) => panic!("{sql}: {lines:?}"),
            None => self.fault(),
        }
    }

    fn fault(&mut self) -> String {
        let mut fault = String::new();
        let stderr = self.client.stderr.as_mut().expect("a standard error");
        std::io::Read::read_to_string(stderr, &mut fault).expect("a text");
        fault
    }

    /// Ends the session, of which the database must not have refused anything.
    pub(super) fn end(mut self) {
        drop(self.client.stdin.take());
        let output = self.client.wait_with_output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }
}
