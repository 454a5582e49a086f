//! `flakeid leases prune`, which removes old grants from the history.

use flakeid_core::Error;
use flakeid_json::parse_instant;
use flakeid_protocol::operations::Pruned;

use super::args::PruneArgs;
use crate::failure::Outcome;
use crate::format::number::grouped;
use crate::format::{duration, instant};
use crate::terminal;

const BEFORE: &str = "--before";

pub(super) fn run(args: &PruneArgs) -> Outcome {
    let mut connection = args.store.connect()?;
    let listing = connection.list()?;
    let name = connection.name();
    let before = parse(&args.before, listing.now)?;
    if !listing.namespace.keeps_history {
        return Ok(terminal::show(&format!("{name} keeps no history: nothing to do\n"))?);
    }
    let shown = instant::exact(before);
    args.confirm.ask(&format!(
        "this removes the grants of {name} that ended before {shown} from the history. `flakeid \
         whois` then no longer finds the processes that generated IDs under these grants. This is \
         irreversible."
    ))?;
    let pruned = connection.prune(before)?;
    if pruned == Pruned::default() {
        let text = format!("no grant of {name} ended before {shown}: nothing to do\n");
        return Ok(terminal::show(&text)?);
    }
    let [records, sub_grants] = [pruned.records, pruned.sub_grants].map(grants);
    let removed = if listing.namespace.block_bits == 0 {
        records
    } else {
        format!("{records} of blocks and {sub_grants} made by brokers")
    };
    let text =
        format!("pruned the history of {name}: removed {removed} that ended before {shown}\n");
    Ok(terminal::show(&text)?)
}

/// Parses an instant or a duration before now, and checks that the resulting instant is not in the
/// future. `now` is the time on the store's clock.
fn parse(text: &str, now: i64) -> Result<i64, Error> {
    let before = match duration::parse(BEFORE, text) {
        Ok(ms) => now.saturating_sub(i64::try_from(ms).unwrap_or(i64::MAX)).max(0),
        Err(_) => parse_instant(BEFORE, text).map_err(|_| {
            let reason = format!(
                "{text:?} is not a time; write a date (2026-01-31, midnight UTC), RFC 3339 with its \
                 offset (2026-01-31T12:00:00Z), Unix milliseconds (1769860800000) or a duration \
                 before now (90d)"
            );
            Error::invalid_option(BEFORE, &reason)
        })?,
    };
    if before > now {
        let reason = format!(
            "{text:?} is in the future: the store's clock shows {}; write an earlier time",
            instant::exact(now)
        );
        return Err(Error::invalid_option(BEFORE, &reason));
    }
    Ok(before)
}

/// Formats a number of grants: `1 grant`, `2 grants`.
fn grants(number: u64) -> String {
    let s = if number == 1 { "" } else { "s" };
    format!("{} grant{s}", grouped(number))
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    #[test]
    fn prune_command_accepts_durations_and_instants_up_to_the_current_time() {
        const NOW: i64 = 1_800_000_000_000;
        for (text, before) in [
            ("90d", NOW - 90 * 86_400_000),
            ("0ms", NOW),
            ("2026-01-31", 1_769_817_600_000),
            ("2026-01-31T12:00:00Z", 1_769_860_800_000),
            ("1769860800000", 1_769_860_800_000),
            ("1800000000000", NOW),
            // A number without a unit is an instant in Unix milliseconds.
            ("90", 90),
            ("18446744073709551615ms", 0),
        ] {
            assert_eq!(parse(text, NOW), Ok(before), "{text}");
        }
        for (text, part) in [
            ("1800000000001", "is in the future: the store's clock shows 2027-01-15T08:00:00Z"),
            ("2030-01-01", "is in the future"),
            ("yesterday", "or a duration before now (90d)"),
            ("-90d", "is not a time"),
        ] {
            let error = parse(text, NOW).unwrap_err().to_string();
            assert!(error.contains(part), "{error}");
        }
    }
}
