/// What an ID says, field by field.
///
/// `unix_ms` repeats `tick`, and `datacenter` with `worker` repeat `node`; see
/// [`Layout::pack`](crate::Layout::pack).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Parts {
    /// Whole units since the layout's epoch.
    pub tick: u64,
    /// The instant at which that tick begins, in Unix milliseconds.
    pub unix_ms: i64,
    /// The whole machine field; 0 where the layout has none.
    pub node: u64,
    /// The node's high part; `None` where the layout does not split it.
    pub datacenter: Option<u64>,
    /// The node's low part; `None` where the layout does not split it.
    pub worker: Option<u64>,
    /// The clock sequence; 0 where the layout has none.
    pub clock_sequence: u64,
    /// The counter within the tick; 0 where the layout has none.
    pub sequence: u64,
}
