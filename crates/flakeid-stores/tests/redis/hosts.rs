//! Tests of URLs that contain several hosts or several sentinels. The client must find the primary, even after a
//! failover.

use std::time::{Duration, Instant};

use flakeid_protocol::operations;
use flakeid_protocol::store::{Continuity, Fault};
use flakeid_test_servers::{RedisSentinels, RedisServer, Server, free_port};

use crate::client::{check_faults, connect, eventually_connect, leases};
use crate::restored::{check_restored, lease};

const PASSWORD: &str = RedisServer::PASSWORD;

/// Waits until a replica has received all data from its primary.
fn wait_until_synced(replica: &RedisServer, primary: &RedisServer) {
    let deadline = Instant::now() + Duration::from_secs(60);
    let offset = |server: &RedisServer| {
        let state = server.command(&["INFO", "replication"]).unwrap_or_default();
        let line = state.lines().find(|line| line.starts_with("master_repl_offset:"));
        line.map(str::to_owned)
    };
    while offset(primary) != offset(replica) {
        assert!(Instant::now() < deadline, "the replica does not catch up");
    }
}

#[test]
fn sentinels_lead_clients_to_the_primary_after_each_failover() {
    let all = RedisSentinels::new();
    let url = all.url("");
    let (namespace, grant) = lease(&url, "sentinels");
    let [first, second] = &all.servers;
    wait_until_synced(second, first);
    first.kill();
    all.wait_for_primary(1);
    check_restored(&url, &namespace, &grant);

    // The restarted first server acts as a primary until the sentinels make it a replica. Clients must not use this
    // server.
    first.start();
    let mut store = eventually_connect(&url);
    assert_eq!(
        operations::list(&mut *store, &namespace.name).unwrap().continuity,
        Continuity::Same
    );
    all.wait_for_replica();
    wait_until_synced(first, second);
    second.kill();
    all.wait_for_primary(0);
    check_restored(&url, &namespace, &grant);
}

#[test]
fn hanging_or_stopped_sentinel_is_skipped() {
    let all = RedisSentinels::new();
    leases(&all.url("&replicas=1"));
    all.pause_sentinel(0, true);
    leases(&all.url(""));
    all.pause_sentinel(0, false);
    let down = format!("127.0.0.1:{}", free_port());
    leases(&all.url("").replace(&format!("127.0.0.1:{}", all.sentinel_port(0)), &down));
}

#[test]
fn sentinel_errors_name_the_server_and_hide_passwords() {
    let all = RedisSentinels::new();
    let (sentinel, server, nobody) = (all.sentinel_port(0), all.servers[0].port(), free_port());
    let url = |password: &str, port: u16, rest: &str| {
        format!("redis+sentinel://:{password}@127.0.0.1:{port}{rest}")
    };
    let own = format!("sentinel-password={}", RedisSentinels::PASSWORD);
    leases(&url(PASSWORD, sentinel, &format!("/ids?{own}")));
    let cases = [
        (url(PASSWORD, sentinel, &format!("/other?{own}")), false, "does not monitor a service"),
        (url(PASSWORD, sentinel, "/ids"), false, "NOAUTH"),
        (url(PASSWORD, sentinel, "/ids?sentinel-password=wr0ng"), false, &*sentinel.to_string()),
        (url("wr0ng-secret", sentinel, &format!("/ids?{own}")), false, &*server.to_string()),
        (url(PASSWORD, nobody, &format!("/ids?{own}")), true, "refused"),
        (url(PASSWORD, sentinel, ""), false, "/service/database"),
        (url(PASSWORD, sentinel, "/ids/zero"), false, "/service/database"),
        (url(PASSWORD, sentinel, "/ids?sentinel-user=wr0ng"), false, "requires sentinel-password"),
        (format!("redis://:{PASSWORD}@127.0.0.1:{server}/?{own}"), false, "redis+sentinel://"),
    ];
    check_faults(&cases, &["wr0ng", "secret", PASSWORD, RedisSentinels::PASSWORD]);
}

/// Checks that clients find the new primary after an operator has promoted the replica. The URL contains no sentinels.
#[test]
fn client_uses_the_first_host_that_is_a_primary() {
    let (primary, replica) = (RedisServer::new(), RedisServer::new());
    replica.follow(primary.port());
    let hosts = format!("127.0.0.1:{},127.0.0.1:{}", replica.port(), primary.port());
    let url = format!("redis://:{PASSWORD}@{hosts}/0");
    let (namespace, grant) = lease(&url, "hosts");
    wait_until_synced(&replica, &primary);
    primary.pause();
    let fault = connect(&url).map(drop).unwrap_err();
    let Fault::Unavailable(text) = &fault else { panic!("{fault:?}") };
    assert!(text.contains("is a replica") && text.contains("in time"), "{text}");
    replica.promote();
    check_restored(&url, &namespace, &grant);
    // The old primary is killed, because resuming it would make it a second primary.
    primary.kill();

    let wrong = format!("redis://:wr0ng,secret@{hosts}/0");
    check_faults(&[(wrong, true, "refused")], &["wr0ng", "secret", PASSWORD]);
}
