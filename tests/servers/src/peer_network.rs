//! The network between the members of an etcd cluster, from which each member can be disconnected.

use std::collections::BTreeSet;
use std::io::{Read, Write};
use std::net::{Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;

/// A proxy in front of the peer port of each member. It identifies the sender of a connection by a
/// header of the first request.
#[derive(Debug, Default)]
pub(crate) struct PeerNetwork(Arc<Shared>);

#[derive(Debug, Default)]
struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    /// The disconnected members: their IDs, in the header's format, and their peer ports.
    cut_off: BTreeSet<(String, u16)>,
    is_over: bool,
    open: Vec<TcpStream>,
    listening: Vec<u16>,
}

impl State {
    fn blocks(&self, from: &str, to: u16) -> bool {
        !self.is_over && self.cut_off.iter().any(|(id, port)| id == from || *port == to)
    }
}

impl PeerNetwork {
    /// Returns a port whose connections are forwarded to a member's peer port.
    pub(crate) fn forward_to(&self, peer_port: u16) -> u16 {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a free port");
        let port = listener.local_addr().expect("an address").port();
        self.0.lock().listening.push(port);
        let shared = Arc::clone(&self.0);
        thread::spawn(move || {
            for client in listener.incoming() {
                if shared.lock().is_over {
                    return;
                }
                let Ok(client) = client else { continue };
                let shared = Arc::clone(&shared);
                thread::spawn(move || shared.connect(client, peer_port));
            }
        });
        port
    }

    /// Disconnects the member with this ID and peer port from the others. Data that is sent
    /// meanwhile arrives after the member is reconnected.
    pub(crate) fn cut_off(&self, id: u64, peer_port: u16) {
        self.0.lock().cut_off.insert((format!("{id:x}"), peer_port));
    }

    /// Ends the effect of [`cut_off`](Self::cut_off).
    pub(crate) fn join(&self, id: u64, peer_port: u16) {
        self.0.lock().cut_off.remove(&(format!("{id:x}"), peer_port));
        self.0.changed.notify_all();
    }
}

impl Drop for PeerNetwork {
    fn drop(&mut self) {
        let mut state = self.0.lock();
        state.is_over = true;
        for stream in state.open.drain(..) {
            // An error means that the connection is closed already.
            let _ = stream.shutdown(Shutdown::Both);
        }
        for port in state.listening.drain(..) {
            // Connecting wakes up the listener, so that its thread ends.
            let _ = TcpStream::connect((Ipv4Addr::LOCALHOST, port));
        }
        drop(state);
        self.0.changed.notify_all();
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        // A failed test still has to close its connections.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn connect(&self, mut client: TcpStream, to: u16) {
        let mut first = vec![0; 16_384];
        let Ok(length @ 1..) = client.read(&mut first) else { return };
        first.truncate(length);
        let from = sender(&first);
        self.wait_until_connected(&from, to);
        // The connection fails only if the member is down, so the peers cannot reach the member
        // either.
        let Ok(mut server) = TcpStream::connect(SocketAddr::from((Ipv4Addr::LOCALHOST, to))) else {
            return;
        };
        let copies =
            [client.try_clone(), client.try_clone(), server.try_clone(), server.try_clone()];
        let [Ok(from_client), Ok(client_kept), Ok(from_server), Ok(server_kept)] = copies else {
            return;
        };
        self.lock().open.extend([client_kept, server_kept]);
        if server.write_all(&first).is_err() {
            return;
        }
        thread::scope(|scope| {
            scope.spawn(|| self.forward(from_client, server, &from, to));
            self.forward(from_server, client, &from, to);
        });
    }

    /// Waits while the sender or the receiver is disconnected.
    fn wait_until_connected(&self, from: &str, to: u16) {
        let state = self.lock();
        let passed = self.changed.wait_while(state, |state| state.blocks(from, to));
        drop(passed.unwrap_or_else(PoisonError::into_inner));
    }

    fn forward(&self, mut source: TcpStream, mut target: TcpStream, from: &str, to: u16) {
        let mut part = [0; 16_384];
        while let Ok(length @ 1..) = source.read(&mut part) {
            self.wait_until_connected(from, to);
            if target.write_all(&part[..length]).is_err() {
                break;
            }
        }
        // Either side may be closed already, which is the intended state.
        let _ = target.shutdown(Shutdown::Write);
        let _ = source.shutdown(Shutdown::Read);
    }
}

/// Returns the member that sent a request; empty if the request has no such header.
fn sender(request: &[u8]) -> String {
    let request = String::from_utf8_lossy(request);
    let mut headers = request.lines();
    let from = headers.find_map(|line| line.strip_prefix("X-Server-From: "));
    from.unwrap_or_default().trim().to_owned()
}
