use std::any::Any;

use flakeid_protocol::store::Store;

/// A store under test, with operations that an operator, an accident or an attacker could cause.
///
/// An implementation panics when an operation fails, so that the test fails.
pub trait StoreUnderTest: Sync {
    /// Opens another connection, as another process would.
    fn connect(&self) -> Box<dyn Store>;

    /// Kills the server without warning and starts it again on the same data. A store without a server does what
    /// is most similar.
    fn crash(&self);

    /// Copies all data, as a backup does.
    fn backup(&self) -> Box<dyn Any>;

    /// Restores an older copy in the way that operators of this store do.
    fn restore(&self, copy: Box<dyn Any>);

    /// Tries to delete a node's row, bypassing this library. Returns `Ok` if the store allowed it.
    ///
    /// # Errors
    /// The store's refusal.
    fn delete_row(&self, namespace: &str, node: u64) -> Result<(), String>;

    /// Tries to lower a node's fence by one tick, bypassing this library. Returns `Ok` if the store allowed it.
    ///
    /// # Errors
    /// The store's refusal.
    fn lower_fence(&self, namespace: &str, node: u64) -> Result<(), String>;

    /// Whether the store itself refuses [`delete_row`](Self::delete_row) and
    /// [`lower_fence`](Self::lower_fence). Key-value stores cannot.
    fn guards_rows(&self) -> bool;

    /// Writes an invalid value into a field of a node's row (`fence`, `token` or `state`), bypassing this library.
    fn damage(&self, namespace: &str, node: u64, field: &str, text: &str);

    /// Whether a crash counts as a restore, because this store cannot distinguish the two.
    fn crash_voids_tokens(&self) -> bool;

    /// Whether a field of a row can hold a string. Typed columns cannot hold every string.
    fn can_hold(&self, field: &str, text: &str) -> bool {
        let _ = (field, text);
        true
    }
}
