//! Runs the guide's programs, with a time limit or as a web service. A service listens on a free
//! port, gets requests for IDs, and is stopped.

use std::collections::BTreeSet;
use std::io::{Read, Write};
use std::net::{Ipv4Addr, TcpStream};
use std::path::PathBuf;
use std::process::{Child, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use clap::Args;
use flakeid_steps::{Failed, Outcome, Step};
use serde_json::Value;

/// The packages and environments with which the guide's programs run.
#[derive(Args)]
pub(crate) struct Built {
    /// The folder of the C library, with `lib` and `include`.
    #[arg(long)]
    pub(crate) c_library: PathBuf,
    /// The archive of the C library.
    #[arg(long)]
    pub(crate) c_archive: PathBuf,
    /// The proxy that serves the Go module.
    #[arg(long)]
    pub(crate) go_proxy: PathBuf,
    /// A Python interpreter with the wheel and `examples/requirements.txt`.
    #[arg(long)]
    pub(crate) python: String,
    /// The wheel.
    #[arg(long)]
    pub(crate) wheel: PathBuf,
    /// The folder with the files of `examples/fastify` and their dependencies.
    #[arg(long)]
    pub(crate) node: String,
    /// The folder with the files of `examples/node-types` and their dependencies.
    #[arg(long)]
    pub(crate) node_types: String,
    /// The folder of the npm packages.
    #[arg(long)]
    pub(crate) npm_packages: String,
    /// The folder with the dependencies of `examples/bundlers`, and the npm packages.
    #[arg(long)]
    pub(crate) bundlers: String,
    /// The folder with the files of `examples/prisma` and their dependencies.
    #[arg(long)]
    pub(crate) prisma: String,
}

/// The folder of all builds and runs.
pub(crate) const WORK: &str = "target/docs";

/// Returns a step that stops the program after two minutes.
pub(crate) fn bounded(program: &str, arguments: &[&str]) -> Step {
    Step::new("timeout", &["--kill-after=5", "120", program]).args(arguments)
}

/// The time limit for a service, which is long enough for a busy machine.
const TIMEOUT: Duration = Duration::from_secs(60);

/// A program in the background. Dropping this value ends the program, first with SIGTERM.
pub(crate) struct Background(Child);

impl Background {
    pub(crate) fn start(step: Step) -> Result<Self, Failed> {
        step.spawn(Stdio::null(), Stdio::inherit()).map(Self)
    }

    fn has_ended(&mut self) -> bool {
        !matches!(self.0.try_wait(), Ok(None))
    }
}

impl Drop for Background {
    fn drop(&mut self) {
        let terminated = Step::new("kill", &["-TERM", &self.0.id().to_string()]).run();
        let start = Instant::now();
        while terminated.is_ok() && !self.has_ended() && start.elapsed() < TIMEOUT {
            sleep(Duration::from_millis(20));
        }
        // The two calls fail only if the program has already ended.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Whether the status in the head of a response starts with the given digit.
fn has_status(head: &str, first: char) -> bool {
    head.split(' ').nth(1).is_some_and(|status| status.starts_with(first))
}

/// A running web service.
pub(crate) struct Service {
    background: Background,
    port: u16,
}

impl Service {
    /// Starts the service, and waits until it listens on `port`.
    pub(crate) fn start(step: Step, port: u16) -> Result<Self, Failed> {
        let mut service = Self { background: Background::start(step)?, port };
        let start = Instant::now();
        while TcpStream::connect((Ipv4Addr::LOCALHOST, port)).is_err() {
            if service.background.has_ended() || start.elapsed() > TIMEOUT {
                return Err(Failed(format!("the service does not listen on port {port}")));
            }
            sleep(Duration::from_millis(20));
        }
        Ok(service)
    }

    /// Sends a request. The response must be a success with a JSON body.
    pub(crate) fn request(&self, method: &str, path: &str, body: &str) -> Result<Value, Failed> {
        let response = self.exchange(method, path, body)?;
        let (head, body) = response.split_once("\r\n\r\n").unwrap_or((&response, ""));
        match serde_json::from_str(body) {
            Ok(value) if has_status(head, '2') => Ok(value),
            _ => Err(Failed(format!("{method} {path}: {response}"))),
        }
    }

    /// Checks that the service rejects a request as an error of the client.
    pub(crate) fn check_rejected(&self, method: &str, path: &str, body: &str) -> Outcome {
        let response = self.exchange(method, path, body)?;
        if has_status(&response, '4') {
            return Ok(());
        }
        Err(Failed(format!("{method} {path} does not reject {body}: {response}")))
    }

    fn exchange(&self, method: &str, path: &str, body: &str) -> Result<String, Failed> {
        let response = self.response(method, path, body);
        response.map_err(|error| Failed(format!("{method} {path}: {error}")))
    }

    fn response(&self, method: &str, path: &str, body: &str) -> std::io::Result<String> {
        let mut stream = TcpStream::connect((Ipv4Addr::LOCALHOST, self.port))?;
        stream.set_read_timeout(Some(TIMEOUT))?;
        write!(
            stream,
            "{method} {path} HTTP/1.0\r\nHost: localhost\r\nContent-Type: application/json\r\n\
             Content-Length: {}\r\n\r\n{body}",
            body.len()
        )?;
        let mut response = String::new();
        stream.read_to_string(&mut response)?;
        Ok(response)
    }

    /// Sends the same request for an ID twenty times, and checks that the IDs are distinct.
    pub(crate) fn check_ids(&self, method: &str, path: &str, body: &str) -> Outcome {
        let mut ids = BTreeSet::new();
        for _ in 0..20 {
            let response = self.request(method, path, body)?;
            let id = response["id"].as_str().and_then(|id| id.parse::<u64>().ok());
            match id {
                Some(id) if ids.insert(id) => {}
                _ => {
                    return Err(Failed(format!(
                        "{method} {path}: no ID, or a repeated ID: {response}"
                    )));
                }
            }
        }
        Ok(())
    }
}
