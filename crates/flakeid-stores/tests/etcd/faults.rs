use std::time::{Duration, Instant};

use flakeid_protocol::Refusal;
use flakeid_protocol::store::Fault;
use flakeid_test_servers::{EtcdServer, Proxy, Server, free_port};

use crate::client::{Client, check_faults, connect, leases};
use crate::operations;
use crate::optimistic::check_hanging;

#[test]
fn errors_name_the_server_and_hide_the_password() {
    let server = EtcdServer::new();
    for words in [
        &["user", "add", "root:r00t-secret"][..],
        &["user", "grant-role", "root", "root"],
        &["user", "add", "ids:g00d/secret@"],
        &["role", "add", "ids"],
        &["role", "grant-permission", "--prefix", "ids", "readwrite", "/flakeid/"],
        &["user", "grant-role", "ids", "ids"],
        &["user", "add", "weak:wr0ng-secret"],
        &["auth", "enable"],
    ] {
        // Some etcd versions require the role `root` to exist before the role can be granted.
        if let Err(text) = server.ctl(words) {
            assert!(text.contains("role name not found"), "{words:?}: {text}");
            server.ctl(&["role", "add", "root"]).unwrap();
            server.ctl(words).unwrap();
        }
    }
    let (port, nobody) = (server.port(), free_port());
    leases(&format!("etcd://ids:g00d%2Fsecret%40@127.0.0.1:{port}/"));
    leases(&format!("etcd://ids:g00d%2Fsecret%40@127.0.0.1:{nobody},127.0.0.1:{port}"));
    let cases = [
        (format!("etcd://ids:wr0ng-secret@127.0.0.1:{port}/"), false, "authentication failed"),
        (format!("etcd://no:wr0ng-secret@127.0.0.1:{port}/"), false, "authentication failed"),
        (format!("etcd://ids:%zzwr0ng@127.0.0.1:{port}/"), false, "encoded"),
        (format!("etcd://ids:wr0ng-secret@127.0.0.1:{port}/x"), false, "not have the form"),
        (
            format!("etcd://ids:wr0ng-secret@127.0.0.1:{port}/?mistake=wr0ng"),
            false,
            "unknown option",
        ),
        (format!("etcd://ids:wr0ng-secret@127.0.0.1:{nobody}/"), true, "refused"),
        (format!("etcd://ids:wr0ng/secret@127.0.0.1:{nobody}/"), false, "written as %2F"),
        ("etcd:///".into(), false, "not have the form"),
    ];
    check_faults(&cases, &["wr0ng", "secret", "g00d"]);

    // The server refuses the first transaction if the URL contains no user, or if the user has no permissions.
    for user in ["", "weak:wr0ng-secret@"] {
        let mut store = connect(&format!("etcd://{user}127.0.0.1:{port}/")).unwrap();
        let fault = operations::list(&mut *store, "any").unwrap_err();
        assert!(matches!(fault, Fault::Rejected(_)), "{fault:?}");
        assert!(!fault.to_string().contains("secret"), "{fault}");
    }
}

#[test]
fn client_logs_in_again_after_its_login_expires() {
    let server = EtcdServer::with(&["--auth-token-ttl", "1"]);
    for words in [
        &["user", "add", "root:r00t-secret"][..],
        &["role", "add", "root"],
        &["user", "grant-role", "root", "root"],
        &["auth", "enable"],
    ] {
        server.ctl(words).unwrap();
    }
    let url = format!("etcd://root:r00t-secret@127.0.0.1:{}/", server.port());
    let mut client = Client::new(&url, "login");
    let grant = client.acquire().unwrap();
    std::thread::sleep(Duration::from_secs(4));
    client.renew(&grant).unwrap();
}

#[test]
fn etcd_server_without_a_grpc_gateway_is_refused() {
    let server = EtcdServer::with(&["--enable-grpc-gateway=false"]);
    let fault = connect(&server.url()).map(drop).unwrap_err();
    assert!(matches!(&fault, Fault::Rejected(text) if text.contains("gateway")), "{fault:?}");
}

#[test]
fn etcd_server_without_its_keys_grants_no_leases() {
    let server = EtcdServer::new();
    let mut client = Client::new(&server.url(), "emptied");
    let grant = client.acquire().unwrap();
    server.ctl(&["del", "--prefix", "/flakeid/"]).unwrap();
    let missing = Fault::Refused(Refusal::MissingNamespace);
    let acquired = client.acquire();
    assert_eq!(acquired.unwrap_err(), missing);
    let renewed = client.renew(&grant);
    assert_eq!(renewed.unwrap_err(), missing);
    assert!(client.store.namespaces().unwrap().is_empty());
}

#[test]
fn server_over_its_space_quota_is_reported_as_unavailable() {
    let server = EtcdServer::with(&["--quota-backend-bytes", "1000000"]);
    let mut client = Client::new(&server.url(), "full");
    let filler = "x".repeat(100_000);
    let deadline = Instant::now() + Duration::from_secs(60);
    while server.ctl(&["alarm", "list"]).unwrap().trim().is_empty() {
        // The result is ignored, because the write that exceeds the quota fails and raises the quota alarm.
        let _ = server.ctl(&["put", "filler", &filler]);
        assert!(Instant::now() < deadline, "the quota is not exceeded");
    }
    let full = client.acquire();
    let Err(Fault::Unavailable(text)) = full else { panic!("{full:?}") };
    assert!(text.contains("space exceeded"), "{text}");
    assert!(client.list().unwrap().rows.is_empty());
}

#[test]
fn hanging_server_or_network_is_reported_as_unavailable() {
    let server = EtcdServer::new();
    let proxy = Proxy::to(server.port());
    let url = format!("etcd://127.0.0.1:{}/", proxy.port());
    let mut client = Client::new(&url, "hanging");
    server.pause();
    check_hanging(&mut client, &url);
    server.resume();
    client.reconnect(&url);
    client.list().unwrap();
    proxy.cut();
    check_hanging(&mut client, &url);
    proxy.heal();
    client.reconnect(&url);
    client.list().unwrap();
    server.kill();
    let broken = client.list().map(drop);
    assert!(matches!(broken, Err(Fault::Unavailable(_))), "{broken:?}");
}
