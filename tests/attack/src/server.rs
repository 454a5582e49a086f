//! The attacked server: its files, its memory limit and its memory.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use tempfile::TempDir;

use crate::Failure;

/// The memory limit of the manifests, in bytes.
const LIMIT: &str = "268435456";
/// The folders in which a group with a memory limit can be created, with the name of the limit: cgroup 2 and 1.
const GROUPS: [(&str, &str); 2] =
    [("/sys/fs/cgroup", "memory.max"), ("/sys/fs/cgroup/memory", "memory.limit_in_bytes")];

/// The tokens of the clients, and of two attackers that have one.
pub(crate) const TOKENS: &str = "\
    web ids 1123456789abcdef\n\
    workers leases 2123456789abcdef\n\
    unread ids 3123456789abcdef\n\
    loop leases 4123456789abcdef\n";
pub(crate) const WEB: &str = "1123456789abcdef";
pub(crate) const WORKERS: &str = "2123456789abcdef";
pub(crate) const UNREAD: &str = "3123456789abcdef";
pub(crate) const LOOP: &str = "4123456789abcdef";

/// The ports of the listeners.
#[derive(Clone, Copy)]
pub(crate) struct Addresses {
    pub(crate) http: u16,
    pub(crate) resp: u16,
    pub(crate) grpc: u16,
}

/// A server with default limits, which ends when it is dropped.
pub(crate) struct Server {
    pub(crate) addresses: Addresses,
    process: Child,
    group: Option<PathBuf>,
    _folder: TempDir,
}

impl Server {
    pub(crate) fn start(flakeid: &Path) -> Result<Self, Failure> {
        let folder = tempfile::tempdir()?;
        let tokens = folder.path().join("tokens");
        fs::write(&tokens, TOKENS)?;
        let group = GROUPS.iter().find_map(|(parent, limit)| {
            let group = Path::new(parent).join(format!("flakeid-attack-{}", std::process::id()));
            fs::create_dir(&group).ok()?;
            if fs::write(group.join(limit), LIMIT).is_ok() {
                return Some(group);
            }
            fs::remove_dir(&group).ok()?;
            None
        });
        // The shell joins the group before it becomes the server.
        let join = group.as_ref().map_or_else(
            || "exec \"$@\"".to_owned(),
            |group| format!("echo $$ > {}/cgroup.procs && exec \"$@\"", group.display()),
        );
        let mut process = Command::new("sh")
            .args(["-c", &join, "sh"])
            .arg(flakeid)
            .args(["serve", "--listen=127.0.0.1:0", "--resp=127.0.0.1:0", "--grpc=127.0.0.1:0"])
            .arg(format!("--store=sqlite://{}/attacked.db", folder.path().display()))
            .arg(format!("--token-file={}", tokens.display()))
            .arg("--log-level=error")
            .stdout(Stdio::piped())
            .spawn()?;
        let output = process.stdout.take().ok_or("the server has no output")?;
        let mut ports = Vec::new();
        for line in BufReader::new(output).lines().take(3) {
            let line = line?;
            let port = line.rsplit_once(':').and_then(|(_, port)| port.parse().ok());
            ports.push(port.ok_or_else(|| format!("the server announced {line:?}"))?);
        }
        let [http, resp, grpc] = ports[..] else {
            process.kill()?;
            return Err("the server does not listen; it needs the feature grpc".into());
        };
        let addresses = Addresses { http, resp, grpc };
        Ok(Self { addresses, process, group, _folder: folder })
    }

    /// Returns a sentence about the memory limit.
    pub(crate) const fn limit(&self) -> &'static str {
        if self.group.is_some() {
            "it could take 256 MiB"
        } else {
            "it had no limit, because this user may create no control group"
        }
    }

    /// Returns the most memory that the server has taken so far, in MiB, rounded up.
    pub(crate) fn most_memory(&self) -> Result<u64, Failure> {
        let status = fs::read_to_string(format!("/proc/{}/status", self.process.id()))?;
        let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let kib = line.and_then(|line| line.trim().strip_suffix(" kB")?.trim().parse().ok());
        let kib: u64 = kib.ok_or("the server has ended")?;
        Ok(kib.div_ceil(1_024))
    }

    /// Ends the server with SIGTERM, and checks that it succeeds.
    pub(crate) fn stop(mut self) -> Result<(), Failure> {
        Command::new("kill").arg(self.process.id().to_string()).status()?;
        let status = self.process.wait()?;
        if status.success() {
            Ok(())
        } else {
            Err(format!("the server ended with {status}").into())
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // The server has ended unless the run failed.
        drop(self.process.kill());
        drop(self.process.wait());
        if let Some(group) = &self.group {
            drop(fs::remove_dir(group));
        }
    }
}
