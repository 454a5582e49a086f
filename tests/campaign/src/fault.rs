//! The faults that a campaign injects.

use flakeid_test_servers::OtherService;

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

impl ClockSetting {
    /// The error at a certain time, in milliseconds.
    pub(crate) const fn error_ms(self, unix_ms: i64) -> i64 {
        match self {
            Self::WithinSkew(ms) | Self::Offset(ms) => ms,
            Self::Year1970 => 86_400_000 - unix_ms,
            Self::Year2080 => 3_471_292_800_000 - unix_ms,
        }
    }
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
    /// The server that is written to is killed, and another one takes its place.
    FailedOver,
    /// The same, but it is stopped (SIGSTOP) while the other one takes its place.
    StoppedAndReplaced,
    /// The same, but it is cut off from the others while clients still reach it.
    CutOffAndReplaced,
    /// The server that is written to is killed, and the one that takes its place lacks the last commits.
    FailedOverBehind,
    /// The same as the first, and then back to the first server with the data that it had.
    FailedBack,
    /// The store and one of its brokers are killed together, and both are restarted.
    KilledWithBroker,
}

/// A fault of a broker, or of the network between it and its clients.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BrokerFault {
    /// SIGKILL. As after every other end, a supervisor starts another process.
    Killed,
    /// SIGTERM: it gives its blocks back and ends.
    Ended,
    /// SIGSTOP, and SIGCONT later.
    Stopped,
    /// The connections of its clients are reset, and new ones are refused.
    Cut,
    /// Packets between it and its clients are dropped silently in both directions.
    Silenced,
    /// They are delayed in both directions.
    Delayed,
    /// Its clock is set wrong, and corrected later.
    Clock(ClockSetting),
    /// Its connections to the store are reset, and new ones are refused, for longer than its blocks last.
    WithoutStore,
    /// Another service answers at its address.
    Impersonated(OtherService),
    /// Other clients hold all nodes that it can grant.
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

impl BrokerFault {
    /// The name under which the report counts it.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Killed => "broker killed",
            Self::Ended => "broker ended",
            Self::Stopped => "broker stopped",
            Self::Cut => "broker cut off",
            Self::Silenced => "broker silent",
            Self::Delayed => "broker slow",
            Self::Clock(ClockSetting::WithinSkew(_)) => "broker clock within skew",
            Self::Clock(_) => "broker clock stepped",
            Self::WithoutStore => "broker without store",
            Self::Impersonated(_) => "broker impersonated",
            Self::Full => "broker full",
        }
    }
}

impl StoreFault {
    pub(crate) const ALL: [Self; 14] = [
        Self::Locked,
        Self::Paused,
        Self::Killed,
        Self::Restored,
        Self::Cut,
        Self::Silenced,
        Self::Delayed,
        Self::Full,
        Self::FailedOver,
        Self::StoppedAndReplaced,
        Self::CutOffAndReplaced,
        Self::FailedOverBehind,
        Self::FailedBack,
        Self::KilledWithBroker,
    ];

    /// Whether the whole store is restarted, on its data or on older ones.
    pub(crate) const fn is_restart(self) -> bool {
        matches!(self, Self::Killed | Self::Restored | Self::KilledWithBroker)
    }

    /// Whether another server takes the place of the one that was written to.
    pub(crate) const fn is_failover(self) -> bool {
        matches!(
            self,
            Self::FailedOver
                | Self::StoppedAndReplaced
                | Self::CutOffAndReplaced
                | Self::FailedOverBehind
                | Self::FailedBack
        )
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
            Self::FailedOver => "failed over",
            Self::StoppedAndReplaced => "stopped and replaced",
            Self::CutOffAndReplaced => "cut off and replaced",
            Self::FailedOverBehind => "failed over with losses",
            Self::FailedBack => "failed back",
            Self::KilledWithBroker => "store and broker killed",
        }
    }
}
