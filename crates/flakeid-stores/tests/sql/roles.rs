//! Tests of the database rights that a service needs, and of the triggers that protect the tables.

use std::time::Instant;

use flakeid_protocol::store::{Fault, Store};
use flakeid_protocol::{
    self as protocol, Acquire, Handover, Namespace, Owner, Record, Refusal, Release, Renew,
    SubGrant, Token,
};

use super::SqlServer;
use crate::client::{Client, connect, fresh_namespace, request};
use crate::operations::{self, Pruned};

/// Checks that the documented rights allow a service to lease nodes, but not to create namespaces.
pub(crate) fn documented_privileges_suffice_for_a_service_and_no_more<S: SqlServer>() {
    let server = S::new();
    let namespace = fresh_namespace("roles");
    operations::init(&mut *connect(&server.url()).unwrap(), &namespace).unwrap();
    server.sql(&S::CREATE_SERVICE.replace("{password}", S::PASSWORD)).unwrap();
    // After the restart, the service is the first client that connects, so the service must record the server's new
    // run.
    server.stop();
    server.start();
    let url = server.url_of("service", S::PASSWORD, "ids", "");
    let mut store = connect(&url).unwrap();
    let refused = operations::acquire(&mut *store, &namespace.name, &request(&namespace));
    assert!(matches!(refused, Err(Fault::Refused(Refusal::Restored { .. }))), "{refused:?}");
    // A new namespace grants nodes immediately, because it was created after the restart.
    let namespace = fresh_namespace("again");
    operations::init(&mut *connect(&server.url()).unwrap(), &namespace).unwrap();
    let mut client = Client { store, namespace };
    let grant = client.acquire().unwrap();
    let release = Release { node: grant.node, token: grant.token, used_until: grant.start + 1 };
    operations::release(&mut *client.store, &client.namespace.name, &release).unwrap();
    // A service may record a restore, and may call `init` for an existing namespace.
    client.adopt();
    operations::init(&mut *client.store, &client.namespace).unwrap();
    // A service may also record a broker's sub-grants in the history.
    let namespace = blocks("blocks");
    operations::init(&mut *connect(&server.url()).unwrap(), &namespace).unwrap();
    let (node, tick) = hand_over(&mut *client.store, &namespace);
    let found = operations::whois(&mut *client.store, &namespace.name, node, tick).unwrap();
    let found = found.and_then(|found| found.client);
    assert!(matches!(found, Some(protocol::Client::Known { .. })), "{found:?}");
    let refused = operations::init(&mut *client.store, &fresh_namespace("other")).unwrap_err();
    assert!(matches!(&refused, Fault::Rejected(text) if text.contains(S::DENIED)), "{refused:?}");
}

/// Checks that the triggers reject invalid changes, even if the owner of the tables or a superuser makes the changes.
pub(crate) fn triggers_reject_unsafe_changes_by_the_owner<S: SqlServer>() {
    let server = S::new();
    let mut client = Client::new(&server.url(), "guards");
    let first = client.acquire().unwrap();
    operations::fast_forward(&mut *client.store, &client.namespace.name, first.fence).unwrap();
    client.acquire().unwrap();
    let of_brokers = blocks("guarded-blocks");
    operations::init(&mut *client.store, &of_brokers).unwrap();
    hand_over(&mut *client.store, &of_brokers);
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

/// Checks that history can be deleted only by pruning, and that pruning requires the documented rights. Also checks
/// that `init` replaces the triggers of an earlier build if the user has the right to replace triggers.
pub(crate) fn history_is_deleted_only_by_pruning<S: SqlServer>() {
    let server = S::new();
    let mut owner = connect(&server.url()).unwrap();
    let namespace = blocks("pruned");
    operations::init(&mut *owner, &namespace).unwrap();
    let (node, tick) = hand_over(&mut *owner, &namespace);
    server.sql(&S::CREATE_SERVICE.replace("{password}", S::PASSWORD)).unwrap();
    let url = server.url_of("service", S::PASSWORD, "ids", "");
    let mut service = connect(&url).unwrap();
    let check_refused = |store: &mut dyn Store, parts: [&str; 2]| {
        let refused = operations::prune(store, &namespace.name, i64::MAX).unwrap_err();
        let Fault::Rejected(text) = &refused else { panic!("{refused:?}") };
        assert!(parts.iter().all(|part| text.contains(part)), "{text}");
    };
    let check_pruned = |store: &mut dyn Store| {
        let pruned = operations::prune(store, &namespace.name, i64::MAX).unwrap();
        assert_eq!(pruned, Pruned { records: 2, sub_grants: 2 });
        for table in ["flakeid_grant", "flakeid_sub_grant"] {
            let refused = server.sql(&format!("DELETE FROM {table}")).unwrap_err();
            assert!(refused.contains("flakeid: "), "{refused}");
        }
        let found = operations::whois(store, &namespace.name, node, tick).unwrap().unwrap();
        assert!(matches!(found.client, Some(protocol::Client::Known { .. })), "{found:?}");
    };

    add_history(&mut *owner, &namespace, node);
    check_refused(&mut *service, [S::DENIED, "the DELETE privilege on flakeid_grant"]);
    server.sql(S::PERMIT_PRUNING).unwrap();
    check_pruned(&mut *service);
    add_history(&mut *owner, &namespace, node);
    check_pruned(&mut *owner);

    server.sql(S::OLD_TRIGGERS).unwrap();
    add_history(&mut *owner, &namespace, node);
    for store in [&mut owner, &mut service] {
        check_refused(&mut **store, ["flakeid: DELETE of", "flakeid leases init"]);
    }
    // A service may not replace the triggers, but may still call `init`.
    operations::init(&mut *service, &namespace).unwrap();
    check_refused(&mut *owner, ["flakeid: DELETE of", "flakeid leases init"]);
    operations::init(&mut *owner, &namespace).unwrap();
    check_pruned(&mut *service);
}

/// Adds two records and two sub-grants to a node's history. The added entries are older than all existing entries.
fn add_history(store: &mut dyn Store, namespace: &Namespace, node: u64) {
    let owner = || Owner { name: "old".into(), host: "test".into(), pid: 1 };
    let added = store.transact(&namespace.name, &mut |ledger| {
        let row = namespace.row_of(node);
        for start in [1, 2] {
            let (grant, owner) = (100 + start, owner());
            let record = Record { node: row, grant, start, owner, acquired: 1, previous_until: 0 };
            ledger.record(&record)?;
        }
        let sub = |grant| {
            let owner = owner();
            SubGrant { node, start: grant, block_grant: 0, grant, owner, acquired: 1 }
        };
        ledger.record_sub_grants(&[sub(1), sub(2)])
    });
    added.unwrap();
}

fn blocks(name: &str) -> Namespace {
    Namespace { block_bits: 4, ..fresh_namespace(name) }
}

/// Leases a block of nodes, and renews the lease with a sub-grant of one node, as a broker does. Returns the
/// sub-grant's node and first tick.
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
