//! Logs changes in the server's readiness, summaries of refused requests, and warnings about the expiry of the
//! certificate.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use tokio::time::{MissedTickBehavior, interval};
use tracing::{info, warn};

use crate::service::Service;
use crate::tls::TlsSettings;

/// The interval at which the server checks for changes in its readiness.
const INTERVAL: Duration = Duration::from_secs(1);
/// The time between two summaries of refused requests, as a multiple of `INTERVAL`.
const SUMMARY_INTERVAL: u64 = 60;
/// The time between two warnings about the certificate, as a multiple of `INTERVAL`.
const CERTIFICATE_INTERVAL: u64 = 24 * 60 * 60;
/// The remaining lifetime of the certificate below which the server logs warnings.
const CERTIFICATE_WARNING: Duration = Duration::from_secs(14 * 24 * 60 * 60);

/// Logs changes in readiness at most once a second, refused requests once a minute, and the approaching expiry of
/// the certificate once a day.
pub(crate) async fn log_forever(service: Arc<Service>, tls: Option<TlsSettings>) {
    let mut ticks = interval(INTERVAL);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut readiness = BTreeMap::new();
    for number in 0_u64.. {
        ticks.tick().await;
        log_readiness(&service, &mut readiness);
        if number % SUMMARY_INTERVAL == 0 {
            log_refusals(&service);
        }
        if number % CERTIFICATE_INTERVAL == 0 {
            log_certificate(tls.as_ref());
        }
    }
}

fn log_readiness(service: &Service, known: &mut BTreeMap<String, bool>) {
    for (name, is_ready, error) in service.states() {
        match known.insert(name.clone(), is_ready) {
            Some(earlier) if earlier == is_ready => {}
            None if is_ready => {}
            Some(false) => info!(subject = name, "ready again"),
            _ => warn!(subject = name, error, "not ready"),
        }
    }
}

/// Logs the numbers of requests and connections refused since the previous summary.
pub(crate) fn log_refusals(service: &Service) {
    for ((reason, client), count) in service.take_refusals() {
        warn!(reason, client, count, "refused requests");
    }
}

fn log_certificate(tls: Option<&TlsSettings>) {
    let Some(not_after) = tls.map(TlsSettings::not_after) else { return };
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let left = u64::try_from(not_after).unwrap_or(0).saturating_sub(now.as_secs());
    if left < CERTIFICATE_WARNING.as_secs() {
        warn!(days_left = left / 86_400, "the certificate expires soon");
    }
}
