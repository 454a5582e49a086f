//! A fleet of processes that lease their nodes. This module computes the number of nodes and the rate of renewals that
//! the fleet needs.

use flakeid_core::Error;

use super::args::PlanArgs;
use super::brokers::Brokers;
use crate::format::{duration, number};

/// A fleet of processes that lease their nodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Fleet {
    /// The number of processes that run at the same time.
    pub(crate) processes: u64,
    /// The average time from the start of a process until the process dies without releasing its node, in
    /// milliseconds.
    pub(crate) lifetime_ms: u64,
    /// The time from the last renewal of a lease until another process can lease the node, in milliseconds.
    pub(crate) ttl_ms: u64,
    /// The length of a lease's window after each renewal, in milliseconds.
    pub(crate) window_ms: u64,
    /// The brokers that grant the nodes, or `None` if the store grants them.
    pub(crate) brokers: Option<Brokers>,
}

/// The largest supported number of processes. This number far exceeds the size of every measured fleet, and the
/// arithmetic is still exact for this number.
const MOST_PROCESSES: u64 = 1_000_000_000;

/// The longest window and the longest TTL of a lease, in milliseconds.
const MONTH_MS: u64 = 30 * 86_400_000;

/// The number of seconds that a process waits before it sends another request to a store that does not grant nodes
/// yet.
const RETRY_S: f64 = 2.0;

impl Fleet {
    /// Reads the fleet from the arguments. Returns `None` if the arguments do not contain a number of processes.
    pub(crate) fn from_args(args: &PlanArgs) -> Result<Option<Self>, Error> {
        let Some(processes) = &args.processes else { return Ok(None) };
        let length = |option, field, text, least, most| {
            let ms = duration::parse(option, text)?;
            if (least..=most).contains(&ms) {
                return Ok(ms);
            }
            Err(Error::field_out_of_range(field, &ms, least, most))
        };
        let brokers = args.brokers.as_deref();
        let number = brokers.map(|text| number::parse("brokers", text, 1, Brokers::MOST));
        let block_window = args.block_window.as_deref().unwrap_or("10s");
        let block_window_ms =
            length("--block-window", "block_window_ms", block_window, 2, MONTH_MS)?;
        let of_number = |number| Brokers { number, window_ms: block_window_ms };
        let brokers = number.transpose()?.map(of_number);
        let (window, ttl) = if brokers.is_some() { ("4s", "12s") } else { ("10s", "60s") };
        let window = args.window.as_deref().unwrap_or(window);
        let window_ms = length("--window", "window_ms", window, 2, MONTH_MS)?;
        let ttl = args.ttl.as_deref().unwrap_or(ttl);
        let ttl_ms = length("--ttl", "ttl_ms", ttl, 1, MONTH_MS)?;
        let century = 100 * 366 * 86_400_000;
        let lifetime_ms = length("--lifetime", "lifetime_ms", &args.lifetime, 1, century)?;
        let processes = number::parse("processes", processes, 1, MOST_PROCESSES)?;
        Ok(Some(Self { processes, lifetime_ms, ttl_ms, window_ms, brokers }))
    }

    /// Returns the number of nodes: one for each live process, one for each process that died less than a TTL ago,
    /// and the additional nodes for brokers.
    pub(crate) fn nodes(&self) -> u64 {
        self.brokers.map_or(self.used(), |brokers| brokers.nodes(self.used()))
    }

    fn used(&self) -> u64 {
        let [processes, ttl, lifetime] =
            [self.processes, self.ttl_ms, self.lifetime_ms].map(u128::from);
        let nodes = processes + (processes * ttl).div_ceil(lifetime);
        u64::try_from(nodes).unwrap_or(u64::MAX)
    }

    /// Returns the largest number of processes for which `nodes` nodes are sufficient, or `None` if `nodes` nodes are
    /// not sufficient even for one process.
    pub(crate) fn most_processes(&self, nodes: u64) -> Option<u64> {
        let (mut enough, mut too_many) = (0, MOST_PROCESSES.min(nodes) + 1);
        while too_many - enough > 1 {
            let processes = enough.midpoint(too_many);
            if self.with_processes(processes).nodes() <= nodes {
                enough = processes;
            } else {
                too_many = processes;
            }
        }
        (enough > 0).then_some(enough)
    }

