//! Loading tokens and certificates again while the server runs.

use std::sync::Arc;
use std::time::Duration;

use flakeid_core::Error;
use tokio::task::spawn_blocking;
use tokio::time::sleep;
use tracing::{info, warn};

use crate::service::Service;
use crate::signals::Hangups;
use crate::tls::TlsSettings;

/// The interval at which the server checks the files. Orchestrators replace files by changing a symbolic link, which
/// notifications about one file do not report reliably, so the server compares the contents.
const INTERVAL: Duration = Duration::from_secs(2);

/// Loads the files again when they change, and when the process receives SIGHUP. After an error, the earlier tokens or
/// certificates stay in use.
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

/// Records the result of loading a kind of files. The same failure is recorded once, not at every check.
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
                    "the changed files cannot be loaded; the earlier contents stay in use"
                );
                service.count_reload(name, error.code());
                *failure = Some(text);
            }
        }
    }
}
