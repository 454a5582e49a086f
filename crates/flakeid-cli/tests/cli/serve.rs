//! Tests that run `flakeid serve` as a process, from the first line of its output to the signal
//! that stops it.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Stdio};
use std::time::Duration;

use crate::run::{flakeid, run, scratch};

/// A server process that is killed when this value is dropped.
pub(crate) struct Serving(Child);

impl Serving {
    /// Kills the server without a shutdown, as a power failure would.
    pub(crate) fn kill(&mut self) {
        self.0.kill().unwrap();
        self.0.wait().unwrap();
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        // An error is ignored, because the server may already have ended.
        drop(self.0.kill());
        drop(self.0.wait());
    }
}

/// Starts a server on a free port, and returns the server and its URL.
pub(crate) fn serve(args: &[&str]) -> (Serving, String) {
    serve_at("127.0.0.1:0", args)
}

/// Starts a server at an address, and returns the server and its URL.
pub(crate) fn serve_at(address: &str, args: &[&str]) -> (Serving, String) {
    serve_with(&[&["--listen", address], args].concat())
}

/// Starts a server with exactly the given arguments, and returns the server and its URL.
pub(crate) fn serve_with(args: &[&str]) -> (Serving, String) {
    let (serving, [address]) = serve_addresses(args);
    (serving, address)
}

/// Starts a server, and returns the server and the addresses that it prints.
fn serve_addresses<const N: usize>(args: &[&str]) -> (Serving, [String; N]) {
    let mut command = flakeid();
    command.args([&["serve", "--drain", "0s"], args].concat());
    addresses_of(command.stdout(Stdio::piped()).spawn().unwrap())
}

/// Returns a server that has just been started, and its URL.
pub(crate) fn address_of(child: Child) -> (Serving, String) {
    let (serving, [address]) = addresses_of(child);
    (serving, address)
}

fn addresses_of<const N: usize>(mut child: Child) -> (Serving, [String; N]) {
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    (Serving(child), [(); N].map(|()| lines.next().unwrap().unwrap()))
}

