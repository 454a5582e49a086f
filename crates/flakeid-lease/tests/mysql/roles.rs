use flakeid_lease::protocol::{Refusal, Release};
use flakeid_lease::store::{Fault, operations};
use flakeid_test_servers::{MariadbServer, Server};

use crate::client::{connect, fresh_namespace, request};

/// The GRANTs in the documentation are enough for a service, and not enough to do harm.
#[test]
fn services_need_few_rights() {
    let server = MariadbServer::new();
    let namespace = fresh_namespace("roles");
    operations::init(&mut *connect(&server.url()).unwrap(), &namespace).unwrap();
    server
        .sql(&format!(
            "CREATE USER service IDENTIFIED BY '{}';
             GRANT SELECT ON ids.flakeid_schema TO service;
             GRANT SELECT, UPDATE ON ids.flakeid_namespace TO service;
             GRANT SELECT, INSERT, UPDATE ON ids.flakeid_node TO service;
             GRANT SELECT, INSERT ON ids.flakeid_grant TO service;
             GRANT SELECT, INSERT ON ids.flakeid_run TO service",
            MariadbServer::PASSWORD
        ))
        .unwrap();
    // Whoever comes first notes the run: here the service.
    server.stop();
    server.start();
    let url = server.url_of("service", MariadbServer::PASSWORD, "ids", "");
    let mut store = connect(&url).unwrap();
    let refused = operations::acquire(&mut *store, &namespace.name, &request(&namespace));
    assert!(matches!(refused, Err(Fault::Refused(Refusal::Restored { .. }))), "{refused:?}");
    // Another namespace of this run, which need not wait.
    let namespace = fresh_namespace("again");
    operations::init(&mut *connect(&server.url()).unwrap(), &namespace).unwrap();
    let grant = operations::acquire(&mut *store, &namespace.name, &request(&namespace)).unwrap();
    let release = Release { node: grant.node, token: grant.token, used_until: grant.start + 1 };
    operations::release(&mut *store, &namespace.name, &release).unwrap();
    // It may note a restoration, and ask for a namespace that exists.
    operations::adopt(&mut *store, &namespace.name).unwrap();
    operations::init(&mut *store, &namespace).unwrap();
    let refused = operations::init(&mut *store, &fresh_namespace("other")).unwrap_err();
    assert!(matches!(&refused, Fault::Rejected(text) if text.contains("denied")));
}

/// Triggers stop even the tables' owner and superusers who make a mistake.
#[test]
fn triggers_guard_what_safety_rests_on() {
    let server = MariadbServer::new();
    let mut store = connect(&server.url()).unwrap();
    let namespace = fresh_namespace("guards");
    operations::init(&mut *store, &namespace).unwrap();
    let first = operations::acquire(&mut *store, &namespace.name, &request(&namespace)).unwrap();
    operations::fast_forward(&mut *store, &namespace.name, first.fence).unwrap();
    operations::acquire(&mut *store, &namespace.name, &request(&namespace)).unwrap();
    for sql in [
        "DELETE FROM ids.flakeid_namespace",
        "DELETE FROM ids.flakeid_node",
        "DELETE FROM ids.flakeid_grant",
        "UPDATE ids.flakeid_grant SET start = start - 1",
        "UPDATE ids.flakeid_namespace SET floor = floor - 1",
        "UPDATE ids.flakeid_namespace SET layout = 'discord'",
        "UPDATE ids.flakeid_namespace SET name = 'other'",
        "UPDATE ids.flakeid_node SET node = node + 100",
        "UPDATE ids.flakeid_node SET fence = fence - 1",
        "UPDATE ids.flakeid_node SET start = start - 1",
        "UPDATE ids.flakeid_node SET state = 'free', token = NULL, fence = start - 1",
        "UPDATE ids.flakeid_node SET state = 'quarantined', token = NULL, fence = start",
        "UPDATE ids.flakeid_node SET fence = -1",
        "UPDATE ids.flakeid_node SET state = 'lost'",
        "UPDATE ids.flakeid_node SET token = 'short'",
    ] {
        let refused = server.sql(sql).expect_err(sql);
        assert!(
            refused.contains("flakeid: ") || refused.contains("CONSTRAINT"),
            "{sql}: {refused}"
        );
    }
    let release = "SET state = 'free', token = NULL, fence = start WHERE state = 'held'";
    server.sql(&format!("UPDATE ids.flakeid_node {release}")).unwrap();
}

#[test]
fn durability_is_seen_to() {
    let server = MariadbServer::new();
    let namespace = fresh_namespace("durable");
    let mut store = connect(&server.url()).unwrap();
    operations::init(&mut *store, &namespace).unwrap();
    server.sql("SET GLOBAL innodb_flush_log_at_trx_commit = 2").unwrap();
    let refused = operations::list(&mut *store, &namespace.name).unwrap_err();
    assert!(
        matches!(&refused, Fault::Rejected(text) if text.contains("innodb_flush_log")),
        "{refused:?}"
    );
    server.sql("SET GLOBAL innodb_flush_log_at_trx_commit = 1").unwrap();
    server
        .sql(
            "USE ids; ALTER TABLE flakeid_node DROP FOREIGN KEY flakeid_node_namespace; \
             ALTER TABLE flakeid_node ENGINE = Aria",
        )
        .unwrap();
    let refused = operations::list(&mut *store, &namespace.name).unwrap_err();
    assert!(matches!(&refused, Fault::Rejected(text) if text.contains("InnoDB")), "{refused:?}");
}
