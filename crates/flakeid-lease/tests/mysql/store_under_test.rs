use std::any::Any;

use flakeid_lease::conformance::StoreUnderTest;
use flakeid_lease::store::Store;
use flakeid_test_servers::{MariadbServer, Server};

use crate::client::connect;

pub(crate) struct Mariadb(pub(crate) MariadbServer);

impl StoreUnderTest for Mariadb {
    fn connect(&self) -> Box<dyn Store> {
        connect(&self.0.url()).unwrap()
    }

    fn crash(&self) {
        self.0.kill();
        self.0.start();
    }

    fn backup(&self) -> Box<dyn Any> {
        Box::new(self.0.dump())
    }

    fn restore(&self, copy: Box<dyn Any>) {
        self.0.load(&copy.downcast::<String>().expect("a backup"));
    }

    fn delete_row(&self, namespace: &str, node: u64) -> Result<(), String> {
        let condition = format!("namespace = '{namespace}' AND node = {node}");
        self.0.sql(&format!("DELETE FROM ids.flakeid_node WHERE {condition}")).map(drop)
    }

    fn lower_fence(&self, namespace: &str, node: u64) -> Result<(), String> {
        let condition = format!("namespace = '{namespace}' AND node = {node}");
        let change = "SET fence = fence - 1";
        self.0.sql(&format!("UPDATE ids.flakeid_node {change} WHERE {condition}")).map(drop)
    }

    fn guards_rows(&self) -> bool {
        true
    }

    /// As somebody does who may switch checks off.
    fn damage(&self, namespace: &str, node: u64, field: &str, text: &str) {
        self.0
            .sql(&format!(
                "SET check_constraint_checks = 0;
                 UPDATE ids.flakeid_node SET {field} = '{text}'
                     WHERE namespace = '{namespace}' AND node = {node}"
            ))
            .unwrap();
    }

    fn crash_voids_tokens(&self) -> bool {
        true
    }

    fn can_hold(&self, field: &str, text: &str) -> bool {
        match field {
            // A lower one is refused by a trigger, a text by the column.
            "fence" => text.parse::<i64>().is_ok_and(|fence| fence > 0),
            "token" => text.len() <= 32,
            _ => text.len() <= 16,
        }
    }
}
