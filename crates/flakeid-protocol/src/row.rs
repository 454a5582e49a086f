use super::Token;

/// Whether a node can be granted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum State {
    /// Its last holder released it.
    Free,
    /// Somebody holds it, or held it until it expired.
    Held,
    /// An operator took it out of use.
    Quarantined,
}

impl State {
    /// As stores keep it and the command shows it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Free => "free",
            Self::Held => "held",
            Self::Quarantined => "quarantined",
        }
    }

    /// The reverse of [`name`](Self::name).
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        [Self::Free, Self::Held, Self::Quarantined].into_iter().find(|state| state.name() == name)
    }
}

/// Who holds a node, for people to read and for names that want their node back.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Owner {
    /// The holder's own name; empty if it has none.
    pub name: String,
    /// The host it runs on.
    pub host: String,
    /// Its process ID there.
    pub pid: u32,
}

/// What a store keeps about one node: written at its first grant, never deleted.
///
/// `fence` and `start` are ticks, everything else is Unix milliseconds of the store's clock.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Row {
    /// The node.
    pub node: u64,
    /// No ID of this tick or a later one was or may be issued under any grant so far. Safety
    /// rests on this alone; it falls only in a release.
    pub fence: u64,
    /// The first tick of the latest grant.
    pub start: u64,
    /// The latest holder's; `None` once released.
    pub token: Option<Token>,
    /// How many grants there were.
    pub grant: u64,
    /// Whether it can be granted.
    pub state: State,
    /// The latest holder.
    pub owner: Owner,
    /// When it was granted.
    pub acquired: i64,
    /// When it was last granted or renewed.
    pub renewed: i64,
    /// From when on it may be granted to another. Within one run of the store granting it earlier
    /// would be safe; after a restoration its holder may go on until then. So nothing but a release
    /// by the holder sets it back, unless the row is `fixed`.
    pub expires: i64,
    /// The namespace's incarnation when it was granted, or when its holder went on in a later one.
    pub incarnation: String,
    /// Whether its holder asked for this very node. Another one that does may take it over, so its
    /// holder does not go on after a restoration.
    pub fixed: bool,
    /// In a namespace of blocks: the history has every sub-grant of the latest grant that starts below
    /// this tick. 0 until a broker has handed some over.
    pub history_until: u64,
}

/// One grant, in the append-only history. It ends where the node's next one starts.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Record {
    /// The node.
    pub node: u64,
    /// Which of the node's grants, counted from 1.
    pub grant: u64,
    /// Its first tick.
    pub start: u64,
    /// Who got it.
    pub owner: Owner,
    /// When, in Unix milliseconds of the store's clock.
    pub acquired: i64,
    /// In a namespace of blocks: the row's `history_until` of the grant before this one.
    pub previous_until: u64,
}
