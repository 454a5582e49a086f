use std::process::Command;

use crate::daemon::Daemon;
use crate::home::home;
use crate::installed::{AWS_KEY, installed, responds};
use crate::{Server, free_port};

/// A private dynalite, which has the interface of `DynamoDB` and keeps its data in files.
/// The server accepts every access key and every signature.
#[derive(Debug)]
pub struct DynamoDbServer {
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
        let daemon = Daemon::in_home("dynalite", home());
        let server = Self { port: free_port(), daemon };
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
    fn daemon(&self) -> &Daemon {
        &self.daemon
    }

    fn url(&self) -> String {
        let (key, secret) = AWS_KEY;
        let (table, endpoint) = (Self::TABLE, self.endpoint());
        format!("dynamodb://{key}:{secret}@{table}?region=us-east-1&endpoint={endpoint}")
    }

    fn start(&self) {
        let script = concat!(env!("CARGO_MANIFEST_DIR"), "/dynalite/server.mjs");
        let mut command = Command::new("node");
        command.arg(script).arg(installed("dynalite/node_modules"));
        command.arg(self.port.to_string()).arg(self.data());
        self.daemon.start(&mut command, || responds(self.port));
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};
    use std::net::{Ipv4Addr, Shutdown, TcpStream};

    use super::*;

    #[test]
    fn server_survives_a_client_that_disconnects_within_a_request() {
        let server = DynamoDbServer::new();
        let send = |length: usize, body: &str| {
            let mut client = TcpStream::connect((Ipv4Addr::LOCALHOST, server.port)).unwrap();
            let head = "POST / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n";
            let request = format!("{head}Content-Length: {length}\r\n\r\n{body}");
            client.write_all(request.as_bytes()).unwrap();
            client.shutdown(Shutdown::Write).unwrap();
            let mut response = String::new();
            client.read_to_string(&mut response).map(|_| response)
        };
        // The server closes the connection after it has detected the end of the incomplete request.
        let _ = send(100, "incomplete");
        assert_eq!(server.ended(), None);
        let response = send(0, "").unwrap();
        assert!(response.starts_with("HTTP/1.1 "), "{response}");
    }
}
