//! The handler for requests that look up the process that generated an ID. The broker searches the history in its
//! store.

use std::sync::Arc;
use std::time::Duration;

use flakeid_core::{Error, Id};
use flakeid_json::HolderJson;
use flakeid_protocol::Client;
use flakeid_protocol::store::Fault;
use hyper::StatusCode;
use tokio::sync::Semaphore;
use tokio::task::spawn_blocking;
use tokio::time::timeout;

use crate::answer::Answer;
use crate::leases::Leases;
use crate::query::parameters;

/// The largest number of concurrent queries of the history. Each query uses its own connection to the store.
pub(crate) const MOST_READERS: usize = 2;
/// The longest time that a request waits for a permit to query the history.
pub(crate) const QUEUE_TIMEOUT: Duration = Duration::from_secs(2);

/// The permits for queries of the history, which limit the number of concurrent queries.
#[derive(Clone, Debug)]
pub(crate) struct HistoryReaders(Arc<Semaphore>);

impl Default for HistoryReaders {
    fn default() -> Self {
        Self(Arc::new(Semaphore::new(MOST_READERS)))
    }
}

impl Leases<'_> {
    /// Responds with a description of the process that generated an ID. A separate thread queries the store, because
    /// the query blocks its thread.
    pub(crate) async fn holder(
        &self,
        id: &str,
        query: Option<&str>,
        HistoryReaders(permits): &HistoryReaders,
    ) -> Result<Answer, Error> {
        let [] = parameters(query, [])?;
        let id: Id = id.parse()?;
        let parts = self.layout().unpack(id)?;
        let permit = timeout(QUEUE_TIMEOUT, Arc::clone(permits).acquire_owned()).await;
        let Ok(Ok(permit)) = permit else {
            let text = "too many concurrent requests for the holders of IDs; retry later";
            return Ok(self.refuse(&Fault::Unavailable(text.into())));
        };
        let broker = self.broker.clone();
        let found = spawn_blocking(move || {
            let found = broker.whois(parts.node, parts.tick);
            drop(permit);
            found
        });
        let found = match found.await {
            Ok(Ok(found)) => found,
            Ok(Err(fault)) => return Ok(self.refuse(&fault)),
            Err(error) => {
                let text = format!("the store cannot be queried: {error}");
                return Ok(self.refuse(&Fault::Unavailable(text)));
            }
        };
        let mut answer = HolderJson::new(id, self.broker.namespace(), found.as_ref())?;
        // Only the broker that granted a node can determine whether the client still holds the node.
        if let (Some(holder), Some(found)) = (&mut answer.holder, &found)
            && let Some(Client::Known { sub_grant, .. }) = &found.client
            && found.record.owner.name == self.broker.address()
        {
            holder.current = self.broker.is_held(sub_grant.node, sub_grant.start).ok();
        }
        Ok(Answer::json(StatusCode::OK, &answer))
    }
}
