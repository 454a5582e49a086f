use std::any::Any;

use flakeid_conformance::StoreUnderTest;
use flakeid_protocol::store::Store;
use flakeid_test_servers::{EtcdServer, Server};
use tempfile::TempDir;

use crate::client::eventually_connect;
use crate::optimistic;

pub(crate) struct Etcd(pub(crate) EtcdServer);

impl Etcd {
    /// Applies a change to the JSON object of a row.
    fn edit(&self, namespace: &str, node: u64, change: impl FnOnce(&mut serde_json::Value)) {
        let key = row_key(namespace, node);
        let text = self.0.ctl(&["get", "--print-value-only", &key]).unwrap();
        let mut row = serde_json::from_str(&text).unwrap();
        change(&mut row);
        self.0.ctl(&["put", &key, &row.to_string()]).unwrap();
    }
}

fn row_key(namespace: &str, node: u64) -> String {
    format!("/flakeid/{namespace}/row/{node:020}")
}

impl StoreUnderTest for Etcd {
    fn connect(&self) -> Box<dyn Store> {
        eventually_connect(&self.0.url())
    }

    fn crash(&self) {
        self.0.kill();
        self.0.start();
    }

    /// Saves a snapshot instead of copying the files, because a restored snapshot is harder to detect.
    fn backup(&self) -> Box<dyn Any> {
        let saved = tempfile::tempdir().unwrap();
        self.0.save(&saved.path().join("snapshot"));
        Box::new(saved)
    }

    fn restore(&self, copy: Box<dyn Any>) {
        let saved = copy.downcast::<TempDir>().expect("a backup");
        self.0.restore(&saved.path().join("snapshot"));
    }

    fn delete_row(&self, namespace: &str, node: u64) -> Result<(), String> {
        self.0.ctl(&["del", &row_key(namespace, node)]).map(drop)
    }

    optimistic::edit_rows!();
}
