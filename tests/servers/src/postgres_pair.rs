//! A private `PostgreSQL` primary and its streaming standby.

use crate::{PostgresServer, Server};

/// A primary and a standby that streams from it.
#[derive(Debug)]
pub struct PostgresPair {
    /// The primary.
    pub primary: PostgresServer,
    /// The standby of the primary.
    pub standby: PostgresServer,
}

impl PostgresPair {
    /// Starts both servers. With `synchronous`, the primary confirms only commits that the standby
    /// has.
    ///
    /// # Panics
    /// If a server does not start, or the standby does not stream within a minute.
    #[must_use]
    pub fn new(synchronous: bool) -> Self {
        let primary = PostgresServer::new();
        let standby = primary.standby();
        let pair = Self { primary, standby };
        if synchronous {
            // The copy must not contain this setting, because a promoted standby would then wait
            // for a standby of its own.
            pair.primary.set_synchronous(true);
        }
        pair.primary.wait_for_standby(synchronous);
        pair
    }

    /// Returns a URL of both servers, the primary first, with options.
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
    /// If the standby cannot be promoted.
    pub fn fail_over(&self) {
        self.primary.kill();
        self.standby.promote();
    }
}
