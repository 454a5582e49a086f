//! The places for streams of IDs. A client that reads nothing could otherwise fill the server's memory.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::rate::{MOST_CLIENTS, Sender, TooMany};

/// The number of streams of IDs that one connection may receive at the same time. Further calls wait until one ends.
pub(crate) const STREAMS: usize = 8;
/// The number of streams of IDs that one client may receive at the same time, on all its connections. Further calls wait
/// for an earlier one to end.
pub(crate) const STREAMS_OF_CLIENT: usize = 256;
/// The number of calls of one client that wait for a place. Further calls fail, because each waiting call takes memory.
pub(crate) const WAITING_CALLS: usize = 256;
/// The time after which a client should repeat a call that failed because too many of its calls wait.
const RETRY: Duration = Duration::from_secs(1);

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
pub(super) struct OfClients(Mutex<HashMap<Sender, Weak<Client>>>);

/// The places of a client.
#[derive(Debug)]
struct Client {
    streams: Arc<Semaphore>,
    waiting: Semaphore,
}

/// The places of a stream, which become free when the stream ends.
pub(super) struct Places {
    _permits: [OwnedSemaphorePermit; 2],
    /// The client's entry lasts as long as this reference.
    _client: Arc<Client>,
}

impl OfClients {
    /// Waits for a place among the streams of the connection and of the client. Fails if too many calls of the client
    /// wait. The semaphores are never closed.
    pub(super) async fn enter(
        &self,
        connection: &OfConnection,
        sender: Sender,
    ) -> Result<Places, TooMany> {
        let client = self.of(sender);
        let too_many = || TooMany {
            message: format!(
                "{WAITING_CALLS} calls of this client already wait for one of its streams to end: end streams, or open fewer"
            ),
            wait: RETRY,
        };
        let waiting = client.waiting.try_acquire().map_err(|_| too_many())?;
        let of_connection = Arc::clone(&connection.0).acquire_owned().await;
        let of_client = Arc::clone(&client.streams).acquire_owned().await;
        drop(waiting);
        let (Ok(of_connection), Ok(of_client)) = (of_connection, of_client) else {
            return Err(too_many());
        };
        Ok(Places { _permits: [of_connection, of_client], _client: client })
    }

    fn of(&self, sender: Sender) -> Arc<Client> {
        let mut clients = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = clients.get(&sender).and_then(Weak::upgrade) {
            return known;
        }
        if clients.len() >= MOST_CLIENTS {
            clients.retain(|_, client| client.strong_count() > 0);
        }
        let client = Arc::new(Client {
            streams: Arc::new(Semaphore::new(STREAMS_OF_CLIENT)),
            waiting: Semaphore::new(WAITING_CALLS),
        });
        clients.insert(sender, Arc::downgrade(&client));
        client
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
        assert_eq!(clients.of(sender(1)).streams.available_permits(), STREAMS_OF_CLIENT - 1);
        drop(kept);
        assert_eq!(clients.of(sender(1)).streams.available_permits(), STREAMS_OF_CLIENT);
    }
}
