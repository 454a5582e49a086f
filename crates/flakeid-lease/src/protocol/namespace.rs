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
}

impl Bounds {
    /// 20 s, 20 s and 5 s. In layouts with long ticks windows and running ahead are at least four
    /// ticks, because a window is at least two and a quick restart must not wait.
    #[must_use]
    pub fn of(layout: &Layout) -> Self {
        let reach = 20_000.max(layout.unit_ms().saturating_mul(4));
        Self { max_window_ms: reach, max_ahead_ms: reach, max_skew_ms: 5_000 }
    }

    /// Checks that the bounds are of use with a layout.
    ///
    /// # Errors
    /// [`FieldOutOfRange`](flakeid_core::ErrorKind::FieldOutOfRange) naming the bound.
    pub fn check(&self, layout: &Layout) -> Result<(), Error> {
        let shortest = layout.unit_ms().saturating_mul(2);
        for (name, value, min) in [
            ("max_window_ms", self.max_window_ms, shortest),
            ("max_ahead_ms", self.max_ahead_ms, 0),
            ("max_skew_ms", self.max_skew_ms, 1),
        ] {
            if value < min || value > Self::MOST_MS {
                return Err(Error::field_out_of_range(name, &value, min, Self::MOST_MS));
            }
        }
        Ok(())
    }

    /// The larger of each: what holds with either holds with these.
    #[must_use]
    pub fn widest(self, other: Self) -> Self {
        Self {
            max_window_ms: self.max_window_ms.max(other.max_window_ms),
            max_ahead_ms: self.max_ahead_ms.max(other.max_ahead_ms),
            max_skew_ms: self.max_skew_ms.max(other.max_skew_ms),
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
    /// No grant starts before this tick. Only rises.
    pub floor: u64,
    /// What the store was when it last granted here; if the store is another now, what it
    /// remembers may be old.
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
            floor: 0,
            incarnation: String::new(),
            bounds: Bounds::of(&layout),
            keeps_history: true,
        }
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
