use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::Path;

use flakeid_core::Id;

/// Where the IDs of one generator in one process are written down before they are used.
pub(crate) struct Notebook {
    file: File,
    bytes: Vec<u8>,
}

impl Notebook {
    pub(crate) fn begin(folder: &Path, name: &str) -> io::Result<Self> {
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
