//! The faults that a campaign injects.

use flakeid_test_servers::OtherService;

/// A fault of worker processes or their clocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ProcessFault {
    /// SIGKILL for the worker, with or without its forked children. A new process starts later.
    Kill { slot: usize, children: bool, restart_after_ms: u64 },
    /// A regular end that releases the lease. A new process starts later.
    Restart { slot: usize, restart_after_ms: u64 },
    /// SIGSTOP, followed by SIGCONT.
    Pause { slot: usize, for_ms: u64 },
    /// A wrong clock of a group of workers, which is corrected later.
    Clock { group: usize, setting: ClockSetting, for_ms: u64 },
}

/// The wrong time of a clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ClockSetting {
    /// The true time plus this many milliseconds, which `max_skew` of the namespace allows.
    WithinSkew(i64),
    /// The true time plus this many milliseconds, which exceed `max_skew`.
    Offset(i64),
    Year1970,
    Year2080,
}

impl ClockSetting {
    /// Returns the clock's error at the given time, in milliseconds.
    pub(crate) const fn error_ms(self, unix_ms: i64) -> i64 {
        match self {
            Self::WithinSkew(ms) | Self::Offset(ms) => ms,
            Self::Year1970 => 86_400_000 - unix_ms,
            Self::Year2080 => 3_471_292_800_000 - unix_ms,
        }
    }
}

/// A fault of the store, or of the network to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum StoreFault {
    /// Another client holds locks that every transaction needs.
    Locked,
    /// SIGSTOP, followed by SIGCONT.
    Paused,
    /// SIGKILL, followed by a restart on the same data.
    Killed,
    /// An older copy replaces the data.
    Restored,
    /// The connections of one group are reset, and new connections fail.
    Cut,
    /// The packets of one group are dropped silently in both directions.
    Silenced,
    /// The packets of one group are delayed in both directions.
    Delayed,
    /// The disk is full.
    Full,
    /// The server that accepts writes is killed, and another server replaces it.
    FailedOver,
    /// The server that accepts writes is stopped (SIGSTOP) while another server replaces it.
    StoppedAndReplaced,
    /// The server that accepts writes is disconnected from the others, but not from clients, while
    /// another server replaces it.
    CutOffAndReplaced,
    /// The server that accepts writes is killed, and its replacement lacks the last commits.
    FailedOverBehind,
    /// A failover, followed by a return to the first server with its old data.
    FailedBack,
    /// The store and one of its brokers are killed together, and both are restarted.
    KilledWithBroker,
}

/// A fault of a broker, or of the network to its clients.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BrokerFault {
    /// SIGKILL. After every end, a supervisor starts another process.
    Killed,
    /// SIGTERM, after which the broker releases its blocks and ends.
    Ended,
    /// SIGSTOP, followed by SIGCONT.
    Stopped,
    /// The connections of the broker's clients are reset, and new connections fail.
    Cut,
    /// Packets between the broker and its clients are dropped silently in both directions.
    Silenced,
    /// Packets between the broker and its clients are delayed in both directions.
    Delayed,
    /// A wrong clock of the broker, which is corrected later.
    Clock(ClockSetting),
    /// The broker's connections to the store are reset, and new ones fail, for longer than its
    /// blocks last.
    WithoutStore,
    /// Another service responds at the broker's address.
    Impersonated(OtherService),
    /// Other clients hold all nodes that the broker can grant.
    Full,
}

impl ProcessFault {
    /// Returns the fault's name in the report.
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
    /// Returns the fault's name in the report.
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

    /// Whether the fault restarts the whole store, on its own data or on older ones.
    pub(crate) const fn is_restart(self) -> bool {
        matches!(self, Self::Killed | Self::Restored | Self::KilledWithBroker)
    }

    /// Whether another server replaces the server that accepted writes.
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

    /// Returns the fault's name in the report.
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
