use flakeid_core::{Error, Layout};

/// The bounds of a namespace, in milliseconds. Together they bound every fence:
/// `fence ≤ tick(store's clock + max_skew) + max_ahead + max_window + 1` (invariant I9), in ticks, with the durations rounded
/// up. The added tick is the tick after the last one used, from which renewals count.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Bounds {
    /// The longest window.
    pub max_window_ms: u64,
    /// The largest time by which a window may start ahead of the clock, and IDs may run ahead of it.
    pub max_ahead_ms: u64,
    /// The largest difference between a client's clock and the store's.
    pub max_skew_ms: u64,
    /// The time for which a restored store grants nothing, by its own clock. Until this time minus four skews has passed since a
    /// renewal, the renewal's holder may continue, because no other copy of the store can have granted the node by then.
    pub quiet_ms: u64,
}

impl Bounds {
    /// Returns the default bounds: 10 s, 20 s, 1 s and 15 s. In layouts with long ticks, windows and running ahead are at least
    /// four ticks, because a window has at least two ticks and a quick restart must not wait.
    ///
    /// With these bounds a process that can issue IDs when its store is restored can also continue, because 15 s minus four skews
    /// is longer than a window.
    #[must_use]
    pub fn of(layout: &Layout) -> Self {
        let reach = |least: u64| least.max(layout.unit_ms().saturating_mul(4));
        let (max_window_ms, max_ahead_ms) = (reach(10_000), reach(20_000));
        let bounds = Self { max_window_ms, max_ahead_ms, max_skew_ms: 1_000, quiet_ms: 0 };
        bounds.with_usual_quiet(layout)
    }

    /// Sets the default `quiet_ms` for the other bounds: 15 s, or longer if that is necessary so that a process that can issue IDs
    /// when the store is restored can also continue.
    #[must_use]
    pub fn with_usual_quiet(self, layout: &Layout) -> Self {
        let skews = self.max_skew_ms.saturating_mul(2);
        let enough = self.least_quiet_ms(layout).saturating_add(skews);
        Self { quiet_ms: enough.div_ceil(1_000).saturating_mul(1_000).max(15_000), ..self }
    }

    /// The shortest time for which a restored store must grant nothing: as long as a process may still use grants that the store
    /// has lost.
    #[must_use]
    pub const fn least_quiet_ms(&self, layout: &Layout) -> u64 {
        let skews = self.max_skew_ms.saturating_mul(2);
        self.max_window_ms.saturating_add(skews).saturating_add(layout.unit_ms())
    }

    /// The time after a renewal for which its holder may continue in a restored store, in milliseconds.
    #[must_use]
    pub const fn continuation_ms(&self) -> u64 {
        self.quiet_ms.saturating_sub(self.max_skew_ms.saturating_mul(4))
    }

    /// Checks that the bounds are usable with a layout.
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

    /// Returns the larger value of each bound, which covers the grants under both.
    #[must_use]
    pub fn fieldwise_max(&self, other: &Self) -> Self {
        Self {
            max_window_ms: self.max_window_ms.max(other.max_window_ms),
            max_ahead_ms: self.max_ahead_ms.max(other.max_ahead_ms),
            max_skew_ms: self.max_skew_ms.max(other.max_skew_ms),
            quiet_ms: self.quiet_ms.max(other.quiet_ms),
        }
    }

    /// The largest bound: a day, because a longer one is a mistake in the unit.
    const MOST_MS: u64 = 86_400_000;
}

/// An ID space in a store: each of its nodes is leased to one process at a time.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Namespace {
    /// The name: 1 to 64 characters of `A-Z a-z 0-9 . _ -`.
    pub name: String,
    /// The layout of its IDs. Never changes.
    pub layout: Layout,
    /// The base-2 logarithm of the number of neighbouring nodes that are granted together. With 0, processes lease single nodes;
    /// otherwise each row is a block of nodes, which a broker leases and whose nodes it grants one by one. Never changes.
    pub block_bits: u32,
    /// The tick before which no grant starts. It only rises.
    pub floor: u64,
    /// The time of the store's clock before which nothing is granted, in Unix milliseconds. It only rises.
    pub quiet_until: i64,
    /// The incarnation of the store when it last granted here. If the store has another one now, its data may be old. The part
    /// after `~` distinguishes two incarnations of one run.
    pub incarnation: String,
    /// The bounds of windows.
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

    /// The highest number of a row, which is a node or a block of nodes.
    #[must_use]
    pub const fn max_row(&self) -> u64 {
        self.row_of(self.layout.max_node())
    }

    /// Returns the row number of a node: the node itself, or its block.
    #[must_use]
    pub const fn row_of(&self, node: u64) -> u64 {
        match node.checked_shr(self.block_bits) {
            Some(row) => row,
            None => 0,
        }
    }

    /// Returns the suitable `block_bits` for a layout: a little less than half of its node bits, so that a fleet of reasonable
    /// size has at least four times as many blocks as brokers, and at most 8. `None` if the layout has too few nodes for blocks.
    #[must_use]
    pub const fn usual_block_bits(layout: &Layout) -> Option<u32> {
        Self::usual_block_bits_of(layout.max_node().count_ones())
    }

    /// Returns the suitable `block_bits` for a layout with the given number of node bits.
    #[must_use]
    pub const fn usual_block_bits_of(node_bits: u32) -> Option<u32> {
        match node_bits {
            0..4 => None,
            4..18 => Some(node_bits / 2 - 1),
            _ => Some(8),
        }
    }

    /// Checks that blocks of `2^block_bits` nodes are usable with the layout.
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

    /// Returns the store's run in the incarnation.
    #[must_use]
    pub fn run(&self) -> &str {
        self.incarnation.rsplit_once('~').map_or(self.incarnation.as_str(), |(run, _)| run)
    }

    /// Checks that a string can be the name of a namespace.
    ///
    /// # Errors
    /// [`InvalidOption`](flakeid_core::ErrorKind::InvalidOption), with the allowed characters.
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
