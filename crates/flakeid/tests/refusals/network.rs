use std::net::TcpListener;

use flakeid_core::ErrorKind;
use flakeid_test_servers::free_port;

use crate::expectation::{on, refused};

const SCHEMES: [&str; 4] = ["postgresql", "mysql", "redis", "etcd"];

fn url(scheme: &str, host: &str) -> String {
    let path = if scheme == "redis" { "0" } else { "ids" };
    let path = if scheme == "etcd" { "" } else { path };
    format!("{scheme}://flakeid:wr0ng-s3cret@{host}/{path}")
}

#[test]
fn closed_port_is_reported_as_unavailable() {
    let host = format!("127.0.0.1:{}", free_port());
    for scheme in SCHEMES {
        let parts = [host.as_str(), "refused"];
        refused(on(&url(scheme, &host)), ErrorKind::StoreUnavailable, &parts);
    }
}

/// Checks that a server that accepts connections but never responds is reported as unavailable.
#[test]
fn silent_server_is_reported_as_unavailable() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let host = listener.local_addr().unwrap().to_string();
    for scheme in SCHEMES {
        refused(on(&url(scheme, &host)), ErrorKind::StoreUnavailable, &[host.as_str()]);
    }
}

/// Checks that, if none of the hosts in a URL responds, the error contains every host. The timeout
/// must be divided among the hosts.
#[test]
fn several_silent_servers_are_reported_as_unavailable() {
    let silent: Vec<_> = (0..3).map(|_| TcpListener::bind("127.0.0.1:0").unwrap()).collect();
    let hosts: Vec<String> =
        silent.iter().map(|listener| listener.local_addr().unwrap().to_string()).collect();
    for scheme in ["postgresql", "etcd"] {
        let parts: Vec<&str> = hosts.iter().map(String::as_str).collect();
        refused(on(&url(scheme, &hosts.join(","))), ErrorKind::StoreUnavailable, &parts);
    }
}

#[test]
fn unknown_host_is_reported_as_unavailable() {
    for scheme in SCHEMES {
        let url = url(scheme, "no-such-host.invalid:6000");
        refused(on(&url), ErrorKind::StoreUnavailable, &["no-such-host.invalid"]);
    }
}
