//! The events of a simulation.

/// An event that is due at some time. Numbers of wakes, attempts and processes identify events that are out of date.
#[derive(Clone, Copy, Debug)]
pub enum Event {
    /// A member starts for the first time.
    Start(u32),
    /// A member's keeper checks its node.
    Wake {
        member: u32,
        wake: u32,
    },
    /// A request arrives at a broker.
    Deliver(u32),
    /// A response, or the failure of a connection, arrives at a member.
    Answer(u32),
    TimeOut {
        member: u32,
        attempt: u32,
    },
    /// A request has waited too long for a broker to lease another block.
    StopWaiting {
        broker: u32,
        process: u32,
        message: u32,
    },
    WakeBroker {
        broker: u32,
        wake: u32,
    },
    /// A broker's request arrives at the store.
    Store {
        broker: u32,
        request: u32,
    },
    /// The store's response to a broker's request arrives, or the request times out.
    StoreAnswer {
        broker: u32,
        request: u32,
        reply: u32,
    },
    BeginFault,
    EndFault(u32),
    /// The simulation checks that no member is without a window for too long.
    CheckLiveness,
}
