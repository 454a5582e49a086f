//! A rate limiter, which limits the number of IDs, requests or leases that each client can get per second.

use std::collections::HashMap;
use std::fmt;
use std::net::{IpAddr, Ipv6Addr};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// The maximum number of clients with their own limits. Each client's entry takes about 64 bytes. Further clients share
/// one limit until the entries of inactive clients are removed.
pub(crate) const MOST_CLIENTS: usize = 10_000;
/// The minimum time between two searches for inactive clients. Searches are infrequent, because each search visits all
/// entries.
const SWEEP_INTERVAL: Duration = Duration::from_millis(100);

/// The client that sent a request, in the request's extensions: its address or, on a Unix socket, its user.
/// [`Server`](crate::Server) sets this extension. In another server based on hyper, all requests without it share one
/// limit.
///
/// ```
/// use std::net::IpAddr;
///
/// use flakeid_server::Peer;
/// use hyper::Request;
///
/// let mut request = Request::new(());
/// request.extensions_mut().insert(Peer::Address(IpAddr::from([192, 0, 2, 7])));
/// assert!(request.extensions().get::<Peer>().is_some());
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Peer {
    /// The address of a TCP client.
    Address(IpAddr),
    /// The numeric ID of the user whose process connected to the Unix socket.
    User(u32),
}

impl Peer {
    /// Returns the peer that identifies a client. For IPv6, this peer is the client's /64 network, because a client can
    /// choose any address in its network.
    pub(crate) fn client(self) -> Self {
        match self {
            Self::Address(address) => Self::Address(match address.to_canonical() {
                IpAddr::V6(address) => Ipv6Addr::from_bits(address.to_bits() >> 64 << 64).into(),
                address @ IpAddr::V4(_) => address,
            }),
            user @ Self::User(_) => user,
        }
    }
}

impl fmt::Display for Peer {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Address(address) => write!(formatter, "{address}"),
            Self::User(user) => write!(formatter, "user {user}"),
        }
    }
}

/// The sender of requests that one limit applies to: a token at an address, or an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Sender {
    peer: Option<Peer>,
    /// The number of the client with the token.
    client: Option<u64>,
}

impl Sender {
    pub(crate) fn new(peer: Option<Peer>, client: Option<u64>) -> Self {
        Self { peer: peer.map(Peer::client), client }
    }
}

/// The error for a client that has exceeded its rate limit.
#[derive(Debug)]
pub(crate) struct TooMany {
    pub(crate) message: String,
    pub(crate) wait: Duration,
}

impl TooMany {
    /// Returns the error for a client that has sent too many requests.
    pub(crate) fn requests(wait: Duration) -> Self {
        Self { message: format!("rate limit exceeded: retry in {} ms", wait.as_millis()), wait }
    }
}

/// A rate limiter with a separate limit for each client.
#[derive(Debug)]
pub(crate) struct RateLimiter {
    per_second: u64,
    /// The period that defines the maximum burst. A client may take as many IDs in one burst as its limit allows in
    /// this period.
    burst: Duration,
    clients: Mutex<Clients>,
}

#[derive(Debug)]
struct Clients {
    /// The time at which each client's whole burst is available again.
    free_at: HashMap<Sender, Instant>,
    /// The time at which the whole burst is available again to the clients that share one limit.
    others: Instant,
    /// The time of the last search for inactive clients.
    swept: Instant,
}

impl RateLimiter {
    /// Creates a rate limiter whose bursts are limited to the allowance for one second.
    pub(crate) fn new(per_second: u64, now: Instant) -> Self {
        Self::with_burst(per_second, Duration::from_secs(1), now)
    }

    /// Creates a rate limiter whose bursts are limited to the allowance for the given period.
    pub(crate) fn with_burst(per_second: u64, burst: Duration, now: Instant) -> Self {
        let clients = Clients { free_at: HashMap::new(), others: now, swept: now };
        Self { per_second: per_second.max(1), burst, clients: Mutex::new(clients) }
    }

    /// Takes `count` IDs from a client's limit. A count above the maximum burst is allowed only if the client's whole
    /// burst is available. The client's later requests must then wait correspondingly longer.
    ///
    /// # Errors
    /// The error is the time until the client can take `count` IDs. In this case, no IDs are taken.
    pub(crate) fn take(&self, sender: Sender, count: u64, now: Instant) -> Result<(), Duration> {
        // The time is limited to 1e9 s (about 30 years), so that the sum of an instant and this time cannot overflow.
        let cost = Duration::from_secs_f64((count as f64 / self.per_second as f64).min(1e9));
        let mut clients = self.clients.lock().unwrap_or_else(PoisonError::into_inner);
        let free_at = clients.free_at(sender, now);
        let ahead = free_at.saturating_duration_since(now);
        let needed = ahead + cost.min(self.burst);
        if needed > self.burst {
            // One millisecond is added, because the wait is later rounded down to whole milliseconds.
            return Err(needed.saturating_sub(self.burst) + Duration::from_millis(1));
        }
        *free_at = now + ahead + cost;
        Ok(())
    }
}

