use std::any::Any;
use std::fs;

use flakeid_conformance::StoreUnderTest;
use flakeid_protocol::store::Store;
use flakeid_test_servers::{RedisServer, Server};
use tempfile::TempDir;

use crate::client::eventually_connect;
use crate::optimistic::{self, copy};

pub(crate) struct Redis(pub(crate) RedisServer);

impl Redis {
    /// Changes a field in the JSON of a row.
    fn edit(&self, namespace: &str, node: u64, change: impl FnOnce(&mut serde_json::Value)) {
        let (key, node) = (format!("flakeid:{{{namespace}}}:rows"), format!("{node:020}"));
        let text = self.0.command(&["HGET", &key, &node]).unwrap();
        let mut row = serde_json::from_str(&text).unwrap();
        change(&mut row);
        self.0.command(&["HSET", &key, &node, &row.to_string()]).unwrap();
    }
}

impl StoreUnderTest for Redis {
    fn connect(&self) -> Box<dyn Store> {
        eventually_connect(&self.0.url())
    }

    fn crash(&self) {
        self.0.kill();
        self.0.start();
    }

    /// Copies the append-only file. Redis allows this file to be copied at any time.
    fn backup(&self) -> Box<dyn Any> {
        let copied = tempfile::tempdir().unwrap();
        copy(&self.0.data(), copied.path());
        Box::new(copied)
    }

    fn restore(&self, older: Box<dyn Any>) {
        let older = older.downcast::<TempDir>().expect("a backup");
        self.0.stop();
        fs::remove_dir_all(self.0.data()).unwrap();
        copy(older.path(), &self.0.data());
        self.0.start();
    }

    fn delete_row(&self, namespace: &str, node: u64) -> Result<(), String> {
        let key = format!("flakeid:{{{namespace}}}:rows");
        self.0.command(&["HDEL", &key, &format!("{node:020}")]).map(drop)
    }

    optimistic::edit_rows!();
}
