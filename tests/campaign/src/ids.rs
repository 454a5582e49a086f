//! The log of issued IDs, which the audit reads, and the bit fields of IDs. The fields are defined
//! here again, so that the audit shares no code with the generators that it checks.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::Path;

use flakeid_core::{Id, Layout};

pub(crate) const LAYOUT: Layout = Layout::TWITTER;
const NODE_BITS: u32 = 10;
const SEQUENCE_BITS: u32 = 12;

/// The highest sequence number in a tick.
pub(crate) const MAX_SEQUENCE: u64 = (1 << SEQUENCE_BITS) - 1;

pub(crate) fn id_of(tick: u64, node: u64, sequence: u64) -> u64 {
    (tick << NODE_BITS | node) << SEQUENCE_BITS | sequence
}

pub(crate) fn node_of(id: u64) -> u64 {
    id >> SEQUENCE_BITS & ((1 << NODE_BITS) - 1)
}

pub(crate) fn tick_of(id: u64) -> u64 {
    id >> (SEQUENCE_BITS + NODE_BITS)
}

pub(crate) fn sequence_of(id: u64) -> u64 {
    id & MAX_SEQUENCE
}

/// The log of the IDs of one generator in one process. Each ID is written before it is used.
pub(crate) struct IdLog {
    file: File,
    bytes: Vec<u8>,
}

impl IdLog {
    pub(crate) fn create(folder: &Path, name: &str) -> io::Result<Self> {
        let file = OpenOptions::new().append(true).create_new(true).open(folder.join(name))?;
        Ok(Self { file, bytes: Vec::new() })
    }

    pub(crate) fn write(&mut self, ids: impl IntoIterator<Item = u64>) -> io::Result<()> {
        self.bytes.clear();
        for id in ids {
            self.bytes.extend_from_slice(&id.to_le_bytes());
        }
        self.file.write_all(&self.bytes)
    }

    pub(crate) fn write_ids(&mut self, ids: &[Id]) -> io::Result<()> {
        self.write(ids.iter().map(|id| id.to_u64()))
    }
}
