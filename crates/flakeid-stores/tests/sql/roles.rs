//! Tests of a service's rights and of the tables' triggers.

use std::time::Instant;

use flakeid_protocol::store::{Fault, Store};
use flakeid_protocol::{
    Acquire, Client, Handover, Namespace, Refusal, Release, Renew, SubGrant, Token,
};

use super::SqlServer;
use crate::client::{connect, fresh_namespace, request};
use crate::operations;

/// Checks that the rights in the documentation suffice for a service, and do not suffice to create a namespace.
pub(crate) fn documented_rights_suffice_for_a_service_and_no_more<S: SqlServer>() {
    let server = S::new();
    let namespace = fresh_namespace("roles");
    operations::init(&mut *connect(&server.url()).unwrap(), &namespace).unwrap();
    server.sql(&S::CREATE_SERVICE.replace("{password}", S::PASSWORD)).unwrap();
    // The service is the first client after a restart, which records the run.
    server.stop();
    server.start();
    let url = server.url_of("service", S::PASSWORD, "ids", "");
    let mut store = connect(&url).unwrap();
    let refused = operations::acquire(&mut *store, &namespace.name, &request(&namespace));
    assert!(matches!(refused, Err(Fault::Refused(Refusal::Restored { .. }))), "{refused:?}");
    // A new namespace of this run need not wait.
    let namespace = fresh_namespace("again");
    operations::init(&mut *connect(&server.url()).unwrap(), &namespace).unwrap();
    let grant = operations::acquire(&mut *store, &namespace.name, &request(&namespace)).unwrap();
    let release = Release { node: grant.node, token: grant.token, used_until: grant.start + 1 };
    operations::release(&mut *store, &namespace.name, &release).unwrap();
    // A service may record a restore, and initialize a namespace that exists.
    operations::adopt(&mut *store, &namespace.name).unwrap();
    operations::init(&mut *store, &namespace).unwrap();
    // A broker's sub-grants are recorded in the history.
    let namespace = blocks("blocks");
    operations::init(&mut *connect(&server.url()).unwrap(), &namespace).unwrap();
    let (node, tick) = hand_over(&mut *store, &namespace);
    let found = operations::whois(&mut *store, &namespace.name, node, tick).unwrap();
    let client = found.and_then(|found| found.client);
    assert!(matches!(client, Some(Client::Known { .. })), "{client:?}");
    let refused = operations::init(&mut *store, &fresh_namespace("other")).unwrap_err();
    assert!(matches!(&refused, Fault::Rejected(text) if text.contains(S::DENIED)), "{refused:?}");
}

/// Checks that triggers reject mistakes even of the tables' owner and of superusers.
pub(crate) fn triggers_reject_unsafe_changes_by_the_owner<S: SqlServer>() {
    let server = S::new();
    let mut store = connect(&server.url()).unwrap();
    let namespace = fresh_namespace("guards");
    operations::init(&mut *store, &namespace).unwrap();
    let first = operations::acquire(&mut *store, &namespace.name, &request(&namespace)).unwrap();
    operations::fast_forward(&mut *store, &namespace.name, first.fence).unwrap();
    operations::acquire(&mut *store, &namespace.name, &request(&namespace)).unwrap();
    let of_brokers = blocks("guarded-blocks");
    operations::init(&mut *store, &of_brokers).unwrap();
    hand_over(&mut *store, &of_brokers);
    let statements = [
        "DELETE FROM flakeid_namespace",
        "DELETE FROM flakeid_node",
        "DELETE FROM flakeid_grant",
        "UPDATE flakeid_grant SET start = start - 1",
        "DELETE FROM flakeid_sub_grant",
        "UPDATE flakeid_sub_grant SET start = start - 1",
        "UPDATE flakeid_namespace SET floor = floor - 1",
        "UPDATE flakeid_namespace SET layout = 'discord'",
        "UPDATE flakeid_namespace SET name = 'other'",
        "UPDATE flakeid_node SET node = node + 100",
        "UPDATE flakeid_node SET fence = fence - 1",
        "UPDATE flakeid_node SET start = start - 1",
        "UPDATE flakeid_node SET state = 'free', token = NULL, fence = start - 1",
        "UPDATE flakeid_node SET state = 'quarantined', token = NULL, fence = start",
        "UPDATE flakeid_node SET fence = -1",
        "UPDATE flakeid_node SET state = 'lost'",
        "UPDATE flakeid_node SET token = 'short'",
    ];
    for sql in statements.iter().chain(S::LOSING) {
        let refused = server.sql(sql).expect_err(sql);
        assert!(
            refused.contains("flakeid: ") || refused.to_uppercase().contains(S::CONSTRAINT),
            "{sql}: {refused}"
        );
    }
    let release = "SET state = 'free', token = NULL, fence = start WHERE state = 'held'";
    server.sql(&format!("UPDATE flakeid_node {release}")).unwrap();
}

fn blocks(name: &str) -> Namespace {
    Namespace { block_bits: 4, ..fresh_namespace(name) }
}

/// Leases a block and renews it with a sub-grant, as a broker does. Returns the sub-grant's node and first tick.
fn hand_over(store: &mut dyn Store, namespace: &Namespace) -> (u64, u64) {
    let base = request(namespace);
    let (to, now, ttl_ms, owner) = (namespace.max_row(), base.now, base.ttl_ms, base.owner.clone());
    let block = Acquire { block_bits: namespace.block_bits, to, ..base };
    let grant = operations::acquire(store, &namespace.name, &block).unwrap();
    let renewal = Renew {
        node: grant.node,
        start: grant.start,
        token: grant.token,
        next: Token::from_bits(1).of_grant(grant.token),
        confirmed: grant.fence,
        wanted: grant.fence + 10,
        ttl_ms,
        now,
        waited_ms: 0,
    };
    let (node, start) = (grant.node << namespace.block_bits, grant.start);
    let sub_grant = SubGrant { node, start, block_grant: 0, grant: 1, owner, acquired: now };
    let handover = Handover { sub_grants: vec![sub_grant], until: grant.fence };
    let read = Instant::now();
    operations::renew_block(store, &namespace.name, &renewal, read, &handover).unwrap();
    (node, start)
}
