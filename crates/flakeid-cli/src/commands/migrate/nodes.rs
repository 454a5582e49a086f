//! The nodes that another library still uses.

use std::collections::BTreeSet;

use flakeid_core::{Error, Layout};

use crate::format::number::{grouped, parse};

/// The maximum number of nodes that one migration can quarantine. To exclude more nodes, users must
/// limit their programs to a range of nodes that the other library does not use.
const MOST: usize = 4096;

/// Parses nodes such as `7`, `3,5-9` or `1/7` (datacenter 1 and worker 7), and returns them in
/// ascending order.
pub(super) fn read(texts: &[String], layout: &Layout) -> Result<BTreeSet<u64>, Error> {
    let mut nodes = BTreeSet::new();
    for part in texts.iter().flat_map(|text| text.split(',')) {
        let (first, last) = match part.split_once('-') {
            Some((first, last)) => (node(first, layout)?, node(last, layout)?),
            None => (node(part, layout)?, node(part, layout)?),
        };
        if first > last {
            let reason = format!("range {part} is reversed: write the smaller node first");
            return Err(Error::invalid_option("--in-use", &reason));
        }
        // One node more than the limit is enough to detect that the range is too large. A list of
        // all 2^22 nodes would waste memory.
        nodes.extend((first..=last).take(MOST + 1));
        if nodes.len() > MOST {
            let reason = format!(
                "at most {} nodes can be quarantined at once: give programs a range of nodes \
                 that the other library does not use",
                grouped(MOST as u64)
            );
            return Err(Error::invalid_option("--in-use", &reason));
        }
    }
    Ok(nodes)
}

fn node(text: &str, layout: &Layout) -> Result<u64, Error> {
    let Some((datacenter, worker)) = text.split_once('/') else {
        return parse("node", text, 0, layout.max_node());
    };
    let Some((max_datacenter, max_worker)) = layout.max_datacenter_and_worker() else {
        let reason = format!(
            "{text} specifies a datacenter and a worker, but the layout does not split the node \
             number into these two fields"
        );
        return Err(Error::invalid_option("--in-use", &reason));
    };
    let datacenter = parse("datacenter", datacenter, 0, max_datacenter)?;
    layout.join_node(datacenter, parse("worker", worker, 0, max_worker)?)
}

/// Formats nodes as `3, 5-9`, with consecutive nodes joined into ranges.
pub(super) fn shown(nodes: &BTreeSet<u64>) -> String {
    let mut ranges: Vec<(u64, u64)> = Vec::new();
    for &node in nodes {
        match ranges.last_mut() {
            Some((_, last)) if *last + 1 == node => *last = node,
            _ => ranges.push((node, node)),
        }
    }
    let texts: Vec<String> = ranges
        .into_iter()
        .map(
            |(first, last)| {
                if first == last { first.to_string() } else { format!("{first}-{last}") }
            },
        )
        .collect();
    texts.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str, layout: &Layout) -> Result<String, String> {
        let nodes = read(&[text.to_owned()], layout);
        nodes.map(|nodes| shown(&nodes)).map_err(|error| error.to_string())
    }

    #[test]
    fn node_list_accepts_numbers_or_ranges_or_datacenter_worker_pairs() {
        let twitter = Layout::TWITTER;
        for (text, nodes) in
            [("7", "7"), ("9,3,5-8,7", "3, 5-9"), ("1/7,1/8", "39-40"), ("0-1023", "0-1023")]
        {
            assert_eq!(of(text, &twitter).as_deref(), Ok(nodes), "{text}");
        }
        for (layout, text, part) in [
            (twitter, "1024", "node 1024 is out of range: must be from 0 to 1023"),
            (twitter, "1/32", "worker 32 is out of range: must be from 0 to 31"),
            (twitter, "32/1", "datacenter 32 is out of range: must be from 0 to 31"),
            (twitter, "9-3", "range 9-3 is reversed"),
            (twitter, "", "node \"\" is out of range"),
            (twitter, "-1", "node \"\" is out of range"),
            (Layout::PLAIN, "1/7", "but the layout does not split the node number"),
            (Layout::SONYFLAKE, "0-65535", "at most 4,096 nodes can be quarantined"),
        ] {
            let text = of(text, &layout).err().unwrap_or_default();
            assert!(text.contains(part), "{text}");
        }
    }
}
