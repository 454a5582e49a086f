//! The results as Markdown and JSON, with a description of the machine.

use std::fmt::Write as _;
use std::{env, fs, io, thread};

use flakeid_core::{Clock, Rfc3339, SystemClock};
use serde_json::{Value, json};

use super::speed::Speed;

/// The mean time between two renewals of a process, in seconds: a third of the default window.
const INTERVAL_S: f64 = 10.0 / 3.0;
/// The time, in seconds, between two requests of a process that the restarted store refuses.
const RETRY_S: f64 = 2.0;
/// The numbers of processes for the comparison with the capacity of the stores.
const FLEETS: [u64; 4] = [1_000, 10_000, 100_000, 1_000_000];

/// The machine, and its load before the measurement.
pub(super) struct Environment {
    date: String,
    processor: String,
    processors: usize,
    load: String,
    folder: String,
}

impl Environment {
    pub(super) fn read() -> io::Result<Self> {
        let info = fs::read_to_string("/proc/cpuinfo")?;
        let model = info.lines().find(|line| line.starts_with("model name"));
        let model = model.and_then(|line| line.split_once(": ")).map(|(_, model)| model.trim());
        let load = fs::read_to_string("/proc/loadavg")?;
        let date = Rfc3339::new(SystemClock.unix_ms(), 0).to_string();
        Ok(Self {
            date: date.split('T').next().unwrap_or_default().to_owned(),
            processor: model.unwrap_or("unknown").to_owned(),
            processors: thread::available_parallelism()?.get(),
            load: load.split_whitespace().next().unwrap_or_default().to_owned(),
            folder: env::temp_dir().display().to_string(),
        })
    }

    pub(super) fn to_text(&self) -> String {
        let Self { date, processor, processors, load, folder } = self;
        format!("{date}, {processor}, {processors} available, load before {load}, data in {folder}")
    }
}

/// The results of one kind of store.
pub(super) struct Report {
    pub(super) store: &'static str,
    /// The number of holders, the number of connections, and the speed of renewals.
    pub(super) renewals: Vec<(u64, usize, Speed)>,
    /// The number of rows of other nodes, the kind of the acquired node (new or released), and the
    /// speed of acquires.
    pub(super) acquires: Vec<(u64, &'static str, Speed)>,
}

impl Report {
    /// Returns the highest rate with the largest number of holders, over any number of connections.
    fn max_renewals(&self) -> f64 {
        let holders = self.renewals.iter().map(|(count, ..)| *count).max();
        let with = self.renewals.iter().filter(|(count, ..)| Some(*count) == holders);
        with.map(|(.., speed)| speed.per_second).fold(0.0, f64::max)
    }

    pub(super) fn json(&self, environment: &Environment) -> Value {
        let with = |mut value: Value, more: Value| {
            if let (Some(map), Value::Object(more)) = (value.as_object_mut(), more) {
                map.extend(more);
            }
            value
        };
        let renewals = self.renewals.iter().map(|(holders, connections, speed)| {
            with(json!({ "holders": holders, "connections": connections }), speed.json())
        });
        let acquires = self
            .acquires
            .iter()
            .map(|(rows, node, speed)| with(json!({ "rows": rows, "node": node }), speed.json()));
        json!({
            "store": self.store,
            "environment": environment.to_text(),
            "renewals": renewals.collect::<Vec<_>>(),
            "acquires": acquires.collect::<Vec<_>>(),
            "max_renewals_per_second": self.max_renewals().round(),
        })
    }
}

/// Returns the results of all stores as Markdown.
pub(super) fn markdown(reports: &[Report]) -> String {
    let mut text = String::from(
        "\n| store | holders | connections | renewals/s | median ms | p99 ms | failed |\n\
         |---|---|---|---|---|---|---|\n",
    );
    for Report { store, renewals, .. } in reports {
        for (holders, connections, speed) in renewals {
            let _ = writeln!(text, "| {store} | {holders} | {connections} | {} |", speed.cells());
        }
    }
    text += "\n| store | rows | node | acquires/s | median ms | p99 ms | failed |\n\
             |---|---|---|---|---|---|---|\n";
    for Report { store, acquires, .. } in reports {
        for (rows, node, speed) in acquires {
            let _ = writeln!(text, "| {store} | {rows} | {node} | {} |", speed.cells());
        }
    }
    let names: Vec<&str> = reports.iter().map(|report| report.store).collect();
    let _ = writeln!(
        text,
        "\n| processes | renewals/s | requests/s after a restart | {} |\n|---|---|---|{}",
        names.join(" | "),
        "---|".repeat(names.len())
    );
    for processes in FLEETS {
        let needed = processes as f64 / INTERVAL_S;
        let asked = processes as f64 / RETRY_S;
        let _ = write!(text, "| {processes} | {needed:.0} | {asked:.0} |");
        for report in reports {
            let _ = write!(text, " {:.0} % |", needed * 100.0 / report.max_renewals());
        }
        text += "\n";
    }
    text += "\nThe last columns are percentages of the highest rate with the largest number of holders.";
    text
}
