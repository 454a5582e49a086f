//! Ports for servers that tests stop and start again.

use std::collections::BTreeSet;
use std::hash::{BuildHasher, RandomState};
use std::net::{Ipv4Addr, TcpListener};
use std::ops::Range;
use std::sync::{Mutex, PoisonError};

/// The range below the ports that Linux assigns to outgoing connections. A connection could
/// otherwise occupy a server's port while the server is down, or before it opens the port.
const PORTS: Range<u16> = 15_000..32_768;

static RETURNED: Mutex<BTreeSet<u16>> = Mutex::new(BTreeSet::new());

/// Returns a loopback port on which nothing listens, and which this process has not received
/// before. Another process may take the port before the caller uses it.
///
/// # Panics
/// If no port is free.
#[must_use]
pub fn free_port() -> u16 {
    let mut returned = RETURNED.lock().unwrap_or_else(PoisonError::into_inner);
    let first = RandomState::new().hash_one("a port") as usize;
    let port = (0..PORTS.len())
        .map(|step| PORTS.start + ((first % PORTS.len() + step) % PORTS.len()) as u16)
        .filter(|port| !returned.contains(port))
        .find(|port| TcpListener::bind((Ipv4Addr::LOCALHOST, *port)).is_ok())
        .expect("a free loopback port");
    returned.insert(port);
    port
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn free_ports_are_distinct_and_outside_the_ephemeral_range() {
        let ports: BTreeSet<u16> = (0..50).map(|_| free_port()).collect();
        assert_eq!(ports.len(), 50);
        assert!(ports.iter().all(|port| PORTS.contains(port)), "{ports:?}");
    }
}
