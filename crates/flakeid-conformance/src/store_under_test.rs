use std::any::Any;

use flakeid_protocol::store::Store;

/// A store under test, with operations for events that an operator, an accident or an attacker
/// could cause.
///
/// An implementation panics when an operation fails, so that the test fails.
///
/// ```
/// use std::any::Any;
///
/// use flakeid_conformance::{StoreUnderTest, grants};
/// use flakeid_protocol::store::Store;
/// use flakeid_protocol::{MemoryContents, MemoryStore};
///
/// struct Memory(MemoryStore);
///
/// impl StoreUnderTest for Memory {
///     fn connect(&self) -> Box<dyn Store> {
///         Box::new(self.0.clone())
///     }
///
///     fn crash(&self) {
///         self.0.restore(self.0.backup());
///     }
///
///     fn backup(&self) -> Box<dyn Any> {
///         Box::new(self.0.backup())
///     }
///
///     fn restore(&self, copy: Box<dyn Any>) {
///         self.0.restore(*copy.downcast::<MemoryContents>().unwrap());
///     }
///
///     fn delete_row(&self, _namespace: &str, _node: u64) -> Result<(), String> {
///         Err("only this process can change its memory".into())
///     }
///
///     fn lower_fence(&self, _namespace: &str, _node: u64) -> Result<(), String> {
///         Err("only this process can change its memory".into())
///     }
///
///     fn guards_rows(&self) -> bool {
///         true
///     }
///
///     fn damage(&self, _namespace: &str, _node: u64, _field: &str, _text: &str) {}
///
///     fn crash_voids_tokens(&self) -> bool {
///         true
///     }
///
///     fn can_hold(&self, _field: &str, _text: &str) -> bool {
///         false
///     }
/// }
///
/// // `flakeid_conformance::test_store!` defines a test function for each test.
/// grants::first_grant_starts_at_the_current_tick(&Memory(MemoryStore::new()));
/// ```
pub trait StoreUnderTest: Sync {
    /// Opens another connection, as another process would.
    fn connect(&self) -> Box<dyn Store>;

    /// Kills the server without warning and restarts it on the same data, or does the closest equivalent for a store
    /// without a server.
    fn crash(&self);

    /// Copies all data, as a backup would.
    fn backup(&self) -> Box<dyn Any>;

    /// Restores an older copy of the data in the same way as an operator of this store would.
    fn restore(&self, copy: Box<dyn Any>);

    /// Tries to delete a node's row, bypassing this library. Returns `Ok` if the store allowed the deletion.
    ///
    /// # Errors
    /// The error from the store, if it refuses the deletion.
    fn delete_row(&self, namespace: &str, node: u64) -> Result<(), String>;

    /// Tries to lower a node's fence by one tick, bypassing this library. Returns `Ok` if the store allowed the
    /// change.
    ///
    /// # Errors
    /// The error from the store, if it refuses the change.
    fn lower_fence(&self, namespace: &str, node: u64) -> Result<(), String>;

    /// Whether the store itself refuses [`delete_row`](Self::delete_row) and [`lower_fence`](Self::lower_fence).
    /// Key-value stores cannot refuse such changes.
    fn guards_rows(&self) -> bool;

    /// Writes an invalid value into a field of a node's row (`fence`, `token` or `state`), bypassing this library.
    fn damage(&self, namespace: &str, node: u64, field: &str, text: &str);

    /// Whether a crash voids all tokens, as a restore would. This is the case for stores that cannot distinguish a
    /// crash from a restore.
    fn crash_voids_tokens(&self) -> bool;

    /// Whether a field of a row can hold the given string. Typed columns cannot hold every string.
    fn can_hold(&self, field: &str, text: &str) -> bool {
        let _ = (field, text);
        true
    }
}
