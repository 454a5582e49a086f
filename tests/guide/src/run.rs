//! How the programs of the guide are run: with what was built for them, and for a limited time or
//! as a web service, which is started on a free port, asked for IDs, and stopped.

use std::collections::BTreeSet;
use std::io::{Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::path::PathBuf;
use std::process::{Child, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use clap::Args;
use flakeid_steps::{Failed, Outcome, Step};
use serde_json::Value;

/// What was built for the guide, and where.
#[derive(Args)]
pub(crate) struct Built {
    /// The folder of the C library, with `lib` and `include`.
    #[arg(long)]
    pub(crate) c_library: PathBuf,
    /// A Python that has the wheel and `examples/requirements.txt`.
    #[arg(long)]
    pub(crate) python: String,
    /// A folder with the files of `examples/fastify` and all that they need.
    #[arg(long)]
    pub(crate) node: String,
    /// The same for `examples/node-types`.
    #[arg(long)]
    pub(crate) node_types: String,
    /// The same for `examples/prisma`.
    #[arg(long)]
    pub(crate) prisma: String,
}

/// Where everything is built and run.
pub(crate) const WORK: &str = "target/docs";

/// A program that is stopped if it takes longer than two minutes.
pub(crate) fn bounded(program: &str, arguments: &[&str]) -> Step {
    Step::new("timeout", &["--kill-after=5", "120", program]).args(arguments)
}

/// On a machine that is busy with other things.
const PATIENCE: Duration = Duration::from_secs(60);

/// A port that nobody listens on.
pub(crate) fn free_port() -> Result<u16, Failed> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0));
    let address = listener.and_then(|listener| listener.local_addr());
    address.map(|address| address.port()).map_err(|error| Failed(format!("no port: {error}")))
}

/// A program in the background. Dropping it ends it, gently at first.
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
        let gently = Step::new("kill", &["-TERM", &self.0.id().to_string()]).run();
        let start = Instant::now();
        while gently.is_ok() && !self.has_ended() && start.elapsed() < PATIENCE {
            sleep(Duration::from_millis(20));
        }
        // It may have ended, and then these have nothing to do.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Whether the status in the head of an answer begins with that digit.
fn has_status(head: &str, first: char) -> bool {
    head.split(' ').nth(1).is_some_and(|status| status.starts_with(first))
}

/// A service that listens.
pub(crate) struct Service {
    background: Background,
    port: u16,
}

impl Service {
    /// Starts it and waits until it answers on `port`.
    pub(crate) fn start(step: Step, port: u16) -> Result<Self, Failed> {
        let mut service = Self { background: Background::start(step)?, port };
        let start = Instant::now();
        while TcpStream::connect((Ipv4Addr::LOCALHOST, port)).is_err() {
            if service.background.has_ended() || start.elapsed() > PATIENCE {
                return Err(Failed(format!("the service on port {port} does not listen")));
            }
            sleep(Duration::from_millis(20));
        }
        Ok(service)
    }

    /// One request; the answer must be a success, and JSON.
    pub(crate) fn ask(&self, method: &str, path: &str, body: &str) -> Result<Value, Failed> {
        let answer = self.exchange(method, path, body)?;
        let (head, body) = answer.split_once("\r\n\r\n").unwrap_or((&answer, ""));
        match serde_json::from_str(body) {
            Ok(value) if has_status(head, '2') => Ok(value),
            _ => Err(Failed(format!("{method} {path}: {answer}"))),
        }
    }

    /// One request; it must be answered as the client's mistake.
    pub(crate) fn refuses(&self, method: &str, path: &str, body: &str) -> Outcome {
        let answer = self.exchange(method, path, body)?;
        if has_status(&answer, '4') {
            return Ok(());
        }
        Err(Failed(format!("{method} {path} does not refuse {body}: {answer}")))
    }

    fn exchange(&self, method: &str, path: &str, body: &str) -> Result<String, Failed> {
        let answer = self.answer(method, path, body);
        answer.map_err(|error| Failed(format!("{method} {path}: {error}")))
    }

    fn answer(&self, method: &str, path: &str, body: &str) -> std::io::Result<String> {
        let mut stream = TcpStream::connect((Ipv4Addr::LOCALHOST, self.port))?;
        stream.set_read_timeout(Some(PATIENCE))?;
        write!(
            stream,
            "{method} {path} HTTP/1.0\r\nHost: localhost\r\nContent-Type: application/json\r\n\
             Content-Length: {}\r\n\r\n{body}",
            body.len()
        )?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer)?;
        Ok(answer)
    }

    /// Asks for twenty IDs by the same request, and sees that none comes twice.
    pub(crate) fn makes_ids(&self, method: &str, path: &str, body: &str) -> Outcome {
        let mut ids = BTreeSet::new();
        for _ in 0..20 {
            let answer = self.ask(method, path, body)?;
            let id = answer["id"].as_str().and_then(|id| id.parse::<u64>().ok());
            match id {
                Some(id) if ids.insert(id) => {}
                _ => return Err(Failed(format!("{method} {path}: no ID, or one twice: {answer}"))),
            }
        }
        Ok(())
    }
}
