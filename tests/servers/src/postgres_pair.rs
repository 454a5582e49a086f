//! A private `PostgreSQL` primary and its streaming standby.

use crate::{PostgresServer, Server};

/// A primary and a standby that streams from it.
#[derive(Debug)]
pub struct PostgresPair {
    /// The primary.
    pub primary: PostgresServer,
    /// Its standby.
    pub standby: PostgresServer,
}

impl PostgresPair {
    /// Both running. With `synchronous`, the primary confirms nothing that the standby does not have.
    ///
    /// # Panics
    /// If they do not start, or the standby does not stream within a minute.
    #[must_use]
    pub fn new(synchronous: bool) -> Self {
        let primary = PostgresServer::new();
        let standby = primary.standby();
        let pair = Self { primary, standby };
        if synchronous {
            // Not before the copy: a promoted standby would wait for one of its own.
            pair.primary.set_synchronous(true);
        }
        pair.primary.wait_for_standby(synchronous);
        pair
    }

    /// A URL of both, the primary first, with options.
    #[must_use]
    pub fn url(&self, options: &str) -> String {
        format!(
            "postgresql://flakeid:{}@127.0.0.1:{},127.0.0.1:{}/ids{options}",
            PostgresServer::PASSWORD,
            self.primary.port(),
            self.standby.port()
        )
    }

    /// Kills the primary and promotes the standby.
    ///
    /// # Panics
    /// If it cannot be promoted.
    pub fn fail_over(&self) {
        self.primary.kill();
        self.standby.promote();
    }
}
