//! A fleet that leases its nodes from brokers. This module computes the number of nodes in the
//! brokers' blocks, and the load that the brokers put on the store.

use flakeid_protocol::Namespace;
use flakeid_protocol::operations::MOST_RENEWED;

/// The brokers of a fleet. The processes are divided evenly among the brokers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Brokers {
    pub(crate) number: u64,
    /// The length of a block's window after each renewal, in milliseconds.
    pub(crate) window_ms: u64,
}

impl Brokers {
    /// The largest supported number of brokers.
    pub(crate) const MOST: u64 = 100_000;

    /// Returns the number of nodes that a fleet needs if `used` nodes are in use at the same time.
    ///
    /// When a broker crashes, its clients lease other nodes, because the blocks of the crashed
    /// broker are not free yet. In addition, each broker has one partly used block and one empty
    /// block.
    pub(crate) fn nodes(self, used: u64) -> u64 {
        let spare = used.div_ceil(self.number);
        let nodes = used.saturating_add(spare);
        let in_part = self.number.saturating_mul(2) << block_bits(nodes);
        nodes.saturating_add(in_part)
    }

    /// Returns the number of blocks that are leased while `used` nodes are in use, and the number
    /// of nodes in each block.
    pub(crate) fn blocks(self, used: u64) -> (u64, u64) {
        let size = 1 << block_bits(self.nodes(used));
        let of_each = used.div_ceil(self.number).div_ceil(size) + 1;
        (of_each.saturating_mul(self.number), size)
    }

    /// Returns the average time from one renewal of a block to the next, in milliseconds: a third
    /// of the block's window.
    pub(crate) fn renewal_ms(self) -> f64 {
        self.window_ms as f64 / 3.0
    }

    /// Returns the steady load on the store, in renewals per second.
    pub(crate) fn renewals_per_second(self, used: u64) -> f64 {
        self.blocks(used).0 as f64 * 1_000.0 / self.renewal_ms()
    }

    /// Returns the number of transactions per second in which all brokers together renew their
    /// blocks.
    pub(crate) fn transactions_per_second(self, used: u64) -> f64 {
        let of_each = self.blocks(used).0 / self.number;
        let batches = of_each.div_ceil(MOST_RENEWED as u64).saturating_mul(self.number);
        batches as f64 * 1_000.0 / self.renewal_ms()
    }
}

/// Returns the default number of block bits for a namespace with room for `nodes` nodes.
const fn block_bits(nodes: u64) -> u32 {
    let node_bits = u64::BITS - nodes.saturating_sub(1).leading_zeros();
    match Namespace::default_block_bits_of(node_bits) {
        Some(bits) => bits,
        // A layout with too few nodes cannot have blocks. In this case, the result is the number of
        // block bits of the smallest layout that can have blocks.
        None => 1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn brokers(number: u64) -> Brokers {
        Brokers { number, window_ms: 10_000 }
    }

    #[test]
    fn node_count_includes_spare_nodes_for_a_crashed_broker() {
        let two = brokers(2);
        // In addition to the 600 nodes in use, the fleet needs 300 spare nodes, and two blocks for
        // each broker. With 10 node bits, a block contains 16 nodes.
        assert_eq!(two.nodes(600), 900 + 64);
        assert_eq!(two.blocks(600), (2 * (19 + 1), 16));
        // If the only broker crashes, the whole fleet needs new nodes.
        assert_eq!(brokers(1).nodes(400), 800 + 32);
    }

    #[test]
    fn store_load_depends_on_blocks_and_not_on_clients() {
        let three = brokers(3);
        let few = three.renewals_per_second(3);
        assert!((few - 6.0 * 0.3).abs() < 1e-9, "{few}");
        let million = three.renewals_per_second(1_000_000);
        assert!((1_171.0..1_180.0).contains(&million), "{million}");
    }

    #[test]
    fn broker_renews_up_to_48_blocks_in_one_transaction() {
        // Each of the two brokers has 20, 48 or 49 blocks.
        for (used, batches) in [(600, 1.0), (3_008, 1.0), (3_010, 2.0)] {
            let rate = brokers(2).transactions_per_second(used);
            assert!((rate - 2.0 * batches * 0.3).abs() < 1e-9, "{used}: {rate}");
        }
        let longer = Brokers { window_ms: 30_000, ..brokers(2) };
        assert!((longer.transactions_per_second(600) - 0.2).abs() < 1e-9);
    }

    #[test]
    fn node_count_never_falls_as_process_count_increases() {
        for number in [1, 2, 7] {
            let mut before = 0;
            for used in 1..20_000 {
                let nodes = brokers(number).nodes(used);
                assert!(nodes >= before, "{number} {used}");
                before = nodes;
            }
        }
    }
}
