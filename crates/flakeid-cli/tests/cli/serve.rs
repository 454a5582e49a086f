//! `flakeid serve`, from its first line to the signal that ends it.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Stdio};

use crate::run::{flakeid, run, scratch};

/// A server on a free port, and its URL.
fn serve(args: &[&str]) -> (Child, String) {
    let mut child = flakeid()
        .args([&["serve", "--listen", "127.0.0.1:0"], args].concat())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    (child, line.trim_end().to_owned())
}

fn ask(url: &str, request: &str) -> String {
    let mut stream = TcpStream::connect(url.strip_prefix("http://").unwrap()).unwrap();
    let head = format!("{request} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
    stream.write_all(head.as_bytes()).unwrap();
    let mut reply = String::new();
    stream.read_to_string(&mut reply).unwrap();
    reply
}

#[test]
fn ids_come_from_a_leased_node_that_is_given_back() {
    let (_, url) = scratch("serve");
    let (mut child, address) =
        serve(&["--store", &url, "--namespace", "orders", "--namespace", "users"]);
    for namespace in ["orders", "users"] {
        let reply = ask(&address, &format!("POST /v1/{namespace}/ids?count=3"));
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

/// As an orchestrator does it, where there is such a signal.
fn end(child: &mut Child) {
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
fn what_cannot_be_served_is_refused() {
    let (dir, url) = scratch("serve-refused");
    let tokens = dir.join("tokens");
    std::fs::write(&tokens, "too-short\n").unwrap();
    let tokens = tokens.to_str().unwrap();
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let taken = taken.local_addr().unwrap().to_string();
    for (args, parts) in [
        (&["--listen", "0.0.0.0:0"][..], ["FLAKEID_INVALID_OPTION", "--insecure"]),
        (&["--listen", "nowhere"], ["listen", "HOST:PORT"]),
        (&["--listen", &taken], ["cannot listen on", "in use"]),
        (&["--token-file", tokens], ["line 1", "16 characters"]),
        (&["--token-file", "/nonexistent"], ["--token-file", "/nonexistent"]),
        (
            &["--tls-cert", "/nonexistent", "--tls-key", "/nonexistent"],
            ["tls-cert", "/nonexistent"],
        ),
        (&["--max-count", "0"], ["max-count", "from 1"]),
        (&["--max-wait", "soon"], ["max-wait", "500ms"]),
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
