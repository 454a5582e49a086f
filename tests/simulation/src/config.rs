//! The size of a simulated fleet, its faults, and the mutants.

use flakeid_core::Layout;
use flakeid_protocol::Namespace;

/// The name of the namespace.
pub const NAMESPACE: &str = "fleet";
/// The time at which a simulation begins, in Unix milliseconds.
pub const BEGIN_UNIX_MS: i64 = 1_800_000_000_000;
/// The longest window of a member, in milliseconds: the default of a broker.
pub const BROKER_WINDOW_MS: u64 = 4_000;
/// The time for which a broker reserves a node without a renewal, in milliseconds: the default of a broker.
pub const BROKER_TTL_MS: u64 = 12_000;
/// The time for which a request waits for the store to grant another block, in milliseconds: the default of a broker.
pub const BROKER_WAIT_MS: u64 = 2_000;

/// A mistake that the simulation must find.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Mutant {
    /// The code of the product.
    None,
    /// The first response to an acquire request is final even if the broker refuses it, and a member whose renewals
    /// fail does not request a node from other brokers.
    AnswerIsFinal,
    /// A broker repeats its response to every request with the token of a grant, and does not compare the owners.
    OwnerUnchecked,
    /// A store without a server follows every step of its host's clock.
    FollowsSteps,
}

/// A fleet and its faults.
#[derive(Clone, Debug)]
pub struct Config {
    pub seed: u64,
    pub members: usize,
    pub brokers: usize,
    /// The simulated time in milliseconds.
    pub length_ms: u64,
    /// The mean time between two faults in milliseconds; `None` for a fleet without faults.
    pub fault_every_ms: Option<u64>,
    /// Whether every message takes at least 1 ms. Otherwise, messages in an intact network arrive within the same
    /// millisecond.
    pub is_slow: bool,
    /// Whether the fleet and its store run on one host, whose clock is sometimes set forward for some seconds.
    pub is_one_host: bool,
    pub mutant: Mutant,
    /// Whether to print each event except renewals.
    pub traces: bool,
}

impl Config {
    /// Returns a small fleet with frequent faults.
    #[cfg(test)]
    pub const fn small(seed: u64) -> Self {
        Self {
            seed,
            members: 40,
            brokers: 3,
            length_ms: 240_000,
            fault_every_ms: Some(2_500),
            is_slow: true,
            is_one_host: false,
            mutant: Mutant::None,
            traces: false,
        }
    }

    /// Returns the namespace of the fleet, which has room for at least twice as many members.
    pub fn namespace(&self) -> Namespace {
        let bits = (self.members as u64 * 2).next_power_of_two().ilog2() + 1;
        let layout = if bits <= 10 {
            Layout::TWITTER
        } else {
            let bits = bits.min(40) as u8;
            let time = if bits <= 18 { 41 } else { 39 };
            let builder = Layout::builder().time(time).node(bits).sequence(63 - time - bits);
            builder.epoch(BEGIN_UNIX_MS - 86_400_000).build().unwrap()
        };
        let block_bits = Namespace::default_block_bits(&layout).unwrap();
        Namespace { block_bits, ..Namespace::new(NAMESPACE, layout) }
    }
}
