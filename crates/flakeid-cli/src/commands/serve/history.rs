//! Automatic pruning: the server regularly removes old grants from the history of each namespace
//! that it serves.

use std::sync::Arc;
use std::time::Duration;

use flakeid_core::{Error, SystemClock};
use flakeid_server::HistoryPruning;
use flakeid_stores::Location;

use crate::format::duration;

const KEEP_HISTORY: &str = "keep-history";

/// Returns the settings for automatic pruning. `keep` is the time from `--keep-history`. Returns
/// `None` if the history is kept forever, or if the server leases its nodes from a broker, because
/// the broker then prunes the history.
pub(super) fn pruning(
    keep: Option<Duration>,
    names: &[String],
    location: &Location,
) -> Option<HistoryPruning> {
    let keep = keep.filter(|_| !location.is_broker())?;
    let location = location.clone();
    let open = move || location.connect_existing(&(Arc::new(SystemClock) as _));
    Some(HistoryPruning::new(keep, names.to_vec(), open))
}

/// Parses a value of `--keep-history`. Returns `None` for `forever`.
pub(super) fn parse(text: &str) -> Result<Option<Duration>, Error> {
    if text == "forever" {
        return Ok(None);
    }
    if let Ok(ms @ 1..) = duration::parse(KEEP_HISTORY, text) {
        return Ok(Some(Duration::from_millis(ms)));
    }
    let reason = format!(
        "{text:?} is not a duration above zero; write it as 12h or 90d, or write forever to keep all \
         grants"
    );
    Err(Error::invalid_option(KEEP_HISTORY, &reason))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn history_retention_option_accepts_positive_durations_and_forever() {
        assert_eq!(parse("forever"), Ok(None));
        assert_eq!(parse("90d"), Ok(Some(Duration::from_secs(90 * 86_400))));
        // Zero is rejected because a user could mean "keep nothing" or "remove nothing".
        for text in ["0", "0d", "", "never", "-1d", "90"] {
            assert!(
                parse(text).is_err_and(|error| error.to_string().contains("forever")),
                "{text}"
            );
        }
    }
}
