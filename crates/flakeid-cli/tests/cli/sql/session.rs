//! Sessions of a database client that stay open between statements.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdout, Command, Stdio};

/// Builds a `psql` command for the database at a URL. The command exits at the first error.
pub(super) fn psql_client(url: &str) -> Command {
    let mut psql = Command::new("psql");
    psql.args(["-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", url]);
    psql
}

/// A client session that runs statements one after another.
pub(super) struct Session {
    client: Child,
    output: BufReader<ChildStdout>,
}

impl Session {
    pub(super) fn new(mut client: Command) -> Self {
        client.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut client = client.spawn().expect("the database's client");
        let output = BufReader::new(client.stdout.take().expect("a standard output"));
        Self { client, output }
    }

    /// Runs statements and returns the lines that the client writes. Returns `None` if the client
    /// has ended.
    pub(super) fn run(&mut self, sql: &str) -> Option<Vec<String>> {
        let mut input = self.client.stdin.as_ref().expect("a standard input");
        input.write_all(format!("{sql}\nSELECT 'done';\n").as_bytes()).ok()?;
        let mut lines = Vec::new();
        loop {
            let mut line = String::new();
            if self.output.read_line(&mut line).unwrap() == 0 {
                return None;
            }
            match line.trim_end() {
                "done" => return Some(lines),
                line => lines.push(line.to_owned()),
            }
        }
    }

    /// Runs statements that must succeed, and returns their output.
    pub(super) fn answer(&mut self, sql: &str) -> String {
        match self.run(sql) {
            Some(lines) => lines.join("\n"),
            None => panic!("{sql}: {}", self.fault()),
        }
    }

    /// Runs a statement that must fail, and returns the client's error message.
    pub(super) fn refusal(&mut self, sql: &str) -> String {
        match self.run(sql) {
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

    /// Ends the session, and checks that no statement failed.
    pub(super) fn end(mut self) {
        drop(self.client.stdin.take());
        let output = self.client.wait_with_output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }
}
