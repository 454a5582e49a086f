//! The record of issued IDs that the audit reads.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::Path;

use flakeid_core::Id;

/// The IDs of one generator in one process, each written before it is used.
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
