//! A fleet behind brokers: how many nodes its blocks take, and what is left for the store to do.

use flakeid_protocol::Namespace;

/// The time from one renewal of a block to the next, on average, in milliseconds: a third of its usual
/// window.
const BLOCK_RENEWAL_MS: f64 = 10_000.0 / 3.0;

/// Brokers among which the processes are divided evenly.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Brokers {
    pub(crate) number: u64,
}

impl Brokers {
    /// The most that can be planned for.
    pub(crate) const MOST: u64 = 100_000;

    /// How many nodes a fleet needs that uses so many at a time.
    ///
    /// When a broker crashes, its clients take other nodes while its blocks are not free yet. And each broker
    /// has one block that is not full, and one that is empty.
    pub(crate) fn nodes(self, used: u64) -> u64 {
        let spare = used.div_ceil(self.number);
        let nodes = used.saturating_add(spare);
        let in_part = self.number.saturating_mul(2) << block_bits(nodes);
        nodes.saturating_add(in_part)
    }

    /// The blocks that are leased while so many nodes are used, as `(blocks, nodes in each)`.
    pub(crate) fn blocks(self, used: u64) -> (u64, u64) {
        let size = 1 << block_bits(self.nodes(used));
        let of_each = used.div_ceil(self.number).div_ceil(size) + 1;
        (of_each.saturating_mul(self.number), size)
    }

    /// The constant load on the store.
    pub(crate) fn renewals_per_second(self, used: u64) -> f64 {
        self.blocks(used).0 as f64 * 1_000.0 / BLOCK_RENEWAL_MS
    }
}

/// As a namespace has it by default that has room for so many nodes.
const fn block_bits(nodes: u64) -> u32 {
    let node_bits = u64::BITS - nodes.saturating_sub(1).leading_zeros();
    match Namespace::usual_block_bits_of(node_bits) {
        Some(bits) => bits,
        // A layout with so few nodes has no blocks; one that has takes more nodes.
        None => 1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nodes_include_spare_ones_for_a_crashed_broker() {
        let two = Brokers { number: 2 };
        // 600 and 300 spare, 10 node bits, blocks of 16: two of them in part for each.
        assert_eq!(two.nodes(600), 900 + 64);
        assert_eq!(two.blocks(600), (2 * (19 + 1), 16));
        // A single one leaves the whole fleet to start again.
        assert_eq!(Brokers { number: 1 }.nodes(400), 800 + 32);
    }

    #[test]
    fn store_load_depends_on_blocks_and_not_on_clients() {
        let three = Brokers { number: 3 };
        let few = three.renewals_per_second(3);
        assert!((few - 6.0 * 0.3).abs() < 1e-9, "{few}");
        let million = three.renewals_per_second(1_000_000);
        assert!((1_171.0..1_180.0).contains(&million), "{million}");
    }

    #[test]
    fn node_count_never_falls_as_processes_increase() {
        for number in [1, 2, 7] {
            let mut before = 0;
            for used in 1..20_000 {
                let nodes = Brokers { number }.nodes(used);
                assert!(nodes >= before, "{number} {used}");
                before = nodes;
            }
        }
    }
}
