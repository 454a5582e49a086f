use std::io::Write;
use std::net::TcpStream;
use std::time::{Duration, Instant};

use flakeid_server::{Listener, ServeOptions};

use crate::client::{Client, TestServer, service};
use crate::secured::Certificates;

/// During shutdown, responses in progress are completed, and no new ones begin.
#[test]
fn shutdown_completes_responses_that_have_begun() {
    let mut server = TestServer::new(service().max_count(1 << 20), ServeOptions::default());
    let mut idle = server.connect();
    assert_eq!(idle.ask("GET", "/livez", "").status, 200);
    let mut long = server.connect();
    // The response is larger than the buffers can hold without a reader.
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
fn stalled_client_cannot_delay_shutdown_beyond_its_timeout() {
    let options =
        ServeOptions { shutdown_timeout: Duration::from_millis(300), ..ServeOptions::default() };
    let mut server = TestServer::new(service().max_count(1 << 20), options);
    let mut stalled = server.connect();
    let request = "POST /v1/default/ids?count=1048576 HTTP/1.1\r\nHost: flakeid\r\n\r\n";
    stalled.stream.write_all(request.as_bytes()).unwrap();
    std::thread::sleep(Duration::from_millis(200));
    server.stop();
    // The client never reads, but the shutdown still ends.
    server.wait();
}

#[cfg(unix)]
#[test]
fn server_replaces_stale_unix_sockets_and_removes_its_own() {
    use std::os::unix::net::{UnixListener, UnixStream};

    use flakeid_server::{Listener, Server};

    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("flakeid.sock");
    // This socket was left behind by a killed server.
    drop(UnixListener::bind(&path).unwrap());
    let listener = Listener::Unix(path.clone());
    let bind = || Server::bind(service(), &listener, ServeOptions::default());
    let server = bind().unwrap();
    assert!(bind().is_err(), "a socket in use must not be replaced");
    let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
    let thread = std::thread::spawn(move || server.run(async { drop(stopped.await) }));
    let mut client = Client::new(UnixStream::connect(&path).unwrap());
    assert_eq!(client.ask("POST", "/v1/default/ids?count=2", "").ids().len(), 2);
    drop(stop);
    thread.join().unwrap();
    assert!(!path.exists());

    let file = folder.path().join("a file");
    std::fs::write(&file, "dear").unwrap();
    let refused = Server::bind(service(), &Listener::Unix(file.clone()), ServeOptions::default());
    assert!(refused.is_err());
    assert_eq!(std::fs::read_to_string(file).unwrap(), "dear");
}

/// Clients that have connected but have not begun TLS do not delay the shutdown.
#[test]
fn clients_without_a_handshake_do_not_delay_shutdown() {
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
