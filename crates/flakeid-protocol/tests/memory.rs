//! Runs the conformance suite on the memory store, which is the reference model for all other stores.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests only")]

use std::any::Any;

use flakeid_conformance::{StoreUnderTest, Test, test_store};
use flakeid_protocol::store::Store;
use flakeid_protocol::{MemoryStore, Row};

struct Memory(MemoryStore);

impl StoreUnderTest for Memory {
    fn connect(&self) -> Box<dyn Store> {
        Box::new(self.0.clone())
    }

    /// Does nothing, because this store has no server that could crash while its clients keep running.
    fn crash(&self) {}

    fn backup(&self) -> Box<dyn Any> {
        Box::new(self.0.backup())
    }

    fn restore(&self, copy: Box<dyn Any>) {
        self.0.restore(*copy.downcast().expect("a backup"));
    }

    fn delete_row(&self, _namespace: &str, _node: u64) -> Result<(), String> {
        Err("the library cannot be bypassed".into())
    }

    fn lower_fence(&self, _namespace: &str, _node: u64) -> Result<(), String> {
        Err("the library cannot be bypassed".into())
    }

    fn guards_rows(&self) -> bool {
        true
    }

    fn can_hold(&self, field: &str, text: &str) -> bool {
        field == "fence" && text.parse::<u64>().is_ok()
    }

    fn damage(&self, namespace: &str, node: u64, field: &str, text: &str) {
        assert_eq!(field, "fence");
        let fence = text.parse().unwrap();
        let damage = self.0.clone().transact(namespace, &mut |ledger| {
            let row = ledger.row(node)?.expect("a row");
            ledger.put_row(Some(&row), &Row { fence, ..row.clone() })
        });
        damage.unwrap();
    }

    fn crash_voids_tokens(&self) -> bool {
        false
    }
}

fn on_new_store(test: Test) {
    test(&Memory(MemoryStore::new()));
}

test_store!(shared = on_new_store, own = on_new_store);