impl Clients {
    fn free_at(&mut self, client: Sender, now: Instant) -> &mut Instant {
        if client == Sender::new(None, None) {
            return &mut self.others;
        }
        let is_full = self.free_at.len() >= MOST_CLIENTS && !self.free_at.contains_key(&client);
        if is_full && now.saturating_duration_since(self.swept) >= SWEEP_INTERVAL {
            self.free_at.retain(|_, free_at| *free_at > now);
            self.swept = now;
        }
        if is_full && self.free_at.len() >= MOST_CLIENTS {
            return &mut self.others;
        }
        self.free_at.entry(client).or_insert(now)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    fn take(rates: &RateLimiter, client: u32, count: u64, now: Instant) -> Result<(), Duration> {
        rates.take(Sender::new(Some(Peer::Address(client.to_be_bytes().into())), None), count, now)
    }

    fn ms(ms: u64) -> Duration {
        Duration::from_millis(ms)
    }

    #[test]
    fn each_client_is_limited_to_the_configured_id_rate() {
        let start = Instant::now();
        let rates = RateLimiter::new(1_000, start);
        assert_eq!(take(&rates, 1, 600, start), Ok(()));
        let wait = take(&rates, 1, 600, start).unwrap_err();
        assert_eq!(wait, ms(201));
        assert_eq!(take(&rates, 1, 400, start), Ok(()), "a smaller number is still allowed");
        assert_eq!(take(&rates, 2, 1_000, start), Ok(()), "another client has its own limit");
        assert_eq!(take(&rates, 1, 600, start + ms(599)).unwrap_err(), ms(2));
        assert_eq!(take(&rates, 1, 600, start + ms(600)), Ok(()));
        // A busy client's long-term rate equals the limit, regardless of the sizes of the requests.
        let begin = start + ms(10_000);
        let (mut now, mut taken) = (begin, 0);
        for count in [1, 7, 1_000, 30, 5_000, 1_000].into_iter().cycle().take(300) {
            while let Err(wait) = take(&rates, 3, count, now) {
                now += wait;
            }
            taken += count;
        }
        let seconds = now.duration_since(begin).as_secs_f64();
        assert!(taken as f64 <= (seconds + 6.0) * 1_000.0, "{taken} in {seconds} s");
        assert!(taken as f64 >= (seconds - 1.0) * 1_000.0, "{taken} in {seconds} s");
    }

    #[test]
    fn burst_is_limited_to_the_allowance_for_its_period() {
        let start = Instant::now();
        let rates = RateLimiter::with_burst(10, Duration::from_secs(200), start);
        for _ in 0..2_000 {
            assert_eq!(take(&rates, 1, 1, start), Ok(()));
        }
        assert_eq!(take(&rates, 1, 1, start).unwrap_err(), ms(101));
        assert_eq!(take(&rates, 1, 1, start + ms(101)), Ok(()));
        assert!(take(&rates, 1, 1, start + ms(101)).is_err());
    }

    #[test]
    fn large_request_delays_later_requests_of_the_same_client() {
        let start = Instant::now();
        let rates = RateLimiter::new(1_000, start);
        assert_eq!(take(&rates, 1, 5_000, start), Ok(()));
        assert_eq!(take(&rates, 1, 1, start).unwrap_err(), ms(4_002));
        assert_eq!(take(&rates, 1, 1, start + ms(4_001)), Ok(()));
        assert_eq!(take(&rates, 1, 1_001, start + ms(4_001)).unwrap_err(), ms(1_001));
    }

    #[test]
    fn each_network_has_its_own_rate_limit_but_excess_networks_share_one_limit() {
        let parse = |text: &str| Peer::Address(text.parse().unwrap()).client();
        assert_eq!(parse("2001:db8:1:2:3:4:5:6"), parse("2001:db8:1:2::9"));
        assert_ne!(parse("2001:db8:1:2::1"), parse("2001:db8:1:3::1"));
        assert_eq!(parse("::ffff:192.0.2.7"), parse("192.0.2.7"));
        assert_ne!(parse("192.0.2.7"), parse("192.0.2.8"));
        assert_ne!(Peer::User(0).client(), Peer::User(1_000).client());

        let start = Instant::now();
        let rates = RateLimiter::new(1, start);
        let later = start + ms(200);
        for number in 0..MOST_CLIENTS as u32 {
            assert_eq!(take(&rates, number, 1, later), Ok(()));
        }
        assert_eq!(take(&rates, 20_000, 1, later), Ok(()));
        assert!(take(&rates, 20_001, 1, later).is_err(), "excess clients share one limit");
        assert!(take(&rates, 5, 1, later).is_err(), "known clients keep their own limits");
        assert_eq!(
            take(&rates, 20_001, 1, later + ms(1_100)),
            Ok(()),
            "entries of inactive clients are removed"
        );
        assert_eq!(take(&rates, 20_002, 1, later + ms(1_100)), Ok(()));
        assert_eq!(rates.clients.lock().unwrap().free_at.len(), 2);
    }
}
