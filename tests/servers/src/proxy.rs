use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::net::{Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::thread;
use std::time::Duration;

/// A TCP proxy on a loopback port that can interrupt the network between a client and its server.
///
/// Dropping the proxy closes every connection.
#[derive(Debug)]
pub struct Proxy {
    port: u16,
    network: Arc<Network>,
}

#[derive(Debug, Default)]
struct Network {
    condition: Mutex<Condition>,
    changed: Condvar,
    requests: AtomicU64,
}

#[derive(Debug, Default)]
struct Condition {
    cut: bool,
    delay: Duration,
    /// The port that new connections go to instead of the server's.
    redirected_to: Option<u16>,
    over: bool,
    /// Both streams of each connection, by its number.
    open: BTreeMap<u64, [TcpStream; 2]>,
    connections: u64,
}

impl Proxy {
    /// Starts a proxy for a port of this host.
    ///
    /// # Panics
    /// If there is no free port.
    #[must_use]
    pub fn to(port: u16) -> Self {
        Self::to_each(vec![port])
    }

    /// Starts a proxy that distributes connections over several ports of this host in turn.
    ///
    /// # Panics
    /// If there is no free port.
    #[must_use]
    pub fn to_each(targets: Vec<u16>) -> Self {
        let mut targets = targets.into_iter().cycle();
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a free port");
        let port = listener.local_addr().expect("an address").port();
        let network = Arc::new(Network::default());
        let shared = Arc::clone(&network);
        thread::spawn(move || {
            for client in listener.incoming() {
                let Ok(client) = client else { continue };
                if shared.is_over() {
                    return;
                }
                let Some(target) = targets.next() else { return };
                let target = SocketAddr::from((Ipv4Addr::LOCALHOST, target));
                let shared = Arc::clone(&shared);
                thread::spawn(move || shared.connect(client, target));
            }
        });
        Self { port, network }
    }

    /// The port that clients connect to.
    #[must_use]
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Cuts the network: no data arrives in either direction, and both ends stay connected. Data
    /// that is sent meanwhile arrives after [`heal`](Self::heal).
    pub fn cut(&self) {
        self.network.change(|condition| condition.cut = true);
    }

    /// Delays the data in each direction by this time.
    pub fn delay(&self, delay: Duration) {
        self.network.change(|condition| condition.delay = delay);
    }

    /// Closes the open connections, so that data in transit is lost. New connections can be opened.
    pub fn reset(&self) {
        self.network.change(Condition::close);
    }

    /// Redirects new connections to another port of this host.
    pub fn redirect(&self, port: u16) {
        self.network.change(|condition| condition.redirected_to = Some(port));
    }

    /// Returns the number of requests that clients have sent. Data from a client count as another request if they
    /// follow data from the server, or are the first of a connection. The messages that begin an encrypted connection
    /// therefore also count.
    #[must_use]
    pub fn requests(&self) -> u64 {
        self.network.requests.load(Ordering::Relaxed)
    }

    /// Ends every cut, delay and redirection.
    pub fn heal(&self) {
        self.network.change(|condition| {
            condition.cut = false;
            condition.delay = Duration::ZERO;
            condition.redirected_to = None;
        });
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.network.change(|condition| {
            condition.over = true;
            condition.close();
        });
        // Connecting wakes up the listener, so that its thread ends. It fails if the thread has
        // ended already.
        let _ = TcpStream::connect((Ipv4Addr::LOCALHOST, self.port));
    }
}

impl Condition {
    fn close(&mut self) {
        for stream in std::mem::take(&mut self.open).into_values().flatten() {
            // An error means that the connection is closed already.
            let _ = stream.shutdown(Shutdown::Both);
        }
    }
}

impl Network {
    fn change(&self, change: impl FnOnce(&mut Condition)) {
        change(&mut self.condition.lock().unwrap());
        self.changed.notify_all();
    }

    fn is_over(&self) -> bool {
        self.condition.lock().unwrap().over
    }

    /// Waits while the network is cut, and for the delay.
    fn wait_for_network(&self) {
        let condition = self.condition.lock().unwrap();
        let condition = self.changed.wait_while(condition, |now| now.cut && !now.over).unwrap();
        let delay = condition.delay;
        drop(condition);
        thread::sleep(delay);
    }

    fn connect(&self, client: TcpStream, target: SocketAddr) {
        self.wait_for_network();
        let redirected_to = self.condition.lock().unwrap().redirected_to;
        let target =
            redirected_to.map_or(target, |port| SocketAddr::from((Ipv4Addr::LOCALHOST, port)));
        // The connection fails only if the server is down, so the client cannot reach the server
        // either.
        let Ok(server) = TcpStream::connect(target) else { return };
        let copies =
            [client.try_clone(), client.try_clone(), server.try_clone(), server.try_clone()];
        let [Ok(from_client), Ok(client_kept), Ok(from_server), Ok(server_kept)] = copies else {
            return;
        };
        let mut number = 0;
        self.change(|condition| {
            condition.connections += 1;
            number = condition.connections;
            condition.open.insert(number, [client_kept, server_kept]);
        });
        let is_answered = AtomicBool::new(true);
        thread::scope(|scope| {
            scope.spawn(|| {
                self.forward(from_client, server, || {
                    let begins = is_answered.swap(false, Ordering::Relaxed);
                    self.requests.fetch_add(u64::from(begins), Ordering::Relaxed);
                });
            });
            self.forward(from_server, client, || is_answered.store(true, Ordering::Relaxed));
        });
        // Closed connections are removed because the proxy would otherwise run out of file
        // descriptors.
        self.change(|condition| drop(condition.open.remove(&number)));
    }

    fn forward(&self, mut from: TcpStream, mut to: TcpStream, on_data: impl Fn()) {
        let mut part = [0; 16_384];
        while let Ok(length @ 1..) = from.read(&mut part) {
            on_data();
            self.wait_for_network();
            if to.write_all(&part[..length]).is_err() {
                break;
            }
        }
        // Either side may be closed already, which is the intended state.
        let _ = to.shutdown(Shutdown::Write);
        let _ = from.shutdown(Shutdown::Read);
    }
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use super::*;

    #[test]
    fn data_sent_during_a_simulated_network_outage_arrives_after_the_outage() {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let proxy = Proxy::to(listener.local_addr().unwrap().port());
        thread::spawn(move || {
            for stream in listener.incoming() {
                let mut stream = stream.unwrap();
                thread::spawn(move || {
                    let mut back = stream.try_clone().unwrap();
                    std::io::copy(&mut stream, &mut back)
                });
            }
        });
        let connect = || TcpStream::connect((Ipv4Addr::LOCALHOST, proxy.port())).unwrap();
        let echo = |stream: &mut TcpStream| {
            let mut back = [0];
            stream.read_exact(&mut back).map(|()| back[0])
        };
        let mut stream = connect();
        stream.write_all(b"a").unwrap();
        assert_eq!(echo(&mut stream).unwrap(), b'a');
        assert_eq!(proxy.requests(), 1);

        proxy.cut();
        stream.write_all(b"b").unwrap();
        stream.set_read_timeout(Some(Duration::from_millis(200))).unwrap();
        assert!(echo(&mut stream).is_err());
        proxy.heal();
        stream.set_read_timeout(None).unwrap();
        assert_eq!(echo(&mut stream).unwrap(), b'b');
        assert_eq!(proxy.requests(), 2);

        proxy.reset();
        assert!(echo(&mut stream).is_err());
        let mut stream = connect();
        stream.write_all(b"c").unwrap();
        assert_eq!(echo(&mut stream).unwrap(), b'c');

        drop(stream);
        let deadline = Instant::now() + Duration::from_secs(30);
        while !proxy.network.condition.lock().unwrap().open.is_empty() {
            assert!(Instant::now() < deadline, "a closed connection is still in the list");
            thread::sleep(Duration::from_millis(5));
        }
    }
}
