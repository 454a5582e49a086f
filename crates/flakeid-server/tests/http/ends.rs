use std::io::Write;
use std::net::TcpStream;
use std::time::{Duration, Instant};

use flakeid_server::{Listener, ServeOptions};

use crate::client::{Client, TestServer, service};
use crate::secured::Certificates;

/// During a shutdown, the server completes the responses in progress, and closes idle connections.
#[test]
fn shutdown_completes_http_responses_in_progress() {
    let mut server = TestServer::new(service().max_count(1 << 20), ServeOptions::default());
    let mut idle = server.connect();
    assert_eq!(idle.ask("GET", "/livez", "").status, 200);
    let mut long = server.connect();
    // The response is larger than the network buffers, so the server cannot send the whole response before the client
    // starts to read.
    let request = "POST /v1/default/ids?count=1048576 HTTP/1.1\r\nHost: flakeid\r\n\r\n";
    long.stream.write_all(request.as_bytes()).unwrap();
    std::thread::sleep(Duration::from_millis(300));
    server.stop();
    assert!(idle.reply().is_none(), "idle connections must be closed");
    let address = server.address;
    assert_eq!(long.reply().expect("a complete response").ids().len(), 1 << 20);
    server.wait();
    assert!(TcpStream::connect(address).is_err(), "the server must not listen any more");
}

#[test]
fn stalled_client_cannot_delay_shutdown_beyond_the_timeout() {
    let options =
        ServeOptions { shutdown_timeout: Duration::from_millis(300), ..ServeOptions::default() };
    let mut server = TestServer::new(service().max_count(1 << 20), options);
    let mut stalled = server.connect();
    let request = "POST /v1/default/ids?count=1048576 HTTP/1.1\r\nHost: flakeid\r\n\r\n";
    stalled.stream.write_all(request.as_bytes()).unwrap();
    std::thread::sleep(Duration::from_millis(200));
    server.stop();
    // The shutdown must finish even though the client never reads the response.
    server.wait();
}

/// A draining server reports that it is not ready and sends `Connection: close`, but still serves requests.
#[test]
fn draining_server_serves_requests_until_the_drain_ends() {
    let options = ServeOptions { drain: Duration::from_secs(2), ..ServeOptions::default() };
    let listener = Listener::Tcp("127.0.0.1:0".parse().unwrap());
    let mut server = TestServer::draining(&listener, service(), options);
    let mut busy = server.connect();
    assert_eq!(server.ask("GET", "/readyz", "").status, 200);
    assert_eq!(busy.ask("POST", "/v1/default/ids", "").header("connection"), None);
    let began = Instant::now();
    server.stop();
    while server.ask("GET", "/readyz", "").status == 200 {
        assert!(began.elapsed() < Duration::from_secs(1), "the drain must begin at once");
    }
    let last = busy.ask("POST", "/v1/default/ids", "");
    assert_eq!((last.status, last.header("connection")), (200, Some("close")));
    assert!(server.ask("GET", "/readyz", "").text().contains("\"draining\":true"));
    while began.elapsed() < Duration::from_millis(1_500) {
        assert_eq!(server.ask("POST", "/v1/default/ids", "").status, 200);
    }
    server.wait();
    assert!(began.elapsed() >= Duration::from_secs(2));
    assert!(TcpStream::connect(server.address).is_err());
}

