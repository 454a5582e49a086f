//! The options that set the node of a generator: a node number, a datacenter with a worker, or
//! several node numbers.

use alloc::format;
use alloc::vec;
use alloc::vec::Vec;

use crate::sync::NativeOnly;
use crate::{Error, Layout};

/// The options of a generator that set its node. The node must be set in exactly one way: with
/// `node`, with `datacenter` and `worker`, or with `several`.
#[derive(Default)]
pub(super) struct NodeChoice {
    pub(super) node: Option<u64>,
    pub(super) several: Option<NativeOnly<Vec<u64>>>,
    pub(super) datacenter: Option<u64>,
    pub(super) worker: Option<u64>,
}

impl NodeChoice {
    /// Returns the nodes in increasing order. The number of nodes is a power of two.
    pub(super) fn resolve(&self, layout: &Layout) -> Result<Vec<u64>, Error> {
        let Some(several) = &self.several else { return Ok(vec![self.one(layout)?]) };
        let refused = |reason: &str| Err(Error::invalid_option("nodes", reason));
        let Some(nodes) = several.get() else { return refused("not available on WebAssembly") };
        if self.node.is_some() || self.datacenter.is_some() || self.worker.is_some() {
            return refused("give either `nodes` or one node, not both");
        }
        if !nodes.len().is_power_of_two() {
            return refused(&format!(
                "{} nodes were given; the number of nodes must be a power of two",
                nodes.len()
            ));
        }
        let mut nodes = nodes.clone();
        nodes.sort_unstable();
        if let Some((twice, _)) = nodes.iter().zip(&nodes[1..]).find(|(a, b)| a == b) {
            return refused(&format!("node {twice} is given twice"));
        }
        if nodes.len() > 1 {
            let (time, _, clock_sequence, sequence) = layout.spans();
            let more = nodes.len().trailing_zeros();
            if clock_sequence.width > 0 {
                return refused(
                    "several nodes cannot be combined with a layout that has a clock sequence (c)",
                );
            }
            if u32::from(time.width + sequence.width) + more > 63 {
                return refused(&format!(
                    "{} nodes need {more} bits in addition to the {} bits of time and the {} bits of \
                     sequence, and at most 63 bits are available; give fewer nodes",
                    nodes.len(),
                    time.width,
                    sequence.width
                ));
            }
        }
        Ok(nodes)
    }

    fn one(&self, layout: &Layout) -> Result<u64, Error> {
        match (self.node, self.datacenter, self.worker) {
            (Some(_), Some(_), _) | (Some(_), _, Some(_)) => Err(Error::invalid_option(
                "node",
                "give either `node`, or `datacenter` with `worker`, not both",
            )),
            (Some(node), None, None) => Ok(node),
            (None, Some(datacenter), Some(worker)) => {
                layout.join_node(datacenter, worker).map_err(Error::of_option)
            }
            (None, Some(_), None) => Err(Error::invalid_option(
                "worker",
                "missing: `datacenter` and `worker` go together",
            )),
            (None, None, Some(_)) => Err(Error::invalid_option(
                "datacenter",
                "missing: `datacenter` and `worker` go together",
            )),
            (None, None, None) if layout.max_node() == 0 => Ok(0),
            (None, None, None) => Err(Error::invalid_option(
                "node",
                &format!(
                    "missing: give a node from 0 to {} that no other generator of this layout \
                     uses at the same time",
                    layout.max_node()
                ),
            )),
        }
    }
}
