//! A broker leases blocks of nodes from a store, and grants the nodes in its blocks one by one.
//!
//! A block is one row of the store, so a fleet of thousands of processes writes only as many rows as it has blocks. The
//! broker renews its blocks together, so it sends about as many requests for many blocks as for a single block. For
//! its holders, a broker works like a store that grants shorter windows. `flakeid_protocol::broker::Blocks`
//! decides which grants to make, and a thread of the [`Broker`] leases and renews the blocks.
//!
//! # History
//! The broker writes each grant to the store's history together with the next renewal or the release of its block.
//! The grants and the renewal or release are written in one transaction, which only the holder of the block can make.
//! A renewal writes at most 256 grants, and all renewals of a broker together write at most 1,000 per second. For
//! each block, the broker keeps one grant per node, and up to 256 earlier grants of nodes that were granted again. If
//! there are more earlier grants, the broker drops the oldest ones and counts them. The store also records the tick
//! up to which the history of the block is complete. Afterwards, the broker grants no window that starts below this
//! tick. Therefore, `whois` returns a client only if no other process could have had the node.
//!
//! # Why it is safe
//! - **I11** No window that a broker grants ends after the fence that the store confirmed for the block.
//! - **I12** No window that a broker grants starts before the current grant of its block.
//! - **I13** A block's fence never falls below a fence that has been granted in the block, because holders continue to
//!   issue IDs until their windows end, even after their broker has ended.
//! - **I15** A broker responds only in the process that leased the block. The broker checks the process while
//!   holding the lock under which it computes every response, so a forked child grants nothing.
//!
//! Therefore, every window is within a window that the store has already fenced, and the broker's memory does not
//! have to survive a crash. One case is excluded: a broker whose memory is restored (by a snapshot of a virtual
//! machine with its memory, or by CRIU) grants the same windows again.

mod handle;
mod history;
mod options;
mod state;
mod thread;

#[doc(hidden)]
pub use handle::Acquiring;
pub use handle::{Broker, BrokerStatus};
pub use options::BrokerOptions;
