//! Tests of URLs with several hosts. The client must find the primary, even after a failover.

use std::time::{Duration, Instant};

use flakeid_protocol::store::Fault;
use flakeid_test_servers::{PostgresPair, PostgresServer, Server, free_port};

use crate::client::{Authority, check_faults, connect, leases, request};
use crate::operations;
use crate::restored::{check_restored, lease};

#[test]
fn promoted_synchronous_standby_is_used_after_a_failover() {
    let pair = PostgresPair::new(true);
    let url = pair.url("");
    let (namespace, grant) = lease(&url, "synchronous");
    pair.primary.kill();
    let fault = connect(&url).map(drop).unwrap_err();
    let Fault::Unavailable(text) = &fault else { panic!("{fault:?}") };
    assert!(text.contains("refused") && text.contains("does not allow writes"), "{text}");
    assert!(text.contains(&pair.primary.port().to_string()), "{text}");
    assert!(text.contains(&pair.standby.port().to_string()), "{text}");
    pair.standby.promote();
    check_restored(&url, &namespace, &grant);
}

#[test]
fn promoted_standby_that_lost_commits_counts_as_restored() {
    let pair = PostgresPair::new(false);
    let url = pair.url("");
    let (namespace, _) = lease(&url, "asynchronous");
    let received = "SELECT count(*) FROM flakeid_node";
    let deadline = Instant::now() + Duration::from_secs(60);
    while pair.standby.sql(received).as_deref() != Ok("1") {
        assert!(Instant::now() < deadline, "the standby did not receive the row");
    }
    pair.standby.stop();
    let mut store = connect(&url).unwrap();
    let lost = operations::acquire(&mut *store, &namespace.name, &request(&namespace)).unwrap();
    pair.primary.kill();
    pair.standby.start();
    pair.standby.promote();
    // The promoted standby does not contain the last grant.
    check_restored(&url, &namespace, &lost);
}

/// Checks that the client tries the next host if a primary accepts connections but does not respond.
#[test]
fn hanging_primary_server_is_skipped() {
    let pair = PostgresPair::new(true);
    let url = pair.url("");
    let (namespace, grant) = lease(&url, "hanging");
    pair.primary.pause();
    pair.standby.promote();
    check_restored(&url, &namespace, &grant);
    // The paused server is killed, because resuming the server would create a second primary.
    pair.primary.kill();
}

#[test]
fn standby_is_skipped_at_any_position_in_the_url() {
    let pair = PostgresPair::new(false);
    let (primary, standby) = (pair.primary.port(), pair.standby.port());
    let url = |hosts: &str, options: &str| {
        format!("postgresql://flakeid:{}@{hosts}/ids{options}", PostgresServer::PASSWORD)
    };
    let both = format!("127.0.0.1:{standby},localhost:{primary}");
    leases(&url(&both, ""));
    leases(&url(&both, "?target_session_attrs=read-write"));
    leases(&url("", &format!("?host=localhost&host=127.0.0.1&port={standby},{primary}")));
    leases(&url("", &format!("?hostaddr=127.0.0.1,127.0.0.1&port={standby},{primary}")));
    // The option allows the client to connect to the standby, but the client then refuses to use the standby for a
    // transaction.
    let mut store = connect(&url(&both, "?target_session_attrs=any")).unwrap();
    let fault = operations::list(&mut *store, "any").unwrap_err();
    assert!(
        matches!(&fault, Fault::Unavailable(text) if text.contains("is a standby")),
        "{fault:?}"
    );
}

#[test]
fn errors_name_every_host_and_hide_the_password() {
    let server = PostgresServer::new();
    let (port, nobody) = (server.port(), free_port());
    let url = |password: &str, hosts: &str, options: &str| {
        format!("postgresql://flakeid:{password}@{hosts}/ids{options}")
    };
    let right = PostgresServer::PASSWORD;
    leases(&url(right, &format!("127.0.0.1:{nobody},127.0.0.1:{port}"), ""));
    let down = format!("127.0.0.1:{nobody},127.0.0.1:{port}");
    let cases = [
        (url("wr0ng-secret", &down, ""), true, "password authentication"),
        (url("wr0ng-secret", &down, ""), true, "refused"),
        (url(right, &format!("127.0.0.1:{nobody},127.0.0.1:{nobody}"), ""), true, "; "),
        (
            url("wr0ng-secret", &format!("127.0.0.1:{port},127.0.0.1:{port}"), ""),
            false,
            "password authentication",
        ),
        (url("wr0ng-secret", "a,b,c", "?port=1,2"), false, "same number of hosts"),
        (url("wr0ng-secret", "a:1,b:x", ""), false, "port"),
        (url("wr0ng-secret", "a,b", "?target_session_attrs=wr0ng"), false, "target_session_attrs"),
    ];
    check_faults(&cases, &["wr0ng", "secret", right]);
    // The driver would interpret everything after the first @ as host names.
    let text = connect(&url("x@wr0ng-secret", &down, "")).map(drop).unwrap_err().to_string();
    assert!(!text.contains("secret"), "{text}");
}

#[test]
fn certificate_of_each_host_is_verified_against_its_name() {
    let authority = Authority::for_host("127.0.0.1");
    let server = PostgresServer::with_certificate(&authority.certificate, &authority.key);
    let files = tempfile::tempdir().unwrap();
    let root = files.path().join("root.pem");
    std::fs::write(&root, &authority.own).unwrap();
    let port = server.port();
    let url = |hosts: &str| {
        format!(
            "postgresql://flakeid:{}@{hosts}/ids?sslmode=verify-full&sslrootcert={}",
            PostgresServer::PASSWORD,
            root.display()
        )
    };
    leases(&url(&format!("localhost:{port},127.0.0.1:{port}")));
    let fault = connect(&url(&format!("localhost:{port},localhost:{port}"))).map(drop).unwrap_err();
    assert!(
        matches!(&fault, Fault::Rejected(text) if text.contains("not valid for name")),
        "{fault:?}"
    );
}
