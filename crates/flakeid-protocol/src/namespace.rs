use flakeid_core::{Error, Layout};

/// How far anything may reach in a namespace, in milliseconds. Together they bound every fence:
/// `fence ≤ tick(store's clock + max_skew) + max_ahead + max_window + 1` (invariant I9), in ticks,
/// the durations rounded up. The one is for the tick after the last one used, which renewals
/// count from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Bounds {
    /// The longest window.
    pub max_window_ms: u64,
    /// How far ahead of the clock a window may start, and IDs may run.
    pub max_ahead_ms: u64,
    /// How far a client's clock may be from the store's.
    pub max_skew_ms: u64,
    /// For how long a restored store grants nothing, by its own clock. Until four skews before that
    /// has passed since a renewal, the renewal's holder may go on: no other copy of the store can
    /// have granted the node by then.
    pub quiet_ms: u64,
}

impl Bounds {
    /// 10 s, 20 s, 1 s and 15 s. In layouts with long ticks windows and running ahead are at least
    /// four ticks, because a window is at least two and a quick restart must not wait.
    ///
    /// With these a process that can issue IDs when its store is restored can also go on: 15 s less
    /// four skews is more than a window.
    #[must_use]
    pub fn of(layout: &Layout) -> Self {
        let reach = |least: u64| least.max(layout.unit_ms().saturating_mul(4));
        let (max_window_ms, max_ahead_ms) = (reach(10_000), reach(20_000));
        let bounds = Self { max_window_ms, max_ahead_ms, max_skew_ms: 1_000, quiet_ms: 0 };
        bounds.with_usual_quiet(layout)
    }

    /// With the `quiet_ms` that goes with the others unless something else is wanted: 15 s, or as many
    /// more as it takes that who can issue IDs when the store is restored can also go on.
    #[must_use]
    pub fn with_usual_quiet(self, layout: &Layout) -> Self {
        let skews = self.max_skew_ms.saturating_mul(2);
        let enough = self.least_quiet_ms(layout).saturating_add(skews);
        Self { quiet_ms: enough.div_ceil(1_000).saturating_mul(1_000).max(15_000), ..self }
    }

    /// How long a restored store has to grant nothing at the least: as long as somebody may still
    /// use what it forgot.
    #[must_use]
    pub const fn least_quiet_ms(&self, layout: &Layout) -> u64 {
        let skews = self.max_skew_ms.saturating_mul(2);
        self.max_window_ms.saturating_add(skews).saturating_add(layout.unit_ms())
    }

    /// For how long after a renewal its holder may go on in a restored store, in milliseconds.
    #[must_use]
    pub const fn continuation_ms(&self) -> u64 {
        self.quiet_ms.saturating_sub(self.max_skew_ms.saturating_mul(4))
    }

    /// Checks that the bounds are of use with a layout.
    ///
    /// # Errors
    /// [`FieldOutOfRange`](flakeid_core::ErrorKind::FieldOutOfRange) naming the bound.
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

    /// The larger of each: what was granted by either of two bounds is within it.
    #[must_use]
    pub fn fieldwise_max(&self, other: &Self) -> Self {
        Self {
            max_window_ms: self.max_window_ms.max(other.max_window_ms),
            max_ahead_ms: self.max_ahead_ms.max(other.max_ahead_ms),
            max_skew_ms: self.max_skew_ms.max(other.max_skew_ms),
            quiet_ms: self.quiet_ms.max(other.quiet_ms),
        }
    }

    /// A day: what is beyond is a mistake of units.
    const MOST_MS: u64 = 86_400_000;
}

/// One ID space in a store: every node in it is leased to one process at a time.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Namespace {
    /// Its name: 1 to 64 of `A-Z a-z 0-9 . _ -`.
    pub name: String,
    /// The layout of its IDs. Never changes.
    pub layout: Layout,
    /// How many neighbouring nodes are granted together, as a power of two. 0 where processes lease
    /// nodes; with more, each row is a block of nodes, which a broker leases and grants onward one by
    /// one. Never changes.
    pub block_bits: u32,
    /// No grant starts before this tick. Only rises.
    pub floor: u64,
    /// Nothing is granted before this time of the store's clock, in Unix milliseconds. Only rises.
    pub quiet_until: i64,
    /// What the store was when it last granted here; if the store is another now, what it
    /// remembers may be old. After `~` comes what tells two incarnations of one run apart.
    pub incarnation: String,
    /// How far windows may reach.
    pub bounds: Bounds,
    /// Whether grants are written to the append-only history that answers `whois`.
    pub keeps_history: bool,
}

impl Namespace {
    /// A new namespace with the usual bounds, floor 0 and a history.
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

    /// The highest number of a row: a node, or a block of nodes.
    #[must_use]
    pub const fn max_row(&self) -> u64 {
        self.row_of(self.layout.max_node())
    }

    /// The row of a node: the node itself, or its block.
    #[must_use]
    pub const fn row_of(&self, node: u64) -> u64 {
        match node.checked_shr(self.block_bits) {
            Some(row) => row,
            None => 0,
        }
    }

    /// The blocks that suit a layout, as `block_bits`: a little less than half of its node bits, so that
    /// there are at least four times as many blocks as brokers in any fleet of a sensible size, and at
    /// most 8. `None` if the layout has too few nodes for blocks.
    #[must_use]
    pub const fn usual_block_bits(layout: &Layout) -> Option<u32> {
        Self::usual_block_bits_of(layout.max_node().count_ones())
    }

    /// The same for any layout with so many node bits.
    #[must_use]
    pub const fn usual_block_bits_of(node_bits: u32) -> Option<u32> {
        match node_bits {
            0..4 => None,
            4..18 => Some(node_bits / 2 - 1),
            _ => Some(8),
        }
    }

    /// Checks that blocks of `2^block_bits` nodes are of use with the layout.
    ///
    /// # Errors
    /// [`FieldOutOfRange`](flakeid_core::ErrorKind::FieldOutOfRange) naming `block_bits` unless it is at
    /// most half of the layout's node bits, or 16.
    pub fn check_block_bits(&self) -> Result<(), Error> {
        let max = (self.layout.max_node().count_ones() / 2).min(16);
        if self.block_bits <= max {
            return Ok(());
        }
        Err(Error::option_out_of_range("block_bits", &self.block_bits, 0, max.into()))
    }

    /// The store's run in the incarnation.
    #[must_use]
    pub fn run(&self) -> &str {
        self.incarnation.rsplit_once('~').map_or(self.incarnation.as_str(), |(run, _)| run)
    }

    /// Whether a text may be a namespace's name.
    ///
    /// # Errors
    /// [`InvalidOption`](flakeid_core::ErrorKind::InvalidOption) saying what may be in it.
    pub fn check_name(name: &str) -> Result<(), Error> {
        let allowed = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'_' | b'-');
        if (1..=64).contains(&name.len()) && name.bytes().all(allowed) {
            return Ok(());
        }
        let shown: String = name.chars().take(80).collect();
        Err(Error::invalid_option(
            "namespace",
            &format!("{shown:?} must be 1 to 64 of A-Z a-z 0-9 . _ -"),
        ))
    }
}
