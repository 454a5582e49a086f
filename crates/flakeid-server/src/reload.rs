//! Reloads tokens and certificates while the server runs.

use std::sync::Arc;
use std::time::Duration;

use flakeid_core::Error;
use tokio::task::spawn_blocking;
use tokio::time::sleep;
use tracing::{info, warn};

use crate::service::Service;
use crate::signals::Hangups;
use crate::tls::TlsSettings;

/// The interval at which the server checks whether the files have changed. The server compares the contents, because
/// orchestrators replace files by changing a symbolic link. File notifications do not reliably report a changed link.
const INTERVAL: Duration = Duration::from_secs(2);

/// Loads changed tokens and certificates at regular intervals and when the process receives SIGHUP. After an error,
/// the previous tokens or certificates remain in use.
pub(crate) async fn reload_forever(
    service: Arc<Service>,
    tls: Option<TlsSettings>,
    mut hangups: Hangups,
) {
    let mut failures = [None, None];
    loop {
        tokio::select! {
            () = sleep(INTERVAL) => {}
            () = hangups.next() => {}
        }
        let (of_tokens, of_tls) = (Arc::clone(&service), tls.clone());
        let reloading = spawn_blocking(move || {
            [of_tokens.reload_tokens(), of_tls.map_or(Ok(false), |tls| tls.reload())]
        });
        let Ok(results) = reloading.await else { continue };
        let names = ["tokens", "certificates"];
        for ((name, failure), result) in names.into_iter().zip(&mut failures).zip(results) {
            record(&service, name, failure, result);
        }
    }
}

/// Logs and counts the result of a reload of the tokens or the certificates. A persistent failure is recorded only
/// once, not at every check.
fn record(
    service: &Service,
    name: &'static str,
    failure: &mut Option<String>,
    result: Result<bool, Error>,
) {
    match result {
        Ok(has_changed) => {
            *failure = None;
            if has_changed {
                info!(files = name, "loaded again");
                service.count_reload(name, "OK");
            }
        }
        Err(error) => {
            let text = error.to_string();
            if failure.as_ref() != Some(&text) {
                warn!(
                    files = name,
                    error = text,
                    "the changed files cannot be loaded; the previous contents remain in use"
                );
                service.count_reload(name, error.code());
                *failure = Some(text);
            }
        }
    }
}
