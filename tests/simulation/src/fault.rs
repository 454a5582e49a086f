//! The faults that last for some time.

use flakeid_protocol::Token;

/// A fault that ends at some time.
#[derive(Clone, Debug)]
pub enum Fault {
    /// The network between zones and a broker fails.
    Network {
        broker: usize,
        zones: Vec<usize>,
    },
    /// The network between a broker and the store fails.
    StoreNetwork {
        broker: usize,
    },
    /// A broker is killed, and starts again at the end of the fault.
    BrokerKilled {
        broker: usize,
    },
    /// A broker shuts down, and starts again at the end of the fault.
    BrokerDrained {
        broker: usize,
    },
    BrokerPaused {
        broker: usize,
    },
    BrokerClock {
        broker: usize,
    },
    /// The store stops. At the end of the fault, it starts with its contents or with an old backup.
    StoreDown {
        backup: Option<usize>,
        clock: i64,
    },
    /// Members end, orderly or not, and start again at the end of the fault. With a token, they are copies of one
    /// virtual machine, so that they get the same random numbers when they start.
    MembersEnded {
        members: Vec<usize>,
        token: Option<Token>,
    },
    MembersPaused {
        members: Vec<usize>,
    },
    MembersClock {
        members: Vec<usize>,
    },
    /// The clock of the only host of the fleet is set forward.
    HostClock,
}
