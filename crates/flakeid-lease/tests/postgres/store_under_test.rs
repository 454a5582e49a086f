use std::any::Any;

use flakeid_lease::conformance::StoreUnderTest;
use flakeid_lease::store::Store;
use flakeid_test_servers::{PostgresServer, Server};
use tempfile::TempDir;

use crate::client::eventually_connect;

pub(crate) struct Postgres(pub(crate) PostgresServer);

impl StoreUnderTest for Postgres {
    fn connect(&self) -> Box<dyn Store> {
        eventually_connect(&self.0.url())
    }

    fn crash(&self) {
        self.0.kill();
        self.0.start();
    }

    fn backup(&self) -> Box<dyn Any> {
        Box::new(self.0.backup())
    }

    fn restore(&self, copy: Box<dyn Any>) {
        self.0.restore(&copy.downcast::<TempDir>().expect("a backup"));
    }

    fn delete_row(&self, namespace: &str, node: u64) -> Result<(), String> {
        let condition = format!("namespace = '{namespace}' AND node = {node}");
        self.0.sql(&format!("DELETE FROM flakeid_node WHERE {condition}")).map(drop)
    }

    fn lower_fence(&self, namespace: &str, node: u64) -> Result<(), String> {
        let condition = format!("namespace = '{namespace}' AND node = {node}");
        let change = "SET fence = fence - 1";
        self.0.sql(&format!("UPDATE flakeid_node {change} WHERE {condition}")).map(drop)
    }

    fn guards_rows(&self) -> bool {
        true
    }

    /// As somebody does who owns the tables: no trigger, no check.
    fn damage(&self, namespace: &str, node: u64, field: &str, text: &str) {
        let checks = "SELECT string_agg('DROP CONSTRAINT ' || conname, ', ') FROM pg_constraint \
             WHERE conrelid = 'flakeid_node'::regclass AND contype = 'c'";
        let dropped = self.0.sql(checks).unwrap();
        if !dropped.is_empty() {
            self.0.sql(&format!("ALTER TABLE flakeid_node {dropped}")).unwrap();
        }
        self.0
            .sql(&format!(
                "ALTER TABLE flakeid_node DISABLE TRIGGER USER;
                 UPDATE flakeid_node SET {field} = '{text}'
                     WHERE namespace = '{namespace}' AND node = {node};
                 ALTER TABLE flakeid_node ENABLE TRIGGER USER"
            ))
            .unwrap();
    }

    fn crash_voids_tokens(&self) -> bool {
        true
    }

    fn can_hold(&self, field: &str, text: &str) -> bool {
        field != "fence" || text.parse::<i64>().is_ok()
    }
}