pub(crate) fn request(url: &str, line: &str) -> String {
    let mut stream = TcpStream::connect(url.strip_prefix("http://").unwrap()).unwrap();
    let head = format!("{line} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
    stream.write_all(head.as_bytes()).unwrap();
    let mut reply = String::new();
    stream.read_to_string(&mut reply).unwrap();
    reply
}

#[test]
fn server_leases_a_node_and_releases_it_on_sigterm() {
    let (_, url) = scratch("serve");
    let (mut child, address) =
        serve(&["--store", &url, "--namespace", "orders", "--namespace", "users"]);
    for namespace in ["orders", "users"] {
        let reply = request(&address, &format!("POST /v1/{namespace}/ids?count=3"));
        assert!(reply.starts_with("HTTP/1.1 200"), "{reply}");
        assert_eq!(reply.split("\r\n\r\n").nth(1).unwrap().matches('"').count(), 8, "{reply}");
    }
    let state = || {
        let listed = run(&["leases", "ls", "--all", "--store", &url, "--namespace", "orders"]);
        let listed = listed.quiet().json();
        let node = listed.iter().find(|line| line["node"].is_u64()).expect("a node").clone();
        node["state"].as_str().expect("a state").to_owned()
    };
    assert_eq!(state(), "held");
    end(&mut child);
    #[cfg(unix)]
    assert_eq!(state(), "free");
}

#[test]
fn server_returns_the_page_given_by_ui_option() {
    let (dir, store) = scratch("serve-page");
    let file = dir.join("page.html");
    std::fs::write(&file, "<!doctype html><title>IDs</title>").unwrap();
    let (mut child, url) = serve(&["--store", &store, "--ui", file.to_str().unwrap()]);
    let reply = request(&url, "GET /ui");
    assert!(reply.starts_with("HTTP/1.1 200 OK\r\n"), "{reply}");
    assert!(reply.ends_with("\r\n\r\n<!doctype html><title>IDs</title>"), "{reply}");
    end(&mut child);
}

/// Two processes lease nodes from the server. A third process requests a node directly from the
/// server's store and is refused. The error message refers to `flakeid serve`.
#[test]
fn processes_can_lease_nodes_from_the_server_but_not_directly_from_its_store() {
    let (_, store) = scratch("serve-leases");
    let (mut child, url) = serve(&["--store", &store]);
    let mut ids = std::collections::HashSet::new();
    let mut nodes = std::collections::HashSet::new();
    for _ in 0..2 {
        let output = run(&["next", "--count", "500", "--store", &url]);
        ids.extend(output.quiet().text().lines().map(str::to_owned));
    }
    let reply = request(&url, "POST /v1/default/ids?count=500");
    let is_id = |text: &&str| text.len() > 15 && text.bytes().all(|byte| byte.is_ascii_digit());
    ids.extend(reply.split('"').filter(is_id).map(str::to_owned));
    assert_eq!(ids.len(), 1_500);
    for id in &ids {
        let shown = run(&["inspect", "--json", id]).quiet().json();
        nodes.insert(shown[0]["node"].as_u64().unwrap());
    }
    assert!(nodes.iter().all(|node| *node < 16), "all nodes are in one block: {nodes:?}");

    let bypassing = run(&["next", "--store", &store]);
    assert_eq!(bypassing.code, Some(1));
    for part in ["FLAKEID_STORE_REJECTED", "leased in blocks", "flakeid serve"] {
        assert!(bypassing.stderr.contains(part), "{part}: {}", bypassing.stderr);
    }
    end(&mut child);
}

/// If the nodes of a namespace are leased from the store individually instead of in blocks, the
/// server grants no leases in that namespace.
#[test]
fn server_grants_no_leases_in_namespaces_without_blocks() {
    let (_, store) = scratch("serve-nodes");
    run(&["next", "--store", &store]).quiet();
    let refused = run(&["serve", "--listen", "127.0.0.1:0", "--no-ids", "--store", &store]);
    assert!(refused.stderr.contains("leased from the store one by one"), "{}", refused.stderr);
    let (mut child, url) = serve(&["--store", &store]);
    assert!(request(&url, "POST /v1/default/ids").starts_with("HTTP/1.1 200"));
    let reply = request(&url, "GET /v1/default/leases");
    assert!(reply.starts_with("HTTP/1.1 404") && reply.contains("grants no leases"), "{reply}");
    end(&mut child);
    let (mut child, url) = serve(&["--no-leases", "--store", &store]);
    assert!(request(&url, "POST /v1/default/ids").starts_with("HTTP/1.1 200"));
    end(&mut child);
}

/// The test runs `redis-cli` with versions 2 and 3 of the Redis protocol.
#[cfg(feature = "_system-tests")]
#[test]
fn redis_clients_get_ids_from_the_server() {
    let (_, store) = scratch("serve-resp");
    let args = ["--listen", "127.0.0.1:0", "--resp", "127.0.0.1:0", "--store", &store];
    let (mut child, [http, redis]) = serve_addresses(&args);
    let mut ids = std::collections::HashSet::new();
    for version in ["-2", "-3"] {
        for (words, count) in [
            (&["INCR", "default"][..], 1),
            (&["FLAKEID.NEXT", "default"], 1),
            (&["FLAKEID.NEXT", "default", "COUNT", "5000"], 5_000),
        ] {
            let output = std::process::Command::new("redis-cli")
                .args(["-u", &redis, "--raw", version])
                .args(words)
                .output()
                .expect("redis-cli: apt-get install redis-tools");
            let text = String::from_utf8(output.stdout).unwrap();
            let found: Vec<u64> = text.lines().map(|line| line.parse().expect(line)).collect();
            assert_eq!(found.len(), count, "{words:?}");
            ids.extend(found);
        }
    }
    assert_eq!(ids.len(), 2 * 5_002);
    let reply = request(&http, "POST /v1/default/ids?count=1");
    let id = reply.split('"').find_map(|text| text.parse::<u64>().ok()).expect("an ID");
    assert!(ids.insert(id));
    end(&mut child);
}

/// Checks only the `--grpc` option. The tests of the server crate make gRPC calls.
#[test]
fn grpc_option_requires_the_grpc_build_feature() {
    let (_, store) = scratch("serve-grpc");
    let args = ["--listen", "127.0.0.1:0", "--grpc", "127.0.0.1:0", "--store", &store];
    if cfg!(not(feature = "grpc")) {
        let refused = run(&[&["serve"], &args[..]].concat());
        assert!(refused.stderr.contains("--features grpc"), "{}", refused.stderr);
        return;
    }
    let (mut child, urls) = serve_addresses::<2>(&args);
    let address =
        urls[1].strip_prefix("grpc://").expect("the second line contains the address of gRPC");
    let mut stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    let settings = [0, 0, 0, 4, 0, 0, 0, 0, 0];
    stream.write_all(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n").unwrap();
    stream.write_all(&settings).unwrap();
    let mut head = [0; 9];
    stream.read_exact(&mut head).unwrap();
    assert_eq!(head[3], 4, "HTTP/2 begins with the server's settings: {head:?}");
    drop(stream);
    end(&mut child);
}

/// Ends a server with SIGTERM, as an orchestrator does, or kills it on systems without signals.
pub(crate) fn end(Serving(child): &mut Serving) {
    #[cfg(unix)]
    {
        let id = child.id().to_string();
        let status = std::process::Command::new("kill").args(["-TERM", &id]).status().unwrap();
        assert!(status.success());
        assert!(child.wait().unwrap().success());
    }
    #[cfg(not(unix))]
    {
        child.kill().unwrap();
        child.wait().unwrap();
    }
}

#[test]
fn serve_rejects_invalid_options_before_it_listens() {
    let (dir, url) = scratch("serve-refused");
    let tokens = dir.join("tokens");
    std::fs::write(&tokens, "too-short\n").unwrap();
    let tokens = tokens.to_str().unwrap();
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let taken = taken.local_addr().unwrap().to_string();
    for (args, parts) in [
        (&["--listen", "0.0.0.0:0"][..], ["FLAKEID_INVALID_OPTION", "--insecure"]),
        (&["--listen", "0.0.0.0:0", "--insecure"], ["advertise", "--no-leases"]),
        (&["--resp", "0.0.0.0:0"], ["resp", "--insecure"]),
        (&["--resp", "nowhere"], ["resp", "HOST:PORT"]),
        (&["--resp", &taken], ["cannot listen on", "in use"]),
        (
            &["--grpc", "nowhere"],
            ["grpc", if cfg!(feature = "grpc") { "HOST:PORT" } else { "--features grpc" }],
        ),
        (&["--advertise", "localhost"], ["advertise", "http://HOST:PORT"]),
        (&["--block-bits", "9"], ["--block-bits 9", "from 0 to 5"]),
        (&["--lease-window", "5s"], ["--lease-window 5000 ms", "to 4000"]),
        (&["--listen", "nowhere"], ["listen", "HOST:PORT"]),
        (&["--listen", &taken], ["cannot listen on", "in use"]),
        (&["--token-file", tokens], ["line 1", "at least 16 printable"]),
        (&["--ui", "/nonexistent"], ["--ui", "/nonexistent"]),
        (&["--token-file", "/nonexistent"], ["token-file", "/nonexistent"]),
        (
            &["--tls-cert", "/nonexistent", "--tls-key", "/nonexistent"],
            ["tls-cert", "/nonexistent"],
        ),
        (&["--max-count", "0"], ["max-count", "from 1"]),
        (&["--rate-limit", "0"], ["rate-limit", "from 1"]),
        (&["--max-wait", "soon"], ["max-wait", "500ms"]),
        (&["--keep-history", "0"], ["keep-history", "forever"]),
        (&["--trusted-proxy", "nginx"], ["trusted-proxy", "user:33"]),
        (&["--namespace", "a/b"], ["namespace", "1 to 64"]),
    ] {
        let mut all = vec!["serve", "--store", &url];
        if !args.contains(&"--listen") {
            all.extend(["--listen", "127.0.0.1:0"]);
        }
        let refused = run(&[all.as_slice(), args].concat());
        assert_eq!((refused.code, refused.text()), (Some(1), ""), "{args:?}");
        for part in parts {
            assert!(refused.stderr.contains(part), "{args:?}: {}", refused.stderr);
        }
    }
}

/// Starts a server that writes its log to a file in JSON, and returns the server and its URL.
#[cfg(unix)]
fn serve_logged(log: &std::path::Path, args: &[&str]) -> (Serving, String) {
    let mut child = flakeid()
        .args(["serve", "--listen", "127.0.0.1:0", "--drain", "0s", "--log-format", "json"])
        .args(args)
        .stdout(Stdio::piped())
        .stderr(std::fs::File::create(log).unwrap())
        .spawn()
        .unwrap();
    let line = BufReader::new(child.stdout.take().unwrap()).lines().next();
    (Serving(child), line.unwrap().unwrap())
}

/// Returns the last line of a server's log.
#[cfg(unix)]
fn last_line(log: &std::path::Path) -> serde_json::Value {
    let log = std::fs::read_to_string(log).unwrap();
    serde_json::from_str(log.lines().last().unwrap()).unwrap()
}

#[cfg(feature = "_system-tests")]
#[test]
fn server_log_counts_the_nodes_that_were_not_released() {
    use flakeid_test_servers::{RedisServer, Server};
    for (namespace, block_bits) in [("single", "0"), ("blocks", "4")] {
        let (dir, redis) =
            (scratch(&format!("serve-unreleased-{namespace}")).0, RedisServer::new());
        let args = ["--store", &redis.url(), "--namespace", namespace];
        let init = [&["leases", "init", "--fresh", "--block-bits", block_bits], &args[..]].concat();
        run(&init).quiet();
        let log = dir.join("log");
        let (mut serving, address) = serve_logged(&log, &args);
        let reply = request(&address, &format!("POST /v1/{namespace}/ids"));
        assert!(reply.starts_with("HTTP/1.1 200"), "{reply}");
        redis.kill();
        end(&mut serving);
        let line = last_line(&log);
        assert_eq!(line["message"], "stopped without releasing all nodes", "{line}");
        let (nodes, blocks) = if block_bits == "0" { (1, 0) } else { (0, 1) };
        assert_eq!((&line["nodes"], &line["blocks"]), (&nodes.into(), &blocks.into()), "{line}");
    }
}

/// The log must report changes of the server's state, but must not contain tokens.
#[cfg(unix)]
#[test]
fn server_log_reports_state_changes_without_secrets() {
    let (dir, store) = scratch("serve-log");
    let tokens = dir.join("tokens");
    std::fs::write(&tokens, "web metrics 0123456789abcdef\n").unwrap();
    let log = dir.join("log");
    let args = ["--store", &store, "--access-log", "--token-file", tokens.to_str().unwrap()];
    let (mut serving, url) = serve_logged(&log, &args);
    for token in ["0123456789abcdef", "9123456789abcdef"] {
        let mut stream = TcpStream::connect(url.strip_prefix("http://").unwrap()).unwrap();
        let head = format!(
            "POST /v1/default/ids HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {token}\r\n\
             Connection: close\r\n\r\n"
        );
        stream.write_all(head.as_bytes()).unwrap();
        let mut reply = String::new();
        stream.read_to_string(&mut reply).unwrap();
    }
    end(&mut serving);
    let log = std::fs::read_to_string(log).unwrap();
    let lines: Vec<serde_json::Value> =
        log.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let messages: Vec<_> = lines.iter().filter_map(|line| line["message"].as_str()).collect();
    for message in [
        "starting",
        "broker acquired a block",
        "acquired node",
        "draining",
        "refused requests",
        "released node",
        "stopped and released all nodes",
    ] {
        assert!(messages.contains(&message), "{message}: {log}");
    }
    let acquired = lines.iter().find(|line| line["message"] == "acquired node").unwrap();
    let fence = acquired["fence"].as_str().and_then(flakeid_core::Rfc3339::parse);
    assert!(fence.is_some(), "{acquired}");
    let denied = lines.iter().find(|line| line["reason"] == "scope").expect("a denied request");
    assert_eq!((&denied["client"], &denied["count"]), (&"web".into(), &1.into()));
    let accessed = lines.iter().filter(|line| line["target"] == "access").count();
    assert_eq!(accessed, 2, "{log}");
    assert!(!log.contains("123456789abcdef"), "{log}");
}
