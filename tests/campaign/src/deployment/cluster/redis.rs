//! A Redis primary and its replica with sentinels. Clients wait until the replica has confirmed.

use std::io;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use flakeid_test_servers::{RedisSentinels, RedisServer, Server};

use super::{Cluster, unsupported};
use crate::fault::StoreFault;

/// The milliseconds without a response after which the sentinels consider the primary down.
const DETECTION_MS: u32 = 1_000;
/// A pause that the sentinels do not detect.
const SHORT: Duration = Duration::from_millis(400);

/// Two servers and three sentinels.
pub(in super::super) struct RedisServers {
    sentinels: RedisSentinels,
    /// The index of the primary.
    primary: AtomicUsize,
}

impl RedisServers {
    pub(in super::super) fn start() -> Self {
        let primary = AtomicUsize::new(0);
        Self { sentinels: RedisSentinels::detecting_after(DETECTION_MS), primary }
    }

    fn primary(&self) -> &RedisServer {
        &self.sentinels.servers[self.primary.load(Ordering::SeqCst)]
    }

    fn replica(&self) -> &RedisServer {
        &self.sentinels.servers[1 - self.primary.load(Ordering::SeqCst)]
    }

    /// Waits until the sentinels have promoted the replica of the unresponsive primary.
    fn wait_for_failover(&self) {
        self.sentinels.wait_for_primary(1 - self.primary.load(Ordering::SeqCst));
        self.primary.fetch_xor(1, Ordering::SeqCst);
    }
}

impl Cluster for RedisServers {
    /// Returns the ports of the sentinels. Clients get the primary's address from them, so no proxy can
    /// stand in between.
    fn ports(&self) -> Vec<u16> {
        (0..3).map(|at| self.sentinels.sentinel_port(at)).collect()
    }

    fn url(&self, ports: &[u16]) -> String {
        let hosts: Vec<String> = ports.iter().map(|port| format!("127.0.0.1:{port}")).collect();
        format!(
            "redis+sentinel://:{}@{}/{}/0?sentinel-password={}&replicas=1",
            RedisServer::PASSWORD,
            hosts.join(","),
            RedisSentinels::SERVICE,
            RedisSentinels::PASSWORD
        )
    }

    fn store_faults(&self) -> &[StoreFault] {
        &[
            StoreFault::FailedOver,
            StoreFault::Paused,
            StoreFault::StoppedAndReplaced,
            StoreFault::Locked,
        ]
    }

    fn inject(&self, store_fault: StoreFault, duration: Duration) -> io::Result<()> {
        match store_fault {
            StoreFault::Locked => {
                let milliseconds = duration.min(SHORT).as_millis().to_string();
                let paused = self.primary().command(&["CLIENT", "PAUSE", &milliseconds, "ALL"]);
                paused.map_err(io::Error::other)?;
                thread::sleep(duration);
            }
            StoreFault::Paused => {
                self.primary().pause();
                thread::sleep(duration.min(SHORT));
                self.primary().resume();
                thread::sleep(duration);
            }
            StoreFault::FailedOver => {
                self.primary().kill();
                self.wait_for_failover();
                self.replica().start();
                self.replica().follow(self.primary().port());
            }
            StoreFault::StoppedAndReplaced => {
                self.primary().pause();
                self.wait_for_failover();
                // For a moment there are two primaries. Neither has a replica, so neither confirms
                // writes.
                self.replica().resume();
                thread::sleep(duration / 4);
                self.replica().follow(self.primary().port());
            }
            other => return Err(unsupported(other)),
        }
        Ok(())
    }

    fn settle(&self) -> io::Result<()> {
        self.sentinels.wait_for_replica();
        Ok(())
    }
}
