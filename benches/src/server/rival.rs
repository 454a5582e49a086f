//! The server of the Python package pysnowflake, in a separate process. It responds with one ID of Twitter's layout,
//! takes its node from an argument, and repeats IDs after a restart with a clock that went backwards.

use std::error::Error;
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/target/pysnowflake");
const REQUIREMENTS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/src/server/requirements.txt");
/// Timeout for the start of the interpreter.
const START_TIMEOUT: Duration = Duration::from_secs(20);

/// A running server of pysnowflake, which ends when dropped.
pub(super) struct RivalServer {
    pub(super) address: SocketAddr,
    process: Child,
}

impl RivalServer {
    /// Installs the package into a virtual environment and starts the server.
    pub(super) fn start() -> Result<Self, Box<dyn Error>> {
        let program = install()?;
        // The server cannot report the port that it was given, so a free one is chosen here.
        let free = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?.local_addr()?;
        let process = Command::new(&program)
            .args([format!("--port={}", free.port()), "--address=127.0.0.1".into()])
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .spawn()
            .map_err(|error| format!("{}: {error}", program.display()))?;
        let server = Self { address: free, process };
        let began = Instant::now();
        while let Err(error) = TcpStream::connect(free) {
            if began.elapsed() > START_TIMEOUT {
                return Err(format!("pysnowflake does not listen on {free}: {error}").into());
            }
            sleep(Duration::from_millis(20));
        }
        Ok(server)
    }

    pub(super) fn process(&self) -> u32 {
        self.process.id()
    }
}

impl Drop for RivalServer {
    fn drop(&mut self) {
        let ended = self.process.kill().and_then(|()| self.process.wait());
        assert!(ended.is_ok(), "pysnowflake does not end: {ended:?}");
    }
}

fn install() -> Result<PathBuf, Box<dyn Error>> {
    let programs = Path::new(FOLDER).join("bin");
    run(
        Command::new("python3").args(["-m", "venv", FOLDER]),
        "apt-get install python3-venv, or another Python with venv",
    )?;
    run(
        Command::new(programs.join("pip")).args([
            "--disable-pip-version-check",
            "install",
            "-q",
            "-r",
            REQUIREMENTS,
        ]),
        "a network or a cache of PyPI",
    )?;
    Ok(programs.join("snowflake_start_server"))
}

fn run(command: &mut Command, needs: &str) -> Result<(), Box<dyn Error>> {
    match command.status() {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(format!("{command:?}: {status} (it needs {needs})").into()),
        Err(error) => Err(format!("{command:?}: {error} (it needs {needs})").into()),
    }
}
