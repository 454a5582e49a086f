//! A parser for URLs with several hosts, and a function that connects to the first usable host.

use std::time::Duration;

use flakeid_protocol::store::{CONNECT_TIMEOUT, Fault};

/// Connects to the first usable server listed in a URL. Each server gets an equal share of the time limit, so that a
/// server that hangs leaves time for the other servers.
///
/// # Errors
/// [`Fault::Unavailable`] if no server is usable now, but at least one may become usable later; [`Fault::Rejected`] if
/// no server can become usable. The message contains the faults of all servers.
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

/// The parts of a URL before its options: `scheme://user:password@host:port,host:port/path`.
pub(super) struct Hosts<'a> {
    pub(super) scheme: &'a str,
    /// The credentials in the form `user:password@`, or an empty string.
    pub(super) user: &'a str,
    pub(super) list: Vec<&'a str>,
    /// The path, which begins with a slash or is empty.
    pub(super) path: &'a str,
}

impl<'a> Hosts<'a> {
    pub(super) fn parse(base: &'a str) -> Self {
        let (scheme, rest) = base.split_once("://").unwrap_or(("", base));
        let (authority, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
        let (user, hosts) = authority.split_at(authority.rfind('@').map_or(0, |at| at + 1));
        Self { scheme, user, list: hosts.split(',').collect(), path }
    }

    /// Returns the URL of one host, with the given scheme.
    pub(super) fn url(&self, scheme: &str, host: &str) -> String {
        format!("{scheme}://{}{host}{}", self.user, self.path)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn host_search_returns_a_usable_host_or_all_faults() {
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

    #[test]
    fn urls_are_split_into_one_url_per_host() {
        for (base, hosts, first) in [
            ("mysql://u:p,q@a:1,b:2/d", vec!["a:1", "b:2"], "x://u:p,q@a:1/d"),
            ("mysql://u:p@r@[::1]:1/d", vec!["[::1]:1"], "x://u:p@r@[::1]:1/d"),
            ("redis://a", vec!["a"], "x://a"),
            ("redis:///2", vec![""], "x:///2"),
        ] {
            let parsed = Hosts::parse(base);
            assert_eq!(parsed.list, hosts);
            assert_eq!(parsed.url("x", hosts[0]), first);
        }
    }
}
