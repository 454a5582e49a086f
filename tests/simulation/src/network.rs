//! The network between members and brokers, and between brokers and the store.

use crate::random::Random;

/// The number of groups of members. The network treats all members of a group equally.
pub const ZONES: usize = 4;

/// The state of the network between two places.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Link {
    Intact,
    /// No message arrives.
    Cut,
    /// Connections are refused immediately.
    Refused,
    /// Every third message is lost, and every third request arrives twice.
    Lossy,
    /// Messages take up to the given number of milliseconds in each direction.
    Slow(u64),
    /// Another service, which is not a broker, responds.
    Foreign,
}

impl Link {
    /// Returns the time that a message takes, in milliseconds; `None` if the message is lost.
    pub fn delay(self, random: &Random, is_slow: bool) -> Option<u64> {
        match self {
            Self::Cut => None,
            Self::Lossy if random.once_in(3) => None,
            Self::Slow(longest) => Some(1 + random.below(longest)),
            Self::Refused | Self::Foreign => Some(1),
            Self::Intact | Self::Lossy if is_slow => Some(1 + random.below(3)),
            Self::Intact | Self::Lossy => Some(0),
        }
    }

    pub fn repeats(self, random: &Random) -> bool {
        self == Self::Lossy && random.once_in(3)
    }
}

/// The links of a fleet, with the time since which each link is intact.
pub struct Network {
    /// The links from each zone to each broker.
    pub of_members: Vec<[(Link, u64); ZONES]>,
    /// The links from each broker to the store.
    pub of_brokers: Vec<Link>,
}

impl Network {
    pub fn new(brokers: usize) -> Self {
        Self {
            of_members: vec![[(Link::Intact, 0); ZONES]; brokers],
            of_brokers: vec![Link::Intact; brokers],
        }
    }

    pub fn between(&self, zone: u8, broker: usize) -> Link {
        self.of_members[broker][zone as usize].0
    }
}
