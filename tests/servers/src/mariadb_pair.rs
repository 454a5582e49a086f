//! A private `MariaDB` source and its replica.

use std::thread::sleep;
use std::time::{Duration, Instant};

use crate::MariadbServer;

/// A source and a replica, which is read-only.
#[derive(Debug)]
pub struct MariadbPair {
    /// The source.
    pub source: MariadbServer,
    /// The replica of the source.
    pub replica: MariadbServer,
}

impl MariadbPair {
    /// Starts both servers, and waits until the replica has caught up.
    ///
    /// # Panics
    /// If a server does not start, or the replica does not catch up within a minute.
    #[must_use]
    pub fn new() -> Self {
        let source = MariadbServer::with(&["--server-id=1", "--log-bin=binlog", TRUST]);
        let replica = MariadbServer::empty(&["--server-id=2", "--read-only", TRUST]);
        let password = MariadbServer::PASSWORD;
        let user = format!(
            "CREATE USER replication IDENTIFIED BY '{password}';
             GRANT REPLICATION SLAVE ON *.* TO replication"
        );
        source.sql(&user).expect("a user for replication");
        // The replica replicates all transactions since the source's creation.
        let follow = format!(
            "CHANGE MASTER TO MASTER_HOST = '127.0.0.1', MASTER_PORT = {}, MASTER_USER = 'replication',
                 MASTER_PASSWORD = '{password}', MASTER_CONNECT_RETRY = 1, MASTER_USE_GTID = slave_pos;
             START SLAVE",
            source.port()
        );
        replica.sql(&follow).expect("a replica");
        let pair = Self { source, replica };
        pair.wait();
        pair
    }

    /// Waits until the replica has all data of the source.
    ///
    /// # Panics
    /// If the replica does not catch up within a minute.
    pub fn wait(&self) {
        let deadline = Instant::now() + Duration::from_secs(60);
        let position = self.source.sql("SELECT @@gtid_binlog_pos").expect("a position");
        while self.replica.sql("SELECT @@gtid_slave_pos").as_ref() != Ok(&position) {
            assert!(
                Instant::now() < deadline,
                "the replica did not catch up: {:?}",
                self.replica.sql("SHOW SLAVE STATUS")
            );
            sleep(Duration::from_millis(50));
        }
    }

    /// Promotes the replica to a source.
    ///
    /// # Panics
    /// If the replica refuses.
    pub fn promote(&self) {
        let promote = "STOP SLAVE; RESET SLAVE ALL; SET GLOBAL read_only = 0";
        self.replica.sql(promote).expect("a promoted replica");
    }

    /// Returns a URL of both servers, the source first, with options.
    #[must_use]
    pub fn url(&self, options: &str) -> String {
        format!(
            "mysql://flakeid:{}@127.0.0.1:{},127.0.0.1:{}/ids{options}",
            MariadbServer::PASSWORD,
            self.source.port(),
            self.replica.port()
        )
    }
}

impl Default for MariadbPair {
    fn default() -> Self {
        Self::new()
    }
}

/// An option that triggers require when there is a binary log.
const TRUST: &str = "--log-bin-trust-function-creators=1";
