//! The task that prunes the history.

use std::sync::Arc;

use flakeid_protocol::operations::Pruned;
use tokio::task::spawn_blocking;
use tokio::time::sleep;
use tracing::{info, warn};

use crate::service::Service;

/// Removes old grants from the history at regular intervals, on a thread for blocking calls. A failure is logged, and
/// the next attempt follows after the interval.
pub(crate) async fn prune_forever(service: Arc<Service>) {
    let Some(pruning) = service.pruning() else { return };
    sleep(pruning.delay).await;
    loop {
        for namespace in pruning.namespaces() {
            let (blocking, name) = (pruning.clone(), namespace.clone());
            let error = match spawn_blocking(move || blocking.prune(&name)).await {
                Ok(Ok(pruned)) => {
                    record(&service, namespace, pruned);
                    continue;
                }
                Ok(Err(fault)) => fault.to_string(),
                Err(error) => error.to_string(),
            };
            warn!(namespace, error, "the history cannot be pruned; the server will try again");
        }
        sleep(pruning.interval).await;
    }
}

fn record(service: &Service, namespace: &str, pruned: Pruned) {
    if pruned != Pruned::default() {
        let Pruned { records, sub_grants } = pruned;
        info!(namespace, records, sub_grants, "pruned the history");
        service.count_pruned(namespace, pruned);
    }
}
