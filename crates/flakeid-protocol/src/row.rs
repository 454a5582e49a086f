use super::Token;

/// The state of a node: whether it can be granted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum State {
    /// The last holder released the node.
    Free,
    /// A process holds the node, or held it until the row expired.
    Held,
    /// An operator took the node out of use.
    Quarantined,
}

impl State {
    /// The name of the state, which stores keep and the command shows.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Free => "free",
            Self::Held => "held",
            Self::Quarantined => "quarantined",
        }
    }

    /// Parses the [`name`](Self::name) of a state.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        [Self::Free, Self::Held, Self::Quarantined].into_iter().find(|state| state.name() == name)
    }
}

/// The holder of a node, for human readers, and for processes that want the last node of their name again.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Owner {
    /// The holder's own name; empty if it has none.
    pub name: String,
    /// The host on which the holder runs.
    pub host: String,
    /// The holder's process ID on that host.
    pub pid: u32,
}

/// The data of a store about one node: written at the first grant, and never deleted.
///
/// `fence` and `start` are ticks, everything else is Unix milliseconds of the store's clock.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Row {
    /// The node.
    pub node: u64,
    /// The first tick of which no ID was or may be issued under any grant so far. Safety depends only on this field; it
    /// falls only in a release.
    pub fence: u64,
    /// The first tick of the latest grant.
    pub start: u64,
    /// The token of the latest holder; `None` after a release.
    pub token: Option<Token>,
    /// The number of grants so far.
    pub grant: u64,
    /// Whether the node can be granted.
    pub state: State,
    /// The latest holder.
    pub owner: Owner,
    /// The time of the grant.
    pub acquired: i64,
    /// The time of the last grant or renewal.
    pub renewed: i64,
    /// The time from which the node may be granted to another holder. Within one run of the store an earlier grant would be
    /// safe; after a restore the holder may continue until then. So only a release by the holder sets it back, unless the row
    /// is `fixed`.
    pub expires: i64,
    /// The namespace's incarnation at the grant, or when the holder continued in a later one.
    pub incarnation: String,
    /// Whether the holder requested exactly this node. Another holder that does so may take the node over, so the holder does
    /// not continue after a restore.
    pub fixed: bool,
    /// The tick below which the history has every sub-grant of the latest grant, in a namespace of blocks; 0 until a broker has
    /// handed some over.
    pub history_until: u64,
}

/// A grant in the append-only history. It ends where the node's next grant starts.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Record {
    /// The node.
    pub node: u64,
    /// The number of the grant among the node's grants, counted from 1.
    pub grant: u64,
    /// The first tick of the grant.
    pub start: u64,
    /// The holder of the grant.
    pub owner: Owner,
    /// The time of the grant, in Unix milliseconds of the store's clock.
    pub acquired: i64,
    /// The row's `history_until` of the previous grant, in a namespace of blocks.
    pub previous_until: u64,
}