    /// Returns the same fleet with a different number of processes.
    pub(crate) const fn with_processes(self, processes: u64) -> Self {
        Self { processes, ..self }
    }

    /// Returns the mean time between two successive renewals of a process, in milliseconds.
    ///
    /// A renewal is due when the remaining part of the window is two thirds of the window, multiplied by a random
    /// factor from 0.8 to 1.2. The time since the previous renewal is therefore uniformly distributed between 1/5 and
    /// 7/15 of the window. If this time is more than half the TTL, the renewal is due after half the TTL.
    pub(crate) fn renewal_ms(&self) -> f64 {
        let window = self.window_ms as f64;
        let (first, last) = (window / 5.0, window * 7.0 / 15.0);
        let latest = self.ttl_ms as f64 / 2.0;
        if latest >= last {
            return first.midpoint(last);
        }
        if latest <= first {
            return latest;
        }
        let cut = (last - latest) / (last - first);
        first.midpoint(latest) * (1.0 - cut) + latest * cut
    }

    /// Returns the number of renewals per second for all processes together.
    pub(crate) fn renewals_of_processes(&self) -> f64 {
        self.processes as f64 * 1000.0 / self.renewal_ms()
    }

    /// Returns the steady load on the store, in renewals per second.
    pub(crate) fn renewals_per_second(&self) -> f64 {
        let of_blocks = |brokers: Brokers| brokers.renewals_per_second(self.used());
        self.brokers.map_or(self.renewals_of_processes(), of_blocks)
    }

    /// Returns the number of transactions per second in which the store's clients renew their rows.
    pub(crate) fn transactions_per_second(&self) -> f64 {
        let of_blocks = |brokers: Brokers| brokers.transactions_per_second(self.used());
        self.brokers.map_or(self.renewals_of_processes(), of_blocks)
    }

    /// Returns the number of rows of the namespace.
    pub(crate) fn rows(&self) -> u64 {
        self.brokers.map_or(self.used(), |brokers| brokers.blocks(self.used()).0)
    }

    /// Returns the number of connections to the store.
    pub(crate) fn connections(&self) -> u64 {
        self.brokers.map_or(self.processes, |brokers| brokers.number)
    }

    /// Returns the number of requests per second that the store receives from its restart until its first grants.
    pub(crate) fn requests_after_restart(&self) -> f64 {
        self.connections() as f64 / RETRY_S
    }

    /// Returns the load of each broker: the renewals per second that the broker receives, the number of its
    /// blocks, and the number of nodes in each block.
    pub(crate) fn load_per_broker(&self) -> Option<(f64, u64, u64)> {
        let brokers = self.brokers?;
        let (blocks, size) = brokers.blocks(self.used());
        let renewals = self.renewals_of_processes() / brokers.number as f64;
        Some((renewals, blocks.div_ceil(brokers.number), size))
    }

