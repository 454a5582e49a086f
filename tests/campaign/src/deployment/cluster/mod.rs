//! Stores with several servers, of which one can replace another.

mod etcd;
mod galera;
mod postgres;
mod redis;

use std::io;
use std::thread;
use std::time::Duration;

use flakeid_test_servers::Proxy;

use super::interface::Deployment;
use crate::fault::StoreFault;
use crate::lease_options::LeaseBounds;
use crate::shared_memory::GROUPS;

pub(super) use etcd::EtcdMembers;
pub(super) use galera::GaleraMembers;
pub(super) use postgres::PostgresServers;
pub(super) use redis::RedisServers;

/// Several servers, and the faults of these servers. Network faults of their clients are not
/// included.
pub(super) trait Cluster: Sync {
    /// The ports that clients connect to, which may be those of proxies.
    fn ports(&self) -> Vec<u16>;

    /// Returns the URL with these ports.
    fn url(&self, ports: &[u16]) -> String;

    fn lease_bounds(&self) -> LeaseBounds {
        LeaseBounds::CLUSTER
    }

    fn store_faults(&self) -> &[StoreFault];

    fn begins_run(&self, store_fault: StoreFault) -> bool {
        store_fault.is_restart() || store_fault.is_failover()
    }

    /// Takes the first copy of the data, if the faults restore older ones.
    fn prepare(&self) -> io::Result<()> {
        Ok(())
    }

    /// Injects a fault. A server that the fault stopped may stay down until
    /// [`settle`](Self::settle).
    fn inject(&self, store_fault: StoreFault, duration: Duration) -> io::Result<()>;

    /// Starts the stopped servers as standbys of the servers that replaced them.
    fn settle(&self) -> io::Result<()> {
        Ok(())
    }
}

/// A cluster with separate proxies for each group of workers.
pub(crate) struct ClusterDeployment {
    cluster: Box<dyn Cluster>,
    /// The proxies of each group, one for each port.
    proxies: Vec<Vec<Proxy>>,
}

impl ClusterDeployment {
    pub(super) fn new(cluster: Box<dyn Cluster>) -> Self {
        let ports = cluster.ports();
        let proxies =
            (0..GROUPS).map(|_| ports.iter().map(|port| Proxy::to(*port)).collect()).collect();
        Self { cluster, proxies }
    }
}

impl Deployment for ClusterDeployment {
    /// The first server of the URL differs between groups.
    fn url(&self, group: usize) -> String {
        let proxies = &self.proxies[group % GROUPS];
        let mut ports: Vec<u16> = proxies.iter().map(Proxy::port).collect();
        ports.rotate_left(group % proxies.len());
        self.cluster.url(&ports)
    }

    fn direct_url(&self) -> String {
        self.cluster.url(&self.cluster.ports())
    }

    fn prepare(&self) -> io::Result<()> {
        self.cluster.prepare()
    }

    fn max_ahead_ms(&self) -> u64 {
        3000
    }

    fn lease_bounds(&self) -> LeaseBounds {
        self.cluster.lease_bounds()
    }

    fn has_one_clock(&self) -> bool {
        false
    }

    fn store_faults(&self) -> &[StoreFault] {
        self.cluster.store_faults()
    }

    fn begins_run(&self, store_fault: StoreFault) -> bool {
        self.cluster.begins_run(store_fault)
    }

    fn inject(&self, store_fault: StoreFault, duration: Duration, group: usize) -> io::Result<()> {
        let proxies = &self.proxies[group % GROUPS];
        match store_fault {
            StoreFault::Cut => proxies.iter().for_each(|proxy| {
                proxy.cut();
                proxy.reset();
            }),
            StoreFault::Silenced => proxies.iter().for_each(Proxy::cut),
            StoreFault::Delayed => proxies.iter().for_each(|proxy| proxy.delay(duration / 8)),
            _ => return self.cluster.inject(store_fault, duration),
        }
        thread::sleep(duration);
        proxies.iter().for_each(Proxy::heal);
        Ok(())
    }

    fn settle(&self) -> io::Result<()> {
        self.cluster.settle()
    }
}

/// Returns the error for a fault that the cluster does not support.
fn unsupported(store_fault: StoreFault) -> io::Error {
    io::Error::other(format!("this cluster does not support the fault {:?}", store_fault.name()))
}