/// While the server completes requests during a shutdown, new clients must get an error immediately, so that they can
/// connect to another server.
#[test]
fn server_refuses_new_connections_while_it_completes_requests() {
    let bound = || Some(Listener::bound("127.0.0.1:0".parse().unwrap()).unwrap());
    let options = ServeOptions { resp: bound(), admin: bound(), ..ServeOptions::default() };
    let mut server = TestServer::new(service().max_count(1 << 20), options);
    // The response is larger than the network buffers.
    let mut long = server.connect();
    let request = "POST /v1/default/ids?count=1048576 HTTP/1.1\r\nHost: flakeid\r\n\r\n";
    long.stream.write_all(request.as_bytes()).unwrap();
    std::thread::sleep(Duration::from_millis(300));
    server.stop();
    for address in [server.address, server.resp.unwrap(), server.admin.unwrap()] {
        let stopped = Instant::now();
        while TcpStream::connect(address).is_ok() {
            assert!(stopped.elapsed() < Duration::from_secs(2), "{address} accepts connections");
            std::thread::sleep(Duration::from_millis(10));
        }
    }
    assert_eq!(long.reply().expect("a complete response").ids().len(), 1 << 20);
}

/// A client that has sent only part of a request does not delay the shutdown.
#[test]
fn incomplete_request_does_not_delay_shutdown() {
    let mut server = TestServer::new(service(), ServeOptions::default());
    let mut partial = server.connect();
    assert_eq!(partial.ask("GET", "/livez", "").status, 200);
    partial.stream.write_all(b"GET /livez HTTP/1.1\r\nX: ").unwrap();
    std::thread::sleep(Duration::from_millis(100));
    let began = Instant::now();
    server.stop();
    server.wait();
    assert!(began.elapsed() < Duration::from_secs(5), "{:?}", began.elapsed());
}

#[cfg(unix)]
#[test]
fn server_replaces_stale_unix_sockets_and_removes_its_own() {
    use std::os::unix::fs::PermissionsExt;
    use std::os::unix::net::{UnixListener, UnixStream};

    use flakeid_server::{Listener, Server};

    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("flakeid.sock");
    // The dropped listener leaves its socket file behind, as a killed server would.
    drop(UnixListener::bind(&path).unwrap());
    let listener = Listener::Unix(path.clone());
    let options = || ServeOptions { drain: Duration::ZERO, ..ServeOptions::default() };
    let bind = || Server::bind(service(), &listener, options());
    let server = bind().unwrap();
    assert!(bind().is_err(), "a socket in use must not be replaced");
    let mode = || std::fs::metadata(&path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode() & 0o007, 0, "other users can connect");
    let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
    let thread = std::thread::spawn(move || server.run(async { drop(stopped.await) }));
    let mut client = Client::new(UnixStream::connect(&path).unwrap());
    assert_eq!(client.ask("POST", "/v1/default/ids?count=2", "").ids().len(), 2);
    drop(stop);
    thread.join().unwrap();
    assert!(!path.exists());
    let for_all = ServeOptions { unix_mode: Some(0o666), ..options() };
    let server = Server::bind(service(), &listener, for_all).unwrap();
    assert_eq!(mode(), 0o666);
    drop(server);

    let file = folder.path().join("a file");
    std::fs::write(&file, "dear").unwrap();
    let refused = Server::bind(service(), &Listener::Unix(file.clone()), ServeOptions::default());
    assert!(refused.is_err());
    assert_eq!(std::fs::read_to_string(file).unwrap(), "dear");
}

/// Clients that connect but never start a TLS handshake do not delay the shutdown.
#[test]
fn clients_without_a_tls_handshake_do_not_delay_shutdown() {
    let free = || Some(Listener::Tcp("127.0.0.1:0".parse().unwrap()));
    let options = ServeOptions {
        tls: Some(Certificates::new().settings()),
        resp: free(),
        #[cfg(feature = "grpc")]
        grpc: free(),
        ..ServeOptions::default()
    };
    let mut server = TestServer::new(service(), options);
    let addresses = [
        Some(server.address),
        server.resp,
        #[cfg(feature = "grpc")]
        server.grpc,
    ];
    let silent = addresses.map(|address| TcpStream::connect(address.unwrap()).unwrap());
    std::thread::sleep(Duration::from_millis(100));
    let began = Instant::now();
    server.stop();
    server.wait();
    assert!(began.elapsed() < Duration::from_secs(8), "{:?}", began.elapsed());
    drop(silent);
}
