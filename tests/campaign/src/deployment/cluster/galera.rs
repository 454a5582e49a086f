//! A Galera cluster with three members. The first member writes the leases.

use std::io;
use std::sync::Mutex;
use std::sync::PoisonError;
use std::thread;
use std::time::Duration;

use flakeid_test_servers::{GaleraCluster, MariadbServer, Server};

use super::{Cluster, unsupported};
use crate::fault::StoreFault;

/// The longest pause of a member. The others exclude a member that does not respond for 2 s.
const SHORT: Duration = Duration::from_secs(1);

/// A Galera cluster with three members.
pub(in super::super) struct GaleraMembers {
    cluster: GaleraCluster,
    /// The member that was killed.
    down: Mutex<Option<usize>>,
}

impl GaleraMembers {
    pub(in super::super) fn start() -> Self {
        Self { cluster: GaleraCluster::new(), down: Mutex::new(None) }
    }
}

impl Cluster for GaleraMembers {
    fn ports(&self) -> Vec<u16> {
        (0..3).map(|at| self.cluster.member(at).port()).collect()
    }

    fn url(&self, ports: &[u16]) -> String {
        let hosts: Vec<String> = ports.iter().map(|port| format!("127.0.0.1:{port}")).collect();
        format!("mysql://flakeid:{}@{}/ids", MariadbServer::PASSWORD, hosts.join(","))
    }

    fn store_faults(&self) -> &[StoreFault] {
        &[
            StoreFault::FailedOver,
            StoreFault::Cut,
            StoreFault::Paused,
            StoreFault::Silenced,
            StoreFault::Delayed,
        ]
    }

    fn inject(&self, store_fault: StoreFault, duration: Duration) -> io::Result<()> {
        let first = self.cluster.first();
        match store_fault {
            StoreFault::Paused => {
                self.cluster.member(first).pause();
                thread::sleep(duration.min(SHORT));
                self.cluster.member(first).resume();
            }
            StoreFault::FailedOver => {
                self.cluster.member(first).kill();
                self.cluster.wait_for_size(2);
                *self.down.lock().unwrap_or_else(PoisonError::into_inner) = Some(first);
            }
            other => return Err(unsupported(other)),
        }
        Ok(())
    }

    fn settle(&self) -> io::Result<()> {
        let down = self.down.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(member) = down {
            self.cluster.member(member).start();
            self.cluster.wait_for_size(3);
        }
        Ok(())
    }
}
