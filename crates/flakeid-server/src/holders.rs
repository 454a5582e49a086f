//! Who generated an ID: the broker reads that in the history of its store.

use std::sync::Arc;
use std::time::Duration;

use flakeid_core::{Error, Id};
use flakeid_protocol::Client;
use flakeid_protocol::store::Fault;
use hyper::StatusCode;
use tokio::sync::Semaphore;
use tokio::task::spawn_blocking;
use tokio::time::timeout;

use crate::answer::Answer;
use crate::holder_json::HolderJson;
use crate::leases::Leases;
use crate::query::parameters;

/// How many readers of histories there are at a time. Each has a connection to the store.
const MOST_READERS: usize = 2;
/// How long a request waits for its turn.
const PATIENCE: Duration = Duration::from_secs(2);

/// Turns of those who read histories.
#[derive(Clone, Debug)]
pub(crate) struct HistoryReaders(Arc<Semaphore>);

impl Default for HistoryReaders {
    fn default() -> Self {
        Self(Arc::new(Semaphore::new(MOST_READERS)))
    }
}

impl Leases<'_> {
    /// Who generated an ID. Stores are asked on a thread of their own.
    pub(crate) async fn holder(
        &self,
        id: &str,
        query: Option<&str>,
        HistoryReaders(turns): &HistoryReaders,
    ) -> Result<Answer, Error> {
        let [] = parameters(query, [])?;
        let id: Id = id.parse()?;
        let parts = self.layout().unpack(id)?;
        let turn = timeout(PATIENCE, Arc::clone(turns).acquire_owned()).await;
        let Ok(Ok(turn)) = turn else {
            let text = "too many others are asking for holders of IDs";
            return Ok(self.refuse(&Fault::Unavailable(text.into())));
        };
        let broker = self.broker.clone();
        let found = spawn_blocking(move || {
            let found = broker.whois(parts.node, parts.tick);
            drop(turn);
            found
        });
        let found = match found.await {
            Ok(Ok(found)) => found,
            Ok(Err(fault)) => return Ok(self.refuse(&fault)),
            Err(error) => {
                let text = format!("the store cannot be asked: {error}");
                return Ok(self.refuse(&Fault::Unavailable(text)));
            }
        };
        let mut answer = HolderJson::new(id, self.broker.namespace(), found.as_ref())?;
        // What another broker has granted, only that one knows.
        if let (Some(holder), Some(found)) = (&mut answer.holder, &found)
            && let Some(Client::Known { sub_grant, .. }) = &found.client
            && found.record.owner.name == self.broker.address()
        {
            holder.current = self.broker.is_held(sub_grant.node, sub_grant.start).ok();
        }
        Ok(Answer::json(StatusCode::OK, &answer))
    }
}
