//! An etcd cluster with three members: elections, restarts of all members, and restored snapshots.

use std::io;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use flakeid_test_servers::{EtcdCluster, Server};
use tempfile::TempDir;

use super::{Cluster, unsupported};
use crate::fault::StoreFault;
use crate::lease_options::LeaseBounds;

/// An etcd cluster with three members.
pub(in super::super) struct EtcdMembers {
    cluster: EtcdCluster,
    snapshots: TempDir,
    has_recent: AtomicBool,
}

impl EtcdMembers {
    pub(in super::super) fn start() -> io::Result<Self> {
        let snapshots = tempfile::Builder::new().prefix("flakeid-snapshots").tempdir()?;
        let has_recent = AtomicBool::new(false);
        Ok(Self { cluster: EtcdCluster::new(), snapshots, has_recent })
    }

    fn snapshot(&self, is_recent: bool) -> PathBuf {
        self.snapshots.path().join(if is_recent { "recent" } else { "first" })
    }

    fn save_recent(&self) -> io::Result<()> {
        let file = self.snapshot(true);
        if self.has_recent.swap(true, Ordering::SeqCst) {
            std::fs::remove_file(&file)?;
        }
        self.cluster.save(&file);
        Ok(())
    }
}

impl Cluster for EtcdMembers {
    fn ports(&self) -> Vec<u16> {
        (0..3).map(|at| self.cluster.member(at).port()).collect()
    }

    fn url(&self, ports: &[u16]) -> String {
        let hosts: Vec<String> = ports.iter().map(|port| format!("127.0.0.1:{port}")).collect();
        format!("etcd://{}/", hosts.join(","))
    }

    fn lease_bounds(&self) -> LeaseBounds {
        LeaseBounds::CLUSTER_SECONDS
    }

    fn store_faults(&self) -> &[StoreFault] {
        &[
            StoreFault::FailedOver,
            StoreFault::Killed,
            StoreFault::StoppedAndReplaced,
            StoreFault::CutOffAndReplaced,
            StoreFault::Restored,
            StoreFault::Cut,
            StoreFault::Silenced,
            StoreFault::Delayed,
        ]
    }

    /// Whether the fault begins another run of the store, unlike an election.
    fn begins_run(&self, store_fault: StoreFault) -> bool {
        store_fault.is_restart()
    }

    fn prepare(&self) -> io::Result<()> {
        self.cluster.save(&self.snapshot(false));
        Ok(())
    }

    fn inject(&self, store_fault: StoreFault, duration: Duration) -> io::Result<()> {
        let cluster = &self.cluster;
        match store_fault {
            StoreFault::FailedOver => {
                let leader = cluster.leader();
                cluster.member(leader).kill();
                cluster.wait_for_leader_other_than(leader);
                thread::sleep(duration);
                cluster.member(leader).start();
            }
            StoreFault::StoppedAndReplaced => {
                let leader = cluster.leader();
                cluster.member(leader).pause();
                cluster.wait_for_leader_other_than(leader);
                thread::sleep(duration);
                cluster.member(leader).resume();
            }
            StoreFault::CutOffAndReplaced => {
                let leader = cluster.leader();
                let id = cluster.cut_off(leader);
                cluster.wait_for_leader_other_than(leader);
                thread::sleep(duration);
                cluster.join(leader, id);
            }
            StoreFault::Killed => {
                (0..3).for_each(|at| cluster.member(at).kill());
                thread::sleep(duration / 4);
                cluster.start();
            }
            StoreFault::Restored => {
                let is_recent = duration.as_millis().is_multiple_of(2);
                if is_recent {
                    self.save_recent()?;
                    thread::sleep(duration / 4);
                }
                cluster.restore(&self.snapshot(is_recent));
            }
            other => return Err(unsupported(other)),
        }
        Ok(())
    }
}
