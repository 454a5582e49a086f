use flakeid_core::{Error, Layout, without_url};

/// The bounds of a namespace, in milliseconds. Together, they limit every fence (I9): `fence ≤ tick(store's clock +
/// max_skew) + max_ahead + max_window + 1`, in ticks, with the durations rounded up. The 1 is the tick after the last
/// used tick, from which renewals count.
///
/// ```
/// use flakeid_core::Layout;
/// use flakeid_protocol::Bounds;
///
/// let longer = Bounds { max_window_ms: 60_000, ..Bounds::of(&Layout::TWITTER) };
/// assert!(longer.check(&Layout::TWITTER).is_err(), "a restored store must wait for longer");
/// longer.with_usual_quiet(&Layout::TWITTER).check(&Layout::TWITTER)?;
/// # Ok::<(), flakeid_core::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Bounds {
    /// The longest allowed window, in milliseconds.
    pub max_window_ms: u64,
    /// The maximum time, in milliseconds, by which IDs or the start of a window may be ahead of the clock.
    pub max_ahead_ms: u64,
    /// The largest allowed difference between a client's clock and the store's clock, in milliseconds.
    pub max_skew_ms: u64,
    /// The time, in milliseconds on the store's clock, for which a restored store grants nothing. If a store is
    /// restored, a holder may continue its lease for `quiet_ms` minus four times `max_skew_ms` after its last renewal.
    /// During that time, no other copy of the store can have granted the node.
    pub quiet_ms: u64,
}

impl Bounds {
    /// Returns the default bounds: `max_window_ms` is 10 s, `max_ahead_ms` is 20 s, `max_skew_ms` is 1 s, and
    /// `quiet_ms` is at least 15 s. In layouts with long ticks, `max_window_ms` and `max_ahead_ms` are at least four
    /// ticks, because a window needs at least two ticks. The larger bounds also let a process restart quickly without
    /// waiting for a node.
    ///
    /// With these bounds, a process can continue its lease after a restore if the process could issue IDs at the time
    /// of the restore. The reason is that `quiet_ms` minus four times `max_skew_ms` is longer than a window.
    #[must_use]
    pub fn of(layout: &Layout) -> Self {
        let reach = |least: u64| least.max(layout.unit_ms().saturating_mul(4));
        let (max_window_ms, max_ahead_ms) = (reach(10_000), reach(20_000));
        let bounds = Self { max_window_ms, max_ahead_ms, max_skew_ms: 1_000, quiet_ms: 0 };
        bounds.with_usual_quiet(layout)
    }

    /// Sets `quiet_ms` to the default that suits the other bounds. The default is at least 15 s, and lets a process
    /// continue its lease after a restore if the process could issue IDs at the time of the restore.
    #[must_use]
    pub fn with_usual_quiet(self, layout: &Layout) -> Self {
        let skews = self.max_skew_ms.saturating_mul(2);
        let enough = self.least_quiet_ms(layout).saturating_add(skews);
        Self { quiet_ms: enough.div_ceil(1_000).saturating_mul(1_000).max(15_000), ..self }
    }

    /// Returns the shortest time, in milliseconds, for which a restored store must grant nothing. During this time,
    /// processes may still use grants that the store has lost.
    #[must_use]
    pub const fn least_quiet_ms(&self, layout: &Layout) -> u64 {
        let skews = self.max_skew_ms.saturating_mul(2);
        self.max_window_ms.saturating_add(skews).saturating_add(layout.unit_ms())
    }

    /// Returns the time, in milliseconds, for which a holder may continue its lease after its last renewal if its store
    /// is restored.
    #[must_use]
    pub const fn continuation_ms(&self) -> u64 {
        self.quiet_ms.saturating_sub(self.max_skew_ms.saturating_mul(4))
    }

    /// Checks that the bounds are usable with a layout.
    ///
    /// # Errors
    /// [`FieldOutOfRange`](flakeid_core::ErrorKind::FieldOutOfRange) with the name of the bound.
    pub fn check(&self, layout: &Layout) -> Result<(), Error> {
        let shortest = layout.unit_ms().saturating_mul(2);
        let (day, week) = (Self::MOST_MS, Self::MOST_MS * 7);
        for (name, value, min, max) in [
            ("max_window_ms", self.max_window_ms, shortest, day),
            ("max_ahead_ms", self.max_ahead_ms, 0, day),
            ("max_skew_ms", self.max_skew_ms, 1, day),
            ("quiet_ms", self.quiet_ms, self.least_quiet_ms(layout), week),
        ] {
            if value < min || value > max {
                return Err(Error::option_out_of_range(name, &value, min, max));
            }
        }
        Ok(())
    }

    /// Returns bounds in which each bound is the larger of the values in `self` and `other`. The result covers all
    /// grants made under either set of bounds.
    #[must_use]
    pub fn fieldwise_max(&self, other: &Self) -> Self {
        Self {
            max_window_ms: self.max_window_ms.max(other.max_window_ms),
            max_ahead_ms: self.max_ahead_ms.max(other.max_ahead_ms),
            max_skew_ms: self.max_skew_ms.max(other.max_skew_ms),
            quiet_ms: self.quiet_ms.max(other.quiet_ms),
        }
    }

