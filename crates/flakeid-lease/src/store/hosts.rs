//! Several hosts in one URL: the first that can be used is taken.

use std::time::Duration;

use super::Fault;
use super::retry::CONNECT_TIMEOUT;

/// Connects to the first of the servers that a URL names and that can be used. Each gets its share of
/// the time, so one that hangs does not keep the others from being tried.
///
/// # Errors
/// What each of them said, if none can be used: [`Fault::Unavailable`] if that may change for one of
/// them.
pub(super) fn first_usable<P, T>(
    places: &[P],
    mut connect: impl FnMut(&P, Duration) -> Result<T, Fault>,
) -> Result<T, Fault> {
    let share = CONNECT_TIMEOUT / u32::try_from(places.len().max(1)).unwrap_or(u32::MAX);
    let mut faults = Vec::new();
    for place in places {
        match connect(place, share) {
            Ok(connected) => return Ok(connected),
            Err(fault) => faults.push(fault),
        }
    }
    if faults.len() == 1 {
        return Err(faults.remove(0));
    }
    let may_change = faults.iter().any(|fault| matches!(fault, Fault::Unavailable(_)));
    let texts: Vec<String> = faults.iter().map(ToString::to_string).collect();
    let text = texts.join("; ");
    Err(if may_change { Fault::Unavailable(text) } else { Fault::Rejected(text) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_usable_one_is_taken_and_every_fault_is_told() {
        let unavailable = |text: &str| Err(Fault::Unavailable(text.into()));
        let rejected = |text: &str| Err(Fault::Rejected(text.into()));
        let try_each = |outcomes: &[Result<u8, Fault>]| {
            first_usable(outcomes, |outcome, share| {
                assert_eq!(share * outcomes.len() as u32, CONNECT_TIMEOUT);
                outcome.clone()
            })
        };
        assert_eq!(try_each(&[unavailable("a"), Ok(1)]), Ok(1));
        assert_eq!(try_each(&[rejected("a"), Ok(1)]), Ok(1));
        assert_eq!(try_each(&[rejected("a")]), rejected("a"));
        assert_eq!(try_each(&[rejected("a"), unavailable("b")]), unavailable("a; b"));
        assert_eq!(try_each(&[rejected("a"), rejected("b")]), rejected("a; b"));
    }
}
