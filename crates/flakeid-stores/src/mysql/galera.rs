//! Support for Galera clusters. All members of a cluster accept writes, but clients write leases only through the first
//! member.

use std::collections::HashMap;

use flakeid_protocol::store::Fault;

/// The query that determines whether a server is a member of a Galera cluster. On a server outside a cluster, the
/// variable is `OFF` or does not exist.
pub(super) const IS_MEMBER: &str = "SHOW GLOBAL VARIABLES LIKE 'wsrep_on'";

/// The statement that makes each read wait until the member has applied all transactions that the cluster confirmed
/// before the read. Without this setting, a read may miss confirmed transactions.
pub(super) const READ_WHAT_IS_CONFIRMED: &str = "SET SESSION wsrep_sync_wait = 1";

/// The query that returns the state of the cluster as reported by a member.
pub(super) const STATE: &str = "SHOW GLOBAL STATUS WHERE Variable_name IN (
     'wsrep_ready', 'wsrep_cluster_status', 'wsrep_local_index', 'wsrep_cluster_size',
     'wsrep_cluster_state_uuid', 'wsrep_cluster_conf_id', 'wsrep_incoming_addresses')";

/// Checks that a member is connected to the majority of its cluster, and is the first in the order that all members
/// share. Returns an identifier of the cluster and its current membership. The identifier changes when a member joins
/// or leaves, so that clients detect a possible loss of transactions. For example, a member that was cut off and then
/// became a separate cluster lacks the transactions that the other members confirmed in the meantime.
///
/// # Errors
/// [`Fault::Unavailable`] with the state that the member reported.
pub(super) fn check_first(shown: &str, state: Vec<(String, String)>) -> Result<String, Fault> {
    let state: HashMap<String, String> =
        state.into_iter().map(|(name, value)| (name.to_ascii_lowercase(), value)).collect();
    let value = |name: &str| state.get(name).map_or("", String::as_str);
    let (ready, status) = (value("wsrep_ready"), value("wsrep_cluster_status"));
    if ready != "ON" || status != "Primary" {
        return Err(Fault::Unavailable(format!(
            "{shown} is a member of a Galera cluster that cannot be used now (wsrep_ready is \
             {ready:?}, wsrep_cluster_status {status:?})"
        )));
    }
    let (index, size) = (value("wsrep_local_index"), value("wsrep_cluster_size"));
    // Members without an address are skipped, because they are arbitrators, which do not store data.
    let mut addresses = value("wsrep_incoming_addresses").split(',');
    let first = addresses.position(|address| !address.trim().is_empty()).unwrap_or(0).to_string();
    if index != first {
        return Err(Fault::Unavailable(format!(
            "{shown} is member {index} of a Galera cluster of {size}, counted from 0, but only member \
             {first} writes leases: name all members in the URL, host:port,host:port,…"
        )));
    }
    Ok(format!("{}/{}", value("wsrep_cluster_state_uuid"), value("wsrep_cluster_conf_id")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(ready: &str, status: &str, index: &str) -> Result<String, Fault> {
        check_with("AUTO,AUTO,AUTO", ready, status, index)
    }

    fn check_with(
        addresses: &str,
        ready: &str,
        status: &str,
        index: &str,
    ) -> Result<String, Fault> {
        let state = [
            ("wsrep_ready", ready),
            ("wsrep_cluster_status", status),
            ("wsrep_local_index", index),
            ("wsrep_cluster_size", "3"),
            ("wsrep_cluster_state_uuid", "u"),
            ("WSREP_CLUSTER_CONF_ID", "7"),
            ("wsrep_incoming_addresses", addresses),
        ];
        let state = state.map(|(name, value)| (name.to_owned(), value.to_owned()));
        check_first("mysql://one/ids", state.into())
    }

    #[test]
    fn galera_check_accepts_only_the_first_member_of_a_working_cluster() {
        assert_eq!(check("ON", "Primary", "0"), Ok("u/7".into()));
        for (state, reason) in [
            (("OFF", "Primary", "0"), "wsrep_ready"),
            (("ON", "non-Primary", "0"), "non-Primary"),
            (("ON", "Primary", "2"), "member 2 of a Galera cluster of 3"),
            (("ON", "Primary", "18446744073709551615"), "name all members"),
        ] {
            let fault = check(state.0, state.1, state.2);
            assert!(
                matches!(&fault, Err(Fault::Unavailable(text)) if text.contains(reason)),
                "{fault:?}"
            );
        }
        assert!(check_first("mysql://one/ids", Vec::new()).is_err());
    }

    #[test]
    fn galera_check_skips_arbitrators() {
        for (addresses, first) in
            [("AUTO,AUTO,", "0"), (",AUTO,10.0.0.2:3306", "1"), (",,AUTO", "2"), ("", "0")]
        {
            for index in ["0", "1", "2"] {
                let checked = check_with(addresses, "ON", "Primary", index);
                assert_eq!(checked.is_ok(), index == first, "{addresses} {index}: {checked:?}");
            }
        }
    }
}
