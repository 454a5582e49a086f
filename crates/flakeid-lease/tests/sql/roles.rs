//! What the rights of a service and the triggers of the tables allow.

use flakeid_lease::protocol::{Refusal, Release};
use flakeid_lease::store::{Fault, operations};

use super::SqlServer;
use crate::client::{connect, fresh_namespace, request};

/// The GRANTs in the documentation are enough for a service, and not enough to do harm.
pub(crate) fn services_need_few_rights<S: SqlServer>() {
    let server = S::new();
    let namespace = fresh_namespace("roles");
    operations::init(&mut *connect(&server.url()).unwrap(), &namespace).unwrap();
    server.sql(&S::CREATE_SERVICE.replace("{password}", S::PASSWORD)).unwrap();
    // The first client after a restart records the run: here the service.
    server.stop();
    server.start();
    let url = server.url_of("service", S::PASSWORD, "ids", "");
    let mut store = connect(&url).unwrap();
    let refused = operations::acquire(&mut *store, &namespace.name, &request(&namespace));
    assert!(matches!(refused, Err(Fault::Refused(Refusal::Restored { .. }))), "{refused:?}");
    // Another namespace of this run, which need not wait.
    let namespace = fresh_namespace("again");
    operations::init(&mut *connect(&server.url()).unwrap(), &namespace).unwrap();
    let grant = operations::acquire(&mut *store, &namespace.name, &request(&namespace)).unwrap();
    let release = Release { node: grant.node, token: grant.token, used_until: grant.start + 1 };
    operations::release(&mut *store, &namespace.name, &release).unwrap();
    // It may record a restoration, and ask for a namespace that exists.
    operations::adopt(&mut *store, &namespace.name).unwrap();
    operations::init(&mut *store, &namespace).unwrap();
    let refused = operations::init(&mut *store, &fresh_namespace("other")).unwrap_err();
    assert!(matches!(&refused, Fault::Rejected(text) if text.contains(S::DENIED)), "{refused:?}");
}

/// Triggers stop even the tables' owner and superusers who make a mistake.
pub(crate) fn triggers_guard_what_safety_rests_on<S: SqlServer>() {
    let server = S::new();
    let mut store = connect(&server.url()).unwrap();
    let namespace = fresh_namespace("guards");
    operations::init(&mut *store, &namespace).unwrap();
    let first = operations::acquire(&mut *store, &namespace.name, &request(&namespace)).unwrap();
    operations::fast_forward(&mut *store, &namespace.name, first.fence).unwrap();
    operations::acquire(&mut *store, &namespace.name, &request(&namespace)).unwrap();
    let statements = [
        "DELETE FROM flakeid_namespace",
        "DELETE FROM flakeid_node",
        "DELETE FROM flakeid_grant",
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
    ];
    for sql in statements.iter().chain(S::LOSING) {
        let refused = server.sql(sql).expect_err(sql);
        assert!(
            refused.contains("flakeid: ") || refused.contains(S::CONSTRAINT),
            "{sql}: {refused}"
        );
    }
    let release = "SET state = 'free', token = NULL, fence = start WHERE state = 'held'";
    server.sql(&format!("UPDATE flakeid_node {release}")).unwrap();
}
