//! How long a fleet is without IDs when its store restarts or fails over: with the default bounds,
//! measured from outside, each event on a store of its own.

mod brokers;
mod event;
mod excluded;
mod issuer;
mod noticed;
mod outage;

use std::io;
use std::time::{Duration, Instant};

use clap::Args;
use tempfile::TempDir;

use brokers::BrokerMeasurement;
use event::StoreEvent;
use excluded::Excluded;
use issuer::{BEFORE, Fleet, create_namespace};
use noticed::Noticed;
use outage::Outage;

use brokers::Languages;
pub(crate) use brokers::Members;
pub(crate) use issuer::Issuer;

/// The options of a measurement.
#[derive(Args)]
pub(crate) struct Failover {
    /// The number of processes, each of which issues 100 IDs per second.
    #[arg(long, default_value_t = 3)]
    processes: usize,
    /// Only events with this in their name.
    #[arg(long, default_value = "")]
    only: String,
    /// Measure instead what is not promised to repeat no ID: older data put back into a running server, and
    /// two primaries.
    #[arg(long)]
    excluded: bool,
    /// Measure instead a fleet that leases from brokers, which are killed, and whose store is restarted.
    #[arg(long, conflicts_with = "excluded")]
    brokers: bool,
    /// The number of members of that fleet, each of which issues 100 IDs per second.
    #[arg(long, default_value_t = 200)]
    members: usize,
    /// How long a broker crashes again and again, in minutes.
    #[arg(long, default_value_t = 10.0)]
    minutes: f64,
    /// How long the processes go on after the event, in seconds.
    #[arg(long, default_value_t = 20)]
    seconds: u64,
    #[command(flatten)]
    languages: Languages,
}

impl Failover {
    /// Measures every event and prints a table. `false` if an ID was issued twice.
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
        for event in StoreEvent::ALL.into_iter().filter(|event| event.name().contains(&self.only)) {
            let outage = self.measure(event)?;
            println!("| {} | {outage} |", event.name());
            twice += outage.twice;
        }
        Ok(twice == 0)
    }

    /// Prints what it cost, which is no failure.
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
            println!("| {name} | {} |", Noticed::measure(start()?, self.processes, after)?);
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
        deployed.strike();
        let down = began.elapsed();
        fleet.start()?;
        std::thread::sleep(Duration::from_secs(self.seconds));
        let issued = fleet.end()?;
        drop(deployed);
        Ok(Outage::new(down, &issued))
    }
}
