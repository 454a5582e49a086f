//! A broker: leases blocks of nodes from a store, and grants them onward, one node at a time.
//!
//! To the store a block is one row, so a fleet of thousands writes as few rows as it has blocks. To
//! its holders a broker is what a store is, with shorter windows. [`Blocks`](flakeid_protocol::broker::Blocks) decides what is granted;
//! a thread of the [`Broker`] leases the blocks and renews them.
//!
//! # History
//! Each grant goes into the store's history with the next renewal of its block, or with its release, in
//! the same transaction, which only the holder of the block can make. A renewal takes 256 grants at most,
//! and all renewals of a broker together 1,000 a second.
//! For each block as many are kept as it has nodes, and 256 that are over, because their nodes were
//! granted again; of more than that the oldest are dropped, and counted. The store also notes up to which
//! tick the history of the block is complete, and nothing that starts below is granted after that. So
//! `whois` names a client only where no other can have had the node.
//!
//! # Why it is safe
//! - **I11** No window that a broker grants ends after the fence that the store confirmed for the block.
//! - **I12** No window that it grants starts before the block's present grant.
//! - **I13** A block's fence never falls below a fence that was ever granted in it: the holders go on to
//!   the end of their windows after their broker is gone.
//! - **I15** A broker answers only in the process that leased the block. Every answer is made under a
//!   lock, under which it checks that; a forked child grants nothing.
//!
//! So every window lies in one that the store has fenced already, and nothing that a broker remembers
//! has to survive it. What is excluded: a broker whose memory is put back (a virtual machine's snapshot
//! with its memory, CRIU) grants the same windows again.

mod handle;
mod history;
mod options;
mod state;
mod thread;

pub use handle::{Acquiring, Broker, BrokerStatus};
pub use options::BrokerOptions;
