//! A test server, and a client that can send arbitrary bytes.

use std::collections::BTreeMap;
use std::io::{ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::thread::JoinHandle;
use std::time::Duration;

use flakeid::Generator;
use flakeid_core::Layout;
use flakeid_server::{Listener, ServeOptions, Server, Service};
use tokio::sync::oneshot;

/// Builds a service with one namespace, `default`, and a fixed node.
pub fn service() -> Service {
    service_of(Generator::new(Layout::TWITTER, 7).unwrap())
}

/// Builds a service whose only namespace, `default`, uses the given generator.
pub fn service_of(generator: Generator) -> Service {
    Service::new(BTreeMap::from([("default".to_owned(), generator)]))
}

/// A server that runs until it is dropped.
pub struct TestServer {
    pub address: SocketAddr,
    /// The address for Redis clients, or `None` if the server does not serve the Redis protocol.
    pub resp: Option<SocketAddr>,
    /// The address for gRPC, or `None` if the server does not serve gRPC.
    #[cfg(feature = "grpc")]
    pub grpc: Option<SocketAddr>,
    /// The address for health checks and metrics, or `None` if the server has no admin listener.
    pub admin: Option<SocketAddr>,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl TestServer {
    pub fn new(service: Service, options: ServeOptions) -> Self {
        Self::on(&Listener::Tcp("127.0.0.1:0".parse().unwrap()), service, options)
    }

    pub fn on(listener: &Listener, service: Service, options: ServeOptions) -> Self {
        Self::draining(listener, service, ServeOptions { drain: Duration::ZERO, ..options })
    }

    /// Starts a server that drains for the time in `options` when it is stopped.
    pub fn draining(listener: &Listener, service: Service, options: ServeOptions) -> Self {
        let server = Server::bind(service, listener, options).unwrap();
        let Listener::Tcp(address) = server.address().unwrap() else { panic!("TCP") };
        let resp = server.resp_address().unwrap();
        let resp = resp.and_then(|listener| listener.tcp_address().unwrap());
        let admin = server.admin_address().unwrap();
        let admin = admin.and_then(|listener| listener.tcp_address().unwrap());
        #[cfg(feature = "grpc")]
        let grpc = server.grpc_address().unwrap();
        let (stop, stopped) = oneshot::channel::<()>();
        let thread = std::thread::spawn(move || server.run(async { drop(stopped.await) }));
        Self {
            address,
            resp,
            admin,
            #[cfg(feature = "grpc")]
            grpc: grpc.and_then(|listener| listener.tcp_address().unwrap()),
            stop: Some(stop),
            thread: Some(thread),
        }
    }

    pub fn connect(&self) -> Client<TcpStream> {
        let stream = TcpStream::connect(self.address).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        Client::new(stream)
    }

    /// Sends one request on a new connection.
    pub fn ask(&self, method: &str, target: &str, headers: &str) -> Reply {
        self.connect().ask(method, target, headers)
    }

    pub fn stop(&mut self) {
        drop(self.stop.take());
    }

    pub fn wait(&mut self) {
        if let Some(thread) = self.thread.take() {
            thread.join().unwrap();
        }
    }
}

impl Drop for TestServer {
    fn drop(&mut self) {
        self.stop();
        self.wait();
    }
}

pub struct Client<S> {
    pub stream: S,
    /// The bytes that have been read from the stream but not yet returned in a reply.
    rest: Vec<u8>,
}

#[derive(Debug)]
pub struct Reply {
    pub status: u16,
    pub head: String,
    pub body: Vec<u8>,
}

impl Reply {
    pub fn text(&self) -> &str {
        std::str::from_utf8(&self.body).unwrap()
    }

    pub fn header(&self, name: &str) -> Option<&str> {
        self.head.lines().find_map(|line| {
            let (found, value) = line.split_once(':')?;
            found.eq_ignore_ascii_case(name).then(|| value.trim())
        })
    }

    /// Returns the IDs in a JSON response, in the order in which they appear.
    pub fn ids(&self) -> Vec<u64> {
        let list = self.text().strip_prefix("{\"ids\":[").unwrap().strip_suffix("]}\n").unwrap();
        let id = |text: &str| text.strip_prefix('"')?.strip_suffix('"')?.parse().ok();
        list.split(',').map(|text| id(text).unwrap()).collect()
    }
}

impl<S: Read + Write> Client<S> {
    pub fn new(stream: S) -> Self {
        Self { stream, rest: Vec::new() }
    }

    pub fn ask(&mut self, method: &str, target: &str, headers: &str) -> Reply {
        self.ask_with(method, target, headers, b"")
    }

    /// Sends a request with a body, and reads the reply. Unless `body` is empty, `headers` must
    /// contain the length of the body.
    pub fn ask_with(&mut self, method: &str, target: &str, headers: &str, body: &[u8]) -> Reply {
        let request = format!("{method} {target} HTTP/1.1\r\nHost: flakeid\r\n{headers}\r\n");
        self.stream.write_all(&[request.as_bytes(), body].concat()).unwrap();
        self.reply().expect("a reply")
    }

    /// Reads a reply. Returns `None` if the server closes the connection without a complete reply.
    pub fn reply(&mut self) -> Option<Reply> {
        let end = self.read_until(b"\r\n\r\n")?;
        let head = String::from_utf8(self.rest.drain(..end).collect()).unwrap();
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        let mut reply = Reply { status, head, body: Vec::new() };
        if let Some(length) = reply.header("content-length") {
            let length = length.parse().unwrap();
            while self.rest.len() < length {
                self.read_more()?;
            }
            reply.body = self.rest.drain(..length).collect();
        } else if reply.header("transfer-encoding") == Some("chunked") {
            loop {
                let end = self.read_until(b"\r\n")?;
                let line: Vec<u8> = self.rest.drain(..end).collect();
                let size = std::str::from_utf8(&line[..end - 2]).unwrap();
                let size = usize::from_str_radix(size, 16).unwrap();
                while self.rest.len() < size + 2 {
                    self.read_more()?;
                }
                reply.body.extend(self.rest.drain(..size));
                self.rest.drain(..2);
                if size == 0 {
                    break;
                }
            }
        }
        Some(reply)
    }

    fn read_until(&mut self, end: &[u8]) -> Option<usize> {
        loop {
            let found = self.rest.windows(end.len()).position(|window| window == end);
            if let Some(place) = found {
                return Some(place + end.len());
            }
            self.read_more()?;
        }
    }

    fn read_more(&mut self) -> Option<()> {
        let mut buffer = [0; 8_192];
        match self.stream.read(&mut buffer) {
            // A timeout means that the connection is still open, so the test must fail.
            Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {
                panic!("the server neither replied nor closed the connection: {error}")
            }
            Ok(0) | Err(_) => None,
            Ok(count) => {
                self.rest.extend_from_slice(&buffer[..count]);
                Some(())
            }
        }
    }
}