    /// The largest allowed value of each bound except `quiet_ms`: one day. A larger value was probably given in the
    /// wrong unit.
    const MOST_MS: u64 = 86_400_000;
}

/// An ID space in a store. Each node is leased to one process at a time.
///
/// ```
/// use flakeid_core::Layout;
/// use flakeid_protocol::Namespace;
///
/// let mut namespace = Namespace::new("orders", Layout::TWITTER);
/// namespace.block_bits = 4;
/// namespace.check_block_bits()?;
/// assert_eq!((namespace.row_of(37), namespace.max_row()), (2, 63));
/// # Ok::<(), flakeid_core::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Namespace {
    /// The name: 1 to 64 characters of `A-Z a-z 0-9 . _ -`.
    pub name: String,
    /// The layout of the IDs, which never changes.
    pub layout: Layout,
    /// The base-2 logarithm of the number of nodes in a block, which never changes. If the value is 0, processes
    /// lease single nodes. Otherwise, a broker leases a block of neighbouring nodes and grants the nodes one by one.
    pub block_bits: u32,
    /// The lowest tick in which a new grant can start. The floor never decreases.
    pub floor: u64,
    /// The time until which the store grants nothing, in Unix milliseconds on the store's clock. The value never
    /// decreases.
    pub quiet_until: i64,
    /// The incarnation: a string that identifies the store's run, as last recorded in this namespace. Every restart or
    /// restore of the store starts a new run. If the current run differs from the recorded run, the data may be old.
    /// The part after `~`, if any, distinguishes several incarnations of one run.
    pub incarnation: String,
    /// The bounds that apply to grants in this namespace.
    pub bounds: Bounds,
    /// Whether grants are written to the append-only history that `whois` reads.
    pub keeps_history: bool,
}

impl Namespace {
    /// Creates a namespace with the default bounds, floor 0 and a history.
    #[must_use]
    pub fn new(name: &str, layout: Layout) -> Self {
        Self {
            name: name.into(),
            layout,
            block_bits: 0,
            floor: 0,
            quiet_until: 0,
            incarnation: String::new(),
            bounds: Bounds::of(&layout),
            keeps_history: true,
        }
    }

    /// Returns the highest row number: the highest node, or the highest block if the namespace is leased in blocks.
    #[must_use]
    pub const fn max_row(&self) -> u64 {
        self.row_of(self.layout.max_node())
    }

    /// Returns the number of a node's row: the node itself, or its block if the namespace is leased in blocks.
    #[must_use]
    pub const fn row_of(&self, node: u64) -> u64 {
        match node.checked_shr(self.block_bits) {
            Some(row) => row,
            None => 0,
        }
    }

    /// Returns a suitable `block_bits` for a layout: slightly less than half of the layout's node bits, and at most 8.
    /// With this value, a fleet of typical size has at least four blocks for each broker. Returns `None` if the layout
    /// has too few nodes for blocks.
    #[must_use]
    pub const fn default_block_bits(layout: &Layout) -> Option<u32> {
        Self::default_block_bits_of(layout.max_node().count_ones())
    }

    /// Returns a suitable `block_bits` for a layout with the given number of node bits.
    #[must_use]
    pub const fn default_block_bits_of(node_bits: u32) -> Option<u32> {
        match node_bits {
            0..4 => None,
            4..18 => Some(node_bits / 2 - 1),
            _ => Some(8),
        }
    }

    /// Checks that the layout supports blocks of `2^block_bits` nodes.
    ///
    /// # Errors
    /// [`FieldOutOfRange`](flakeid_core::ErrorKind::FieldOutOfRange) with the name `block_bits`, if the value exceeds
    /// 16 or half of the layout's node bits.
    pub fn check_block_bits(&self) -> Result<(), Error> {
        let max = (self.layout.max_node().count_ones() / 2).min(16);
        if self.block_bits <= max {
            return Ok(());
        }
        Err(Error::option_out_of_range("block_bits", &self.block_bits, 0, max.into()))
    }

    /// Returns the part of the incarnation that identifies the store's run.
    #[must_use]
    pub fn run(&self) -> &str {
        self.incarnation.rsplit_once('~').map_or(self.incarnation.as_str(), |(run, _)| run)
    }

    /// Checks that a string is a valid namespace name.
    ///
    /// # Errors
    /// [`InvalidOption`](flakeid_core::ErrorKind::InvalidOption) with the allowed characters.
    pub fn check_name(name: &str) -> Result<(), Error> {
        let allowed = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'_' | b'-');
        if (1..=64).contains(&name.len()) && name.bytes().all(allowed) {
            return Ok(());
        }
        let shown: String = without_url(name).chars().take(80).collect();
        Err(Error::invalid_option(
            "namespace",
            &format!("{shown:?} must have 1 to 64 characters from A-Z a-z 0-9 . _ -"),
        ))
    }
}
