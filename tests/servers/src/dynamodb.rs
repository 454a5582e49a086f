use std::path::PathBuf;
use std::process::Command;

use tempfile::TempDir;

use crate::daemon::Daemon;
use crate::installed::{AWS_KEY, installed, responds};
use crate::{Server, free_port};

/// A private dynalite, which has the interface of `DynamoDB` and keeps its data in files.
/// The server accepts every access key and every signature.
#[derive(Debug)]
pub struct DynamoDbServer {
    home: TempDir,
    port: u16,
    daemon: Daemon,
}

impl DynamoDbServer {
    /// The name of the table.
    pub const TABLE: &'static str = "flakeid";

    /// Starts a server without tables.
    ///
    /// # Panics
    /// If dynalite is not installed or does not start.
    #[must_use]
    pub fn new() -> Self {
        let home = tempfile::tempdir().expect("a temporary directory");
        let daemon = Daemon::new("dynalite", home.path().join("log"));
        let server = Self { home, port: free_port(), daemon };
        server.start();
        server
    }

    /// The URL of the service, without a table.
    #[must_use]
    pub fn endpoint(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }
}

impl Default for DynamoDbServer {
    fn default() -> Self {
        Self::new()
    }
}

impl Server for DynamoDbServer {
    fn url(&self) -> String {
        let (key, secret) = AWS_KEY;
        let (table, endpoint) = (Self::TABLE, self.endpoint());
        format!("dynamodb://{key}:{secret}@{table}?region=us-east-1&endpoint={endpoint}")
    }

    fn start(&self) {
        let mut command = Command::new("node");
        command.arg(installed("dynalite/node_modules/dynalite/cli.js"));
        command.args(["--port", &self.port.to_string(), "--path"]).arg(self.data());
        command.args(["--createTableMs", "10", "--deleteTableMs", "10"]);
        self.daemon.start(&mut command, || responds(self.port));
    }

    fn stop(&self) {
        self.daemon.stop(libc::SIGTERM);
    }

    fn kill(&self) {
        self.daemon.kill();
    }

    fn pause(&self) {
        self.daemon.signal(libc::SIGSTOP);
    }

    fn resume(&self) {
        self.daemon.signal(libc::SIGCONT);
    }

    fn ended(&self) -> Option<String> {
        self.daemon.ended()
    }

    fn data(&self) -> PathBuf {
        self.home.path().join("data")
    }
}
