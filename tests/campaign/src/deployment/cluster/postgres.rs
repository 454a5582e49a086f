//! A `PostgreSQL` primary and its synchronous standby, which replace each other.

use std::io;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use flakeid_test_servers::{PostgresPair, PostgresServer, Server};
use tempfile::TempDir;

use super::{Cluster, unsupported};
use crate::fault::StoreFault;

/// Two servers, one of which is the primary.
pub(in super::super) struct PostgresServers {
    servers: [PostgresServer; 2],
    /// The index of the primary.
    primary: AtomicUsize,
    /// Whether the other server is down or has different data.
    lacks_standby: AtomicBool,
    copy: Mutex<Option<TempDir>>,
}

/// A wait in which a restored or returned primary may grant nodes before it is replaced again.
const LONGER_THAN_QUIET: Duration = Duration::from_secs(7);

impl PostgresServers {
    pub(in super::super) fn start() -> Self {
        let PostgresPair { primary, standby } = PostgresPair::new(true);
        Self {
            servers: [primary, standby],
            primary: AtomicUsize::new(0),
            lacks_standby: AtomicBool::new(false),
            copy: Mutex::new(None),
        }
    }

    fn primary(&self) -> &PostgresServer {
        &self.servers[self.primary.load(Ordering::SeqCst)]
    }

    fn standby(&self) -> &PostgresServer {
        &self.servers[1 - self.primary.load(Ordering::SeqCst)]
    }

    /// Promotes the standby. The old primary then has to be recreated as the new standby.
    fn promote(&self) {
        self.standby().promote();
        self.primary.fetch_xor(1, Ordering::SeqCst);
        self.lacks_standby.store(true, Ordering::SeqCst);
    }

    /// Lets the primary confirm commits without a standby, after it was started with the data of a
    /// synchronous primary.
    fn run_without_standby(&self) {
        self.primary().set_synchronous(false);
        self.lacks_standby.store(true, Ordering::SeqCst);
    }

    fn restore(&self, is_recent: bool, age: Duration) {
        let mut copy = self.copy.lock().unwrap_or_else(PoisonError::into_inner);
        if is_recent {
            *copy = Some(self.primary().backup());
            thread::sleep(age);
        }
        let older = copy.take().unwrap_or_else(|| self.primary().backup());
        self.standby().kill();
        self.primary().restore(&older);
        self.run_without_standby();
        *copy = Some(self.primary().backup());
    }
}

impl Cluster for PostgresServers {
    fn ports(&self) -> Vec<u16> {
        self.servers.iter().map(PostgresServer::port).collect()
    }

    fn url(&self, ports: &[u16]) -> String {
        let hosts: Vec<String> = ports.iter().map(|port| format!("127.0.0.1:{port}")).collect();
        format!("postgresql://flakeid:{}@{}/ids", PostgresServer::PASSWORD, hosts.join(","))
    }

    fn store_faults(&self) -> &[StoreFault] {
        &[
            StoreFault::FailedOver,
            StoreFault::Cut,
            StoreFault::FailedOverBehind,
            StoreFault::Paused,
            StoreFault::FailedBack,
            StoreFault::Silenced,
            StoreFault::StoppedAndReplaced,
            StoreFault::Locked,
            StoreFault::Restored,
            StoreFault::Delayed,
            StoreFault::Killed,
        ]
    }

    fn prepare(&self) -> io::Result<()> {
        *self.copy.lock().unwrap_or_else(PoisonError::into_inner) = Some(self.primary().backup());
        Ok(())
    }

    fn inject(&self, store_fault: StoreFault, duration: Duration) -> io::Result<()> {
        let is_even = duration.as_millis().is_multiple_of(2);
        match store_fault {
            StoreFault::Locked => {
                let seconds = duration.as_secs_f32();
                let lock = format!(
                    "BEGIN; LOCK TABLE flakeid_namespace, flakeid_node IN ACCESS EXCLUSIVE MODE; \
                     SELECT pg_sleep({seconds}); COMMIT"
                );
                self.primary().sql(&lock).map_err(io::Error::other)?;
            }
            StoreFault::Paused => {
                self.primary().pause();
                thread::sleep(duration);
                self.primary().resume();
            }
            StoreFault::Killed => {
                self.primary().kill();
                thread::sleep(duration / 4);
                self.primary().start();
            }
            StoreFault::Restored => self.restore(is_even, duration / 4),
            StoreFault::FailedOver => {
                self.primary().kill();
                thread::sleep(duration / 4);
                self.promote();
            }
            StoreFault::StoppedAndReplaced => {
                self.primary().pause();
                self.promote();
                thread::sleep(duration / 4);
                // Resuming this server would make two primaries, so it is killed.
                self.standby().kill();
            }
            StoreFault::FailedOverBehind => {
                self.primary().set_synchronous(false);
                self.standby().stop();
                thread::sleep(duration);
                self.primary().kill();
                self.standby().start();
                self.promote();
            }
            StoreFault::FailedBack => {
                self.primary().kill();
                self.promote();
                thread::sleep(if is_even { duration } else { LONGER_THAN_QUIET });
                self.primary().kill();
                self.primary.fetch_xor(1, Ordering::SeqCst);
                self.primary().start();
                self.run_without_standby();
            }
            other => return Err(unsupported(other)),
        }
        Ok(())
    }

    fn settle(&self) -> io::Result<()> {
        if self.lacks_standby.swap(false, Ordering::SeqCst) {
            self.standby().follow(self.primary());
            self.primary().set_synchronous(true);
            self.primary().wait_for_standby(true);
        }
        Ok(())
    }
}
