use super::Token;

/// The state of a node, which determines whether the node can be granted.
///
/// ```
/// use flakeid_protocol::State;
///
/// assert_eq!(State::Quarantined.name(), "quarantined");
/// assert_eq!(State::from_name("held"), Some(State::Held));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum State {
    /// The last holder released the node.
    Free,
    /// A process was granted the node and has not released the node. The grant may have expired.
    Held,
    /// An operator quarantined the node, so the store does not grant the node.
    Quarantined,
}

impl State {
    /// Returns the state's name, as written to stores and printed by the `flakeid` command.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Free => "free",
            Self::Held => "held",
            Self::Quarantined => "quarantined",
        }
    }

    /// Parses a state's name, as returned by [`name`](Self::name). Returns `None` for any other string.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        [Self::Free, Self::Held, Self::Quarantined].into_iter().find(|state| state.name() == name)
    }
}

/// The holder of a node. The holder is shown to users, and its name identifies a process that requests its previous
/// node again.
///
/// ```
/// use flakeid_protocol::Owner;
///
/// let owner = Owner { name: "cart".into(), host: "web-1".into(), pid: std::process::id() };
/// assert_ne!(owner, Owner::default());
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Owner {
    /// The holder's name; an empty string for a holder without a name.
    pub name: String,
    /// The host on which the holder runs.
    pub host: String,
    /// The holder's process ID on its host.
    pub pid: u32,
}

/// A store's data about one node. A row is written at the first grant, and is never deleted.
///
/// `fence` and `start` are ticks; all other times are Unix milliseconds according to the store's clock.
///
/// ```
/// use flakeid_protocol::{Owner, Row, State, Token};
///
/// let row = Row {
///     node: 7,
///     fence: 11_000,
///     start: 1_000,
///     token: Some(Token::from_bits(1)),
///     grant: 1,
///     state: State::Held,
///     owner: Owner { name: "cart".into(), host: "web-1".into(), pid: 4711 },
///     acquired: 1_800_000_000_000,
///     renewed: 1_800_000_000_000,
///     expires: 1_800_000_060_000,
///     incarnation: "1".into(),
///     fixed: false,
///     history_until: 0,
/// };
/// assert_eq!(row.fence - row.start, 10_000, "the ticks of the first window");
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Row {
    /// The node that the row describes.
    pub node: u64,
    /// The lowest tick at which the node's next grant may start. Earlier holders issue IDs only at lower ticks.
    /// The uniqueness of IDs depends only on this field. Only a release lowers the fence.
    pub fence: u64,
    /// The first tick of the latest grant.
    pub start: u64,
    /// The token of the latest holder; `None` after a release.
    pub token: Option<Token>,
    /// The number of grants of the node so far.
    pub grant: u64,
    /// The node's state: free, held or quarantined.
    pub state: State,
    /// The latest holder.
    pub owner: Owner,
    /// The time of the latest grant.
    pub acquired: i64,
    /// The time of the latest grant or renewal.
    pub renewed: i64,
    /// The time from which the store may grant the node to another holder. After a restore, the holder may continue its
    /// lease until this time. Therefore, unless the row is `fixed`, only a release by the holder or an immediate
    /// release by an operator makes this time earlier. Within one run of the store, granting the node earlier would not
    /// endanger uniqueness, because every grant starts at or above the previous fence.
    pub expires: i64,
    /// The namespace's incarnation in which the node was granted, or in which the holder later continued its lease.
    pub incarnation: String,
    /// Whether the holder requested this specific node. A later request for this specific node may take the node over,
    /// so the holder does not continue its lease after a restore.
    pub fixed: bool,
    /// The tick up to which the history of the latest grant is complete. Below this tick, the history contains all
    /// sub-grants of that grant. Only namespaces of blocks use this field. The value is 0 until a broker has handed
    /// over sub-grants.
    pub history_until: u64,
}

/// A grant in the history. The grant ends where the node's next grant starts.
///
/// ```
/// use flakeid_protocol::{Owner, Record};
///
/// let owner = Owner { name: "cart".into(), host: "web-1".into(), pid: 4711 };
/// let acquired = 1_800_000_000_000;
/// let record = Record { node: 7, grant: 1, start: 1_000, owner, acquired, previous_until: 0 };
/// println!("{} held node {} from tick {} on", record.owner.host, record.node, record.start);
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Record {
    /// The granted node.
    pub node: u64,
    /// The grant's number among all grants of the node. The first grant has the number 1.
    pub grant: u64,
    /// The first tick of the grant.
    pub start: u64,
    /// The holder of the grant.
    pub owner: Owner,
    /// The time of the grant, in Unix milliseconds according to the store's clock.
    pub acquired: i64,
    /// The tick up to which the history of the node's previous grant is complete. Below this tick, the history contains
    /// all sub-grants of that grant. Only namespaces of blocks use this field.
    pub previous_until: u64,
}
