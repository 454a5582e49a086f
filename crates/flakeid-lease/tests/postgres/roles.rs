use flakeid_lease::protocol::Release;
use flakeid_lease::store::{Fault, operations};
use flakeid_test_servers::{PostgresServer, Server};

use crate::client::{connect, fresh_namespace, request};

/// The GRANTs in the documentation are enough for a service, and not enough to do harm.
#[test]
fn services_need_few_rights() {
    let server = PostgresServer::new();
    let namespace = fresh_namespace("roles");
    operations::init(&mut *connect(&server.url()).unwrap(), &namespace).unwrap();
    server
        .sql(&format!(
            "CREATE ROLE service LOGIN PASSWORD '{}';
             GRANT USAGE ON SCHEMA public TO service;
             GRANT SELECT ON flakeid_schema TO service;
             GRANT SELECT, UPDATE ON flakeid_namespace TO service;
             GRANT SELECT, INSERT, UPDATE ON flakeid_node TO service;
             GRANT SELECT, INSERT ON flakeid_grant TO service",
            PostgresServer::PASSWORD
        ))
        .unwrap();
    let url = server.url_of("service", PostgresServer::PASSWORD, "ids", "");
    let mut store = connect(&url).unwrap();
    let grant = operations::acquire(&mut *store, &namespace.name, &request(&namespace)).unwrap();
    let release = Release { node: grant.node, token: grant.token, used_until: grant.start + 1 };
    operations::release(&mut *store, &namespace.name, &release).unwrap();
    // It may note a restoration, and ask for a namespace that exists.
    operations::adopt(&mut *store, &namespace.name).unwrap();
    operations::init(&mut *store, &namespace).unwrap();
    let refused = operations::init(&mut *store, &fresh_namespace("other")).unwrap_err();
    assert!(matches!(&refused, Fault::Rejected(text) if text.contains("permission denied")));
}

/// Triggers stop even the tables' owner and superusers who make a mistake.
#[test]
fn triggers_guard_what_safety_rests_on() {
    let server = PostgresServer::new();
    let mut store = connect(&server.url()).unwrap();
    let namespace = fresh_namespace("guards");
    operations::init(&mut *store, &namespace).unwrap();
    let first = operations::acquire(&mut *store, &namespace.name, &request(&namespace)).unwrap();
    operations::fast_forward(&mut *store, &namespace.name, first.fence).unwrap();
    operations::acquire(&mut *store, &namespace.name, &request(&namespace)).unwrap();
    for sql in [
        "DELETE FROM flakeid_namespace",
        "DELETE FROM flakeid_node",
        "DELETE FROM flakeid_grant",
        "TRUNCATE flakeid_node",
        "TRUNCATE flakeid_grant",
        "TRUNCATE flakeid_namespace CASCADE",
        "UPDATE flakeid_grant SET start = start - 1",
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
    ] {
        let refused = server.sql(sql).expect_err(sql);
        assert!(
            refused.contains("flakeid: ") || refused.contains("violates check"),
            "{sql}: {refused}"
        );
    }
    let release = "SET state = 'free', token = NULL, fence = start WHERE state = 'held'";
    server.sql(&format!("UPDATE flakeid_node {release}")).unwrap();
}

/// `fsync = off` is refused; `synchronous_commit = off` is overridden for leases alone.
#[test]
fn durability_is_seen_to() {
    let server = PostgresServer::new();
    let namespace = fresh_namespace("durable");
    server.sql("ALTER ROLE flakeid SET synchronous_commit = off").unwrap();
    let mut store = connect(&server.url()).unwrap();
    operations::init(&mut *store, &namespace).unwrap();
    server
        .sql(
            "CREATE TABLE seen (setting text); GRANT INSERT ON seen TO flakeid;
             CREATE FUNCTION see() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
                 INSERT INTO seen VALUES (current_setting('synchronous_commit')); RETURN NEW;
             END $$;
             CREATE TRIGGER see BEFORE INSERT ON flakeid_node FOR EACH ROW EXECUTE FUNCTION see()",
        )
        .unwrap();
    operations::acquire(&mut *store, &namespace.name, &request(&namespace)).unwrap();
    assert_eq!(server.sql("SELECT setting FROM seen").unwrap(), "on");

    server.sql("ALTER SYSTEM SET fsync = off").unwrap();
    server.stop();
    server.start();
    let mut store = connect(&server.url()).unwrap();
    let refused = operations::list(&mut *store, &namespace.name).unwrap_err();
    assert!(matches!(&refused, Fault::Rejected(text) if text.contains("fsync")), "{refused:?}");
}
