use std::any::Any;

use flakeid_protocol::store::Store;

/// A store under test, with what an operator, an accident or an attacker can do to it.
///
/// Everything here panics when it does not work: a test that cannot do what it wants has failed.
pub trait StoreUnderTest: Sync {
    /// A further connection, as another process would have it.
    fn connect(&self) -> Box<dyn Store>;

    /// Kills the server without warning and starts it again on the same data. Where there is no
    /// server, does what comes nearest.
    fn crash(&self);

    /// A copy of everything, as a backup would have it.
    fn backup(&self) -> Box<dyn Any>;

    /// Puts an older copy back, in the way that is usual for this store.
    fn restore(&self, copy: Box<dyn Any>);

    /// Tries, bypassing this library, to delete a node's row. `Ok` if the store let it happen.
    ///
    /// # Errors
    /// The store's refusal.
    fn delete_row(&self, namespace: &str, node: u64) -> Result<(), String>;

    /// Tries, bypassing this library, to lower a node's fence by one tick. `Ok` if the store let it
    /// happen.
    ///
    /// # Errors
    /// The store's refusal.
    fn lower_fence(&self, namespace: &str, node: u64) -> Result<(), String>;

    /// Whether the store itself refuses those two. Key-value stores cannot.
    fn guards_rows(&self) -> bool;

    /// Writes nonsense into a field of a node's row, bypassing this library: `fence`, `token`, `state`.
    fn damage(&self, namespace: &str, node: u64, field: &str, text: &str);

    /// Whether a crash counts as a restoration, because the store tells no difference.
    fn crash_voids_tokens(&self) -> bool;

    /// Whether a field of a row can hold a text at all: typed columns cannot hold all nonsense.
    fn can_hold(&self, field: &str, text: &str) -> bool {
        let _ = (field, text);
        true
    }
}
