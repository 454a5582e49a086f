//! The places for streams of IDs. A client that reads nothing could otherwise fill the server's memory.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::rate::{MOST_CLIENTS, Sender};

/// The number of streams of IDs that one connection may receive at the same time. Further calls wait for an earlier one to
/// end.
pub(crate) const STREAMS: usize = 8;
/// The number of streams of IDs that one client may receive at the same time, on all its connections. Further calls wait
/// for an earlier one to end.
pub(crate) const STREAMS_OF_CLIENT: usize = 256;

/// The places of a connection, as an extension of its requests.
#[derive(Clone)]
pub(super) struct OfConnection(Arc<Semaphore>);

impl Default for OfConnection {
    fn default() -> Self {
        Self(Arc::new(Semaphore::new(STREAMS)))
    }
}

/// The places of all clients. A client without a stream has no entry, except until the next cleaning.
#[derive(Debug, Default)]
pub(super) struct OfClients(Mutex<HashMap<Sender, Weak<Semaphore>>>);

/// The places of a stream, which become free when the stream ends.
pub(super) struct Places {
    _permits: [OwnedSemaphorePermit; 2],
    /// The client's entry lasts as long as this reference.
    _of_client: Arc<Semaphore>,
}

impl OfClients {
    /// Waits for a place among the streams of the connection and of the client. The semaphores are never closed.
    pub(super) async fn enter(&self, connection: &OfConnection, sender: Sender) -> Option<Places> {
        let of_client = self.of(sender);
        let permits = [
            Arc::clone(&connection.0).acquire_owned().await.ok()?,
            Arc::clone(&of_client).acquire_owned().await.ok()?,
        ];
        Some(Places { _permits: permits, _of_client: of_client })
    }

    fn of(&self, sender: Sender) -> Arc<Semaphore> {
        let mut clients = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = clients.get(&sender).and_then(Weak::upgrade) {
            return known;
        }
        if clients.len() >= MOST_CLIENTS {
            clients.retain(|_, of_client| of_client.strong_count() > 0);
        }
        let of_client = Arc::new(Semaphore::new(STREAMS_OF_CLIENT));
        clients.insert(sender, Arc::downgrade(&of_client));
        of_client
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use std::net::IpAddr;

    use super::*;
    use crate::rate::Peer;

    #[tokio::test]
    async fn entries_of_clients_without_streams_are_removed() {
        let clients = OfClients::default();
        let sender = |number: u32| {
            Sender::new(Some(Peer::Address(IpAddr::from(number.to_be_bytes()))), None)
        };
        let connection = OfConnection::default();
        let kept = clients.enter(&connection, sender(1)).await.unwrap();
        for number in 2..3 + MOST_CLIENTS as u32 {
            drop(clients.enter(&connection, sender(number)).await.unwrap());
        }
        assert!(clients.0.lock().unwrap().len() < 10);
        assert_eq!(clients.of(sender(1)).available_permits(), STREAMS_OF_CLIENT - 1);
        drop(kept);
        assert_eq!(clients.of(sender(1)).available_permits(), STREAMS_OF_CLIENT);
    }
}
