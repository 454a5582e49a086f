//! A broker: leases blocks of nodes from a store and grants their nodes one by one.
//!
//! A block is one row of the store, so a fleet of thousands of processes writes only as many rows as it has blocks.
//! Its holders use a broker like a store with shorter windows. [`Blocks`](flakeid_protocol::broker::Blocks) decides
//! the grants, and a thread of the [`Broker`] leases and renews the blocks.
//!
//! # History
//! The broker writes each grant to the store's history together with the next renewal or the release of its block, in
//! one transaction, which only the holder of the block can make. A renewal writes at most 256 grants, and all
//! renewals of a broker together at most 1,000 per second. For each block the broker keeps one grant per node, and
//! 256 more whose nodes were granted again. Beyond that it drops and counts the oldest. The store also records the
//! tick up to which the history of the block is complete, and the broker then grants no window that starts below this
//! tick. So `whois` names a client only if no other process can have had the node.
//!
//! # Why it is safe
//! - **I11** No window that a broker grants ends after the fence that the store confirmed for the block.
//! - **I12** No window that it grants starts before the block's current grant.
//! - **I13** A block's fence never falls below a fence that was ever granted in it, because holders continue until
//!   the end of their windows after their broker has ended.
//! - **I15** A broker responds only in the process that leased the block. It checks this under the lock under which
//!   it computes every response, so a forked child grants nothing.
//!
//! Therefore every window is within one that the store has already fenced, and the broker's memory need not survive
//! it. One case is excluded: a broker whose memory is restored (a snapshot of a virtual machine with its memory,
//! CRIU) grants the same windows again.

mod handle;
mod history;
mod options;
mod state;
mod thread;

pub use handle::{Acquiring, Broker, BrokerStatus};
pub use options::BrokerOptions;
