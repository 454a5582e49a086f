use std::net::{Ipv4Addr, TcpListener};

/// A loopback port that nobody listens on. Another process could take it before its user does;
/// whoever starts a server tries again with another then.
///
/// # Panics
/// If there is none.
#[must_use]
pub fn free_port() -> u16 {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a free loopback port");
    listener.local_addr().expect("an address").port()
}