    /// Returns the stages of growth of this fleet. The sizes of the first stages are 10, 100 and so on, up to the
    /// largest power of ten below the size of this fleet. The last stage is this fleet itself.
    pub(crate) fn growth(self) -> impl Iterator<Item = Self> {
        let steps = (1..).map_while(|power| 10_u64.checked_pow(power));
        let smaller = steps.take_while(move |step| *step < self.processes);
        smaller.chain([self.processes]).map(move |processes| self.with_processes(processes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DEFAULT: Fleet = Fleet {
        processes: 1_000_000,
        lifetime_ms: 3_600_000,
        ttl_ms: 60_000,
        window_ms: 10_000,
        brokers: None,
    };

    #[test]
    fn dead_process_occupies_its_node_for_one_ttl() {
        assert_eq!(DEFAULT.nodes(), 1_016_667);
        assert_eq!(DEFAULT.with_processes(1).nodes(), 2);
        assert_eq!(DEFAULT.with_processes(60).nodes(), 61);
        assert_eq!(DEFAULT.with_processes(61).nodes(), 63);
        // In this fleet, the average lifetime of a process is equal to the TTL.
        assert_eq!(Fleet { lifetime_ms: 60_000, ..DEFAULT }.nodes(), 2_000_000);
        let extreme =
            Fleet { lifetime_ms: 1, ttl_ms: MONTH_MS, ..DEFAULT.with_processes(MOST_PROCESSES) };
        assert_eq!(extreme.nodes(), 1_000_000_000 + 2_592_000_000_000_000_000);
    }

    #[test]
    fn process_limit_is_the_largest_fleet_size_that_the_nodes_allow() {
        for nodes in [2, 3, 64, 1024, 8192, 65_536, 1 << 20, 1 << 40] {
            let most = DEFAULT.most_processes(nodes).unwrap_or(0);
            assert!(most > 0, "{nodes}");
            assert!(DEFAULT.with_processes(most).nodes() <= nodes, "{nodes}");
            assert!(
                most == MOST_PROCESSES || DEFAULT.with_processes(most + 1).nodes() > nodes,
                "{nodes}"
            );
        }
        assert_eq!(DEFAULT.most_processes(1024), Some(1007));
        assert_eq!(DEFAULT.most_processes(1), None);
    }

    #[test]
    fn mean_renewal_interval_is_a_third_of_the_window() {
        let mean = DEFAULT.renewal_ms();
        assert!((mean - 10_000.0 / 3.0).abs() < 1e-9, "{mean}");
        assert!((DEFAULT.renewals_per_second() - 300_000.0).abs() < 1e-6);
        assert!((DEFAULT.requests_after_restart() - 500_000.0).abs() < 1e-6);
        let short = Fleet { ttl_ms: 3_000, ..DEFAULT };
        assert!((short.renewal_ms() - 1_500.0).abs() < 1e-9);
    }

    /// A simulation of the renewals of a fleet. A random factor varies the time of each renewal.
    struct Simulation {
        /// The number of renewals in each second.
        seconds: Vec<u64>,
    }

    impl Simulation {
        fn run(fleet: &Fleet, seconds: usize) -> Self {
            let mut random = 0x9E37_79B9_7F4A_7C15_u64;
            let mut counts = vec![0; seconds];
            let window = fleet.window_ms as f64;
            for _ in 0..fleet.processes {
                let mut at = 0.0;
                loop {
                    random ^= random << 13;
                    random ^= random >> 7;
                    random ^= random << 17;
                    let jitter = 0.8 + 0.4 * (random >> 11) as f64 / (1_u64 << 53) as f64;
                    let due = window - window * 2.0 / 3.0 * jitter;
                    at += due.min(fleet.ttl_ms as f64 / 2.0);
                    let Some(count) = counts.get_mut((at / 1000.0) as usize) else { break };
                    *count += 1;
                }
            }
            Self { seconds: counts }
        }

        fn per_second(&self, from: usize) -> f64 {
            let seconds = &self.seconds[from..];
            seconds.iter().sum::<u64>() as f64 / seconds.len() as f64
        }
    }

    #[test]
    fn simulated_renewal_rate_matches_the_computed_rate() {
        for fleet in [
            DEFAULT.with_processes(100_000),
            Fleet { ttl_ms: 8_000, ..DEFAULT.with_processes(100_000) },
            Fleet { ttl_ms: 7_000, ..DEFAULT.with_processes(100_000) },
            Fleet { ttl_ms: 3_000, ..DEFAULT.with_processes(50_000) },
        ] {
            let simulated = Simulation::run(&fleet, 120).per_second(60);
            let formula = fleet.renewals_per_second();
            assert!((simulated / formula - 1.0).abs() < 0.01, "{fleet:?}: {simulated}, {formula}");
        }
    }

    /// If all processes start at the same time, the load in the busiest second is at most 40% above the mean.
    #[test]
    fn renewals_spread_out_after_all_processes_start_at_once() {
        let fleet = DEFAULT.with_processes(100_000);
        let simulation = Simulation::run(&fleet, 120);
        let mean = fleet.renewals_per_second();
        let worst = simulation.seconds.iter().copied().max().unwrap_or(0) as f64 / mean;
        assert!((1.2..1.4).contains(&worst), "{worst}");
        let later = simulation.seconds[60..].iter().copied().max().unwrap_or(0) as f64 / mean;
        assert!(later < 1.05, "{later}");
    }

    #[test]
    fn fleet_growth_steps_are_powers_of_ten_and_the_final_size() {
        let steps =
            |processes| DEFAULT.with_processes(processes).growth().map(|fleet| fleet.processes);
        assert_eq!(steps(1).collect::<Vec<_>>(), [1]);
        assert_eq!(steps(10).collect::<Vec<_>>(), [10]);
        assert_eq!(steps(2500).collect::<Vec<_>>(), [10, 100, 1000, 2500]);
    }
}
