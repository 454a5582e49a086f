//! Ports for servers that are stopped and started again.

use std::collections::BTreeSet;
use std::hash::{BuildHasher, RandomState};
use std::net::{Ipv4Addr, TcpListener};
use std::ops::Range;
use std::sync::{Mutex, PoisonError};

/// Below those that Linux gives to clients' ends of connections: a server that is down for a moment, or
/// opens a port of its own later, would sometimes find such a one in use.
const PORTS: Range<u16> = 15_000..32_768;

static RETURNED: Mutex<BTreeSet<u16>> = Mutex::new(BTreeSet::new());

/// A loopback port that nobody listens on, and that this process has not been returned before. Another
/// process could take it before its user does.
///
/// # Panics
/// If there is none.
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
    fn free_port_returns_each_port_once_and_none_of_the_ephemeral_range() {
        let ports: BTreeSet<u16> = (0..50).map(|_| free_port()).collect();
        assert_eq!(ports.len(), 50);
        assert!(ports.iter().all(|port| PORTS.contains(port)), "{ports:?}");
    }
}
