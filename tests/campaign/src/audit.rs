//! The check of every logged ID, which shares no code with the generators.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::ids::{node_of, sequence_of, tick_of};

/// The number of repeated IDs that are listed individually.
const SHOWN: usize = 5;

/// The counts from the ID logs of one kind of generator.
#[derive(Debug, Default)]
pub(crate) struct Audit {
    pub(crate) ids: u64,
    /// The number of logs with at least one ID.
    pub(crate) generators: u64,
    /// The number of repeated IDs, which violate "no ID is issued twice" (I1).
    pub(crate) duplicates: u64,
    /// The number of IDs that are not above the previous ID in the same log (I8).
    pub(crate) disorder: u64,
    /// The number of IDs of nodes that no worker may lease.
    pub(crate) strays: u64,
    /// The first few repeated IDs, each with the logs that contain it.
    pub(crate) traces: Vec<String>,
}

impl Audit {
    /// Reads all ID logs in a folder. Workers may lease only the nodes below `node_count`.
    pub(crate) fn of_folder(folder: &Path, node_count: usize) -> io::Result<Self> {
        let mut paths: Vec<PathBuf> = Vec::new();
        for entry in fs::read_dir(folder)? {
            paths.push(entry?.path());
        }
        paths.sort();
        let mut audit = Self::default();
        let mut nodes = vec![Vec::new(); node_count];
        for path in &paths {
            let mut last = None;
            for id in ids(path)? {
                audit.disorder += u64::from(last.is_some_and(|last| id <= last));
                last = Some(id);
                audit.ids += 1;
                match nodes.get_mut(node_of(id) as usize) {
                    Some(node) => node.push(id),
                    None => audit.strays += 1,
                }
            }
            audit.generators += u64::from(last.is_some());
        }
        let mut repeated = Vec::new();
        for node in &mut nodes {
            node.sort_unstable();
            for pair in node.windows(2).filter(|pair| pair[0] == pair[1]) {
                audit.duplicates += 1;
                if repeated.len() < SHOWN {
                    repeated.push(pair[0]);
                }
            }
        }
        audit.traces = traces(&paths, &repeated)?;
        Ok(audit)
    }
}

/// Returns the IDs of a log. A kill may have truncated the last ID, which then was not used.
fn ids(path: &Path) -> io::Result<impl Iterator<Item = u64>> {
    let bytes = fs::read(path)?;
    let count = bytes.len() / 8;
    Ok((0..count).map(move |at| {
        let mut id = [0; 8];
        id.copy_from_slice(&bytes[at * 8..at * 8 + 8]);
        u64::from_le_bytes(id)
    }))
}

fn traces(paths: &[PathBuf], repeated: &[u64]) -> io::Result<Vec<String>> {
    if repeated.is_empty() {
        return Ok(Vec::new());
    }
    let mut places: BTreeMap<u64, Vec<String>> = BTreeMap::new();
    for path in paths {
        for (at, id) in ids(path)?.enumerate() {
            if repeated.contains(&id) {
                let name = path.file_name().unwrap_or_default().display();
                places.entry(id).or_default().push(format!("{name} at {at}"));
            }
        }
    }
    let lines = places.into_iter().map(|(id, places)| {
        let (tick, node, sequence) = (tick_of(id), node_of(id), sequence_of(id));
        format!("{id} (tick {tick}, node {node}, sequence {sequence}): {}", places.join(", "))
    });
    Ok(lines.collect())
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;
    use crate::ids::{IdLog, id_of};
    use crate::shared_memory::NODES;

    fn audit_of(id_logs: &[(&str, &[u64])]) -> Audit {
        let folder = tempfile::tempdir().unwrap();
        for (name, ids) in id_logs {
            IdLog::create(folder.path(), name).unwrap().write(ids.iter().copied()).unwrap();
        }
        Audit::of_folder(folder.path(), NODES).unwrap()
    }

    #[test]
    fn audit_accepts_unique_increasing_ids_of_known_nodes() {
        let audit = audit_of(&[
            ("one", &[id_of(5, 0, 0), id_of(5, 0, 1), id_of(9, 1, 0)]),
            ("two", &[id_of(5, 1, 0), id_of(6, 0, 0)]),
            ("three", &[]),
        ]);
        assert_eq!((audit.ids, audit.generators), (5, 2));
        assert_eq!((audit.duplicates, audit.disorder, audit.strays), (0, 0, 0));
    }

    #[test]
    fn audit_counts_repeated_and_unordered_ids_and_ids_of_unknown_nodes() {
        let (twice, stray) = (id_of(5, 3, 7), id_of(5, NODES as u64, 0));
        let audit = audit_of(&[("one", &[twice, stray]), ("two", &[id_of(6, 3, 0), twice])]);
        assert_eq!((audit.duplicates, audit.disorder, audit.strays), (1, 1, 1));
        assert_eq!(audit.traces.len(), 1);
        assert!(audit.traces[0].contains("node 3") && audit.traces[0].contains("two at 1"));
    }
}
