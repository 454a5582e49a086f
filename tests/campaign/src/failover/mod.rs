//! The measurement of how long a fleet gets no IDs while its store restarts or fails over. It uses
//! the default bounds, observes the processes from outside, and starts a new store for each event.

mod brokers;
mod detection;
mod event;
mod excluded;
mod issuer;
mod outage;

use std::io;
use std::time::{Duration, Instant};

use clap::Args;
use tempfile::TempDir;

use brokers::BrokerMeasurement;
use detection::Detection;
use event::StoreEvent;
use excluded::Excluded;
use issuer::{BEFORE, Fleet, create_namespace};
use outage::Outage;

use brokers::Languages;
pub(crate) use brokers::{Members, StoreRequests};
pub(crate) use issuer::Issuer;

/// The options of a measurement.
#[derive(Args)]
pub(crate) struct Failover {
    /// The number of processes. Each one issues 100 IDs per second.
    #[arg(long, default_value_t = 3)]
    processes: usize,
    /// Measure only events with this string in their name.
    #[arg(long, default_value = "")]
    only: String,
    /// Measure events without a promise instead, which may repeat IDs: older data restored into a
    /// running server, and two primaries.
    #[arg(long)]
    excluded: bool,
    /// Measure a fleet that leases from brokers instead. The brokers are killed, and their store is
    /// restarted.
    #[arg(long, conflicts_with = "excluded")]
    brokers: bool,
    /// The number of members of that fleet. Each one issues 100 IDs per second.
    #[arg(long, default_value_t = 200)]
    members: usize,
    /// The number of minutes for which a broker crashes repeatedly.
    #[arg(long, default_value_t = 10.0)]
    minutes: f64,
    /// The number of seconds for which the processes continue after the event.
    #[arg(long, default_value_t = 20)]
    seconds: u64,
    #[command(flatten)]
    languages: Languages,
}

impl Failover {
    /// Measures every event, and prints a table. Returns `false` if an ID was issued twice.
    pub(crate) fn run(&self) -> io::Result<bool> {
        if self.excluded {
            return self.measure_excluded();
        }
        if self.brokers {
            let after = Duration::from_secs(self.seconds);
            let crashing = Duration::try_from_secs_f64(self.minutes * 60.0).map_err(|error| {
                io::Error::other(format!("--minutes {}: {error}", self.minutes))
            })?;
            let (members, languages) = (self.members, &self.languages);
            return BrokerMeasurement { members, after, crashing, languages }.run(&self.only);
        }
        println!(
            "{} processes, 100 IDs/s each, default bounds; times in seconds\n\n\
             | event | down for | longest time without an ID | the other processes | a new process waits | IDs | twice |\n\
             |---|---|---|---|---|---|---|",
            self.processes
        );
        let mut twice = 0;
        let is_selected = |event: &StoreEvent| {
            // Without `--only`, the table needs nothing but the servers of the tests.
            event.name().contains(&self.only) && (event.is_installed() || !self.only.is_empty())
        };
        for event in StoreEvent::all().into_iter().filter(is_selected) {
            let outage = self.measure(event)?;
            println!("| {} | {outage} |", event.name());
            twice += outage.twice;
        }
        Ok(twice == 0)
    }

    /// Prints the effects of the excluded events. Repeated IDs are not a failure there.
    fn measure_excluded(&self) -> io::Result<bool> {
        println!(
            "{} processes, 100 IDs/s each, default bounds; times in seconds\n\n\
             | what | proved after | repeated IDs were issued after | repeated IDs | IDs |\n\
             |---|---|---|---|---|",
            self.processes
        );
        for (name, start) in Excluded::ALL.into_iter().filter(|(name, _)| name.contains(&self.only))
        {
            let after = Duration::from_secs(self.seconds);
            println!("| {name} | {} |", Detection::measure(start()?, self.processes, after)?);
        }
        Ok(true)
    }

    fn measure(&self, event: StoreEvent) -> io::Result<Outage> {
        let deployed = event.deploy();
        let url = deployed.url();
        create_namespace(&url)?;
        let folder = TempDir::with_prefix("flakeid-failover")?;
        let mut fleet = Fleet::new(&url, folder.path());
        for _ in 0..self.processes {
            fleet.start()?;
        }
        std::thread::sleep(BEFORE);
        let began = Instant::now();
        deployed.trigger();
        let down = began.elapsed();
        fleet.start()?;
        std::thread::sleep(Duration::from_secs(self.seconds));
        let issued = fleet.end()?;
        drop(deployed);
        Ok(Outage::new(down, &issued))
    }
}
