//! The faults that a campaign injects.

/// A fault of worker processes or their clocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ProcessFault {
    /// SIGKILL, with or without its forked children. A new process is started later.
    Kill { slot: usize, children: bool, restart_after_ms: u64 },
    /// An orderly end that releases the lease. A new process is started later.
    Restart { slot: usize, restart_after_ms: u64 },
    /// SIGSTOP, and SIGCONT later.
    Pause { slot: usize, for_ms: u64 },
    /// The clock of a group is set wrong, and corrected later.
    Clock { group: usize, setting: ClockSetting, for_ms: u64 },
}

/// The time that a clock is set to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ClockSetting {
    /// The true time plus this many milliseconds, which the namespace allows (`max_skew`).
    WithinSkew(i64),
    /// The same, more than it allows.
    Offset(i64),
    Year1970,
    Year2080,
}

/// A fault of the store or of the network in front of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum StoreFault {
    /// Another client holds locks that every transaction needs.
    Locked,
    /// SIGSTOP, and SIGCONT later.
    Paused,
    /// SIGKILL, and a restart on the same data.
    Killed,
    /// The data is replaced by an older copy.
    Restored,
    /// The connections of one group are reset, and new ones are refused.
    Cut,
    /// Packets of one group are dropped silently in both directions.
    Silenced,
    /// The packets of one group are delayed in both directions.
    Delayed,
    /// The disk is full.
    Full,
}

impl ProcessFault {
    /// The name under which the report counts it.
    pub(crate) const fn name(&self) -> &'static str {
        match self {
            Self::Kill { children: false, .. } => "killed",
            Self::Kill { children: true, .. } => "killed with children",
            Self::Restart { .. } => "restarted",
            Self::Pause { .. } => "stopped",
            Self::Clock { setting: ClockSetting::WithinSkew(_), .. } => "clock within skew",
            Self::Clock { setting: ClockSetting::Offset(_), .. } => "clock stepped",
            Self::Clock { setting: ClockSetting::Year1970, .. } => "clock in 1970",
            Self::Clock { setting: ClockSetting::Year2080, .. } => "clock in 2080",
        }
    }
}

impl StoreFault {
    /// Whether the store begins another run.
    pub(crate) const fn is_restart(self) -> bool {
        matches!(self, Self::Killed | Self::Restored)
    }

    /// The name under which the report counts it.
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
