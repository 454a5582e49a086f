//! How many IDs a client gets in a second.

use std::collections::HashMap;
use std::net::{IpAddr, Ipv6Addr};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// What a client may take at once, without having waited: what it gets in this time.
const BURST: Duration = Duration::from_secs(1);
/// How many clients are told apart; an entry takes some 64 bytes. When there are this many, new clients share one
/// limit, until others have been silent for long enough.
const MOST_CLIENTS: usize = 10_000;
/// How often entries of silent clients are looked for at most, because that looks at all of them.
const BETWEEN_SWEEPS: Duration = Duration::from_millis(100);

/// The address of whoever sent a request, in the request's extensions. [`Server`](crate::Server) puts it
/// there; in another server of hyper's, all requests without it have one limit together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Peer(pub IpAddr);

/// A limit for each client.
#[derive(Debug)]
pub(crate) struct RateLimiter {
    per_second: u64,
    clients: Mutex<Clients>,
}

#[derive(Debug)]
struct Clients {
    /// When each has waited long enough for what it has taken.
    paid_at: HashMap<IpAddr, Instant>,
    /// The same of all that are not told apart.
    others: Instant,
    /// When silent ones were looked for last.
    swept: Instant,
}

impl RateLimiter {
    pub(crate) fn new(per_second: u64, now: Instant) -> Self {
        let clients = Clients { paid_at: HashMap::new(), others: now, swept: now };
        Self { per_second: per_second.max(1), clients: Mutex::new(clients) }
    }

    /// Takes this many IDs of a client's share. A client that asks for more than it gets in a second must
    /// have waited for all that it took before, and waits for the whole number afterwards.
    ///
    /// # Errors
    /// How long the client has to wait before it can have this number; nothing is taken then.
    pub(crate) fn take(
        &self,
        peer: Option<IpAddr>,
        count: u64,
        now: Instant,
    ) -> Result<(), Duration> {
        // Decades are long enough, and no instant overflows.
        let cost = Duration::from_secs_f64((count as f64 / self.per_second as f64).min(1e9));
        let mut clients = self.clients.lock().unwrap_or_else(PoisonError::into_inner);
        let paid_at = clients.paid_at(peer.map(network_of), now);
        let ahead = paid_at.saturating_duration_since(now);
        let needed = ahead + cost.min(BURST);
        if needed > BURST {
            // Whole milliseconds, and never too few.
            return Err(needed.saturating_sub(BURST) + Duration::from_millis(1));
        }
        *paid_at = now + ahead + cost;
        Ok(())
    }
}

impl Clients {
    fn paid_at(&mut self, client: Option<IpAddr>, now: Instant) -> &mut Instant {
        let Some(client) = client else { return &mut self.others };
        let is_full = self.paid_at.len() >= MOST_CLIENTS && !self.paid_at.contains_key(&client);
        if is_full && now.saturating_duration_since(self.swept) >= BETWEEN_SWEEPS {
            self.paid_at.retain(|_, paid_at| *paid_at > now);
            self.swept = now;
        }
        if is_full && self.paid_at.len() >= MOST_CLIENTS {
            return &mut self.others;
        }
        self.paid_at.entry(client).or_insert(now)
    }
}

/// What identifies a client: its address or, with IPv6, its network of 64 bits, in which it can choose any
/// address.
fn network_of(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(address) => {
            let network = address.to_bits() >> 64 << 64;
            Ipv6Addr::from_bits(network).into()
        }
        address @ IpAddr::V4(_) => address,
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    fn take(rates: &RateLimiter, client: u32, count: u64, now: Instant) -> Result<(), Duration> {
        rates.take(Some(IpAddr::from(client.to_be_bytes())), count, now)
    }

    fn ms(ms: u64) -> Duration {
        Duration::from_millis(ms)
    }

    #[test]
    fn client_is_limited_to_the_configured_ids_per_second() {
        let start = Instant::now();
        let rates = RateLimiter::new(1_000, start);
        assert_eq!(take(&rates, 1, 600, start), Ok(()));
        let wait = take(&rates, 1, 600, start).unwrap_err();
        assert_eq!(wait, ms(201));
        assert_eq!(take(&rates, 1, 400, start), Ok(()), "there is room for fewer");
        assert_eq!(take(&rates, 2, 1_000, start), Ok(()), "another client");
        assert_eq!(take(&rates, 1, 600, start + ms(599)).unwrap_err(), ms(2));
        assert_eq!(take(&rates, 1, 600, start + ms(600)), Ok(()));
        // In the long run no more than the rate, whatever is asked for.
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
    fn large_request_delays_the_following_ones() {
        let start = Instant::now();
        let rates = RateLimiter::new(1_000, start);
        assert_eq!(take(&rates, 1, 5_000, start), Ok(()));
        assert_eq!(take(&rates, 1, 1, start).unwrap_err(), ms(4_002));
        assert_eq!(take(&rates, 1, 1, start + ms(4_001)), Ok(()));
        assert_eq!(take(&rates, 1, 1_001, start + ms(4_001)).unwrap_err(), ms(1_001));
    }

    #[test]
    fn clients_are_networks_and_excess_ones_share_a_limit() {
        let parse = |text: &str| network_of(text.parse().unwrap());
        assert_eq!(parse("2001:db8:1:2:3:4:5:6"), parse("2001:db8:1:2::9"));
        assert_ne!(parse("2001:db8:1:2::1"), parse("2001:db8:1:3::1"));
        assert_eq!(parse("::ffff:192.0.2.7"), parse("192.0.2.7"));
        assert_ne!(parse("192.0.2.7"), parse("192.0.2.8"));

        let start = Instant::now();
        let rates = RateLimiter::new(1, start);
        let later = start + ms(200);
        for number in 0..MOST_CLIENTS as u32 {
            assert_eq!(take(&rates, number, 1, later), Ok(()));
        }
        assert_eq!(take(&rates, 20_000, 1, later), Ok(()));
        assert!(take(&rates, 20_001, 1, later).is_err(), "they have one limit together");
        assert!(take(&rates, 5, 1, later).is_err(), "those that are known keep theirs");
        assert_eq!(take(&rates, 20_001, 1, later + ms(1_100)), Ok(()), "others are silent");
        assert_eq!(take(&rates, 20_002, 1, later + ms(1_100)), Ok(()));
        assert_eq!(rates.clients.lock().unwrap().paid_at.len(), 2);
    }
}
