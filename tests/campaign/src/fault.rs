/// What is done to workers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Blow {
    /// SIGKILL, and a new process later. Its forked children live on, or not.
    Kill { slot: usize, children: bool, rest_ms: u64 },
    /// An end with everything given back, and a new process later.
    Restart { slot: usize, rest_ms: u64 },
    /// SIGSTOP, and SIGCONT later.
    Pause { slot: usize, for_ms: u64 },
    /// The clock of a group is set, and set right later.
    Clock { group: usize, setting: Setting, for_ms: u64 },
}

/// What a clock is set to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Setting {
    /// So many milliseconds off.
    Off(i64),
    Year1970,
    Year2080,
}

/// What is done to the store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Trouble {
    /// Somebody holds locks that every transaction needs.
    Locked,
    /// SIGSTOP, and SIGCONT later.
    Paused,
    /// SIGKILL, and a start on the same data.
    Killed,
    /// An older copy of the data is put back.
    Restored,
    /// Connections of one group are cut, and new ones are refused.
    Cut,
    /// Nothing of one group's comes through, in either direction, without anybody being told.
    Silenced,
    /// Whatever one group says or hears comes late.
    Delayed,
    /// No byte more can be written.
    Full,
}

impl Blow {
    /// As it is counted.
    pub(crate) const fn name(&self) -> &'static str {
        match self {
            Self::Kill { children: false, .. } => "killed",
            Self::Kill { children: true, .. } => "killed with children",
            Self::Restart { .. } => "restarted",
            Self::Pause { .. } => "stopped",
            Self::Clock { setting: Setting::Off(_), .. } => "clock stepped",
            Self::Clock { setting: Setting::Year1970, .. } => "clock in 1970",
            Self::Clock { setting: Setting::Year2080, .. } => "clock in 2080",
        }
    }
}

impl Trouble {
    /// As it is counted.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Locked => "store locked",
            Self::Paused => "store stopped",
            Self::Killed => "store killed",
            Self::Restored => "store restored",
            Self::Cut => "network cut",
            Self::Silenced => "network silent",
            Self::Delayed => "network slow",
            Self::Full => "disk full",
        }
    }
}
