//! Table 14: statistics of a hundred million IDs.

pub(crate) mod process;
mod source;

use std::error::Error;
use std::process::{Command, Stdio};

use flakeid_core::Statistics;

use crate::report::{Figure, Kind, Section, Target};
use process::{COMMAND, Measured};
use source::Source;

/// Memory in MiB for the IDs that are kept to find repeated ones, see [`Statistics::MOST_KEPT`].
const MOST_MIB: f64 = (Statistics::MOST_KEPT * size_of::<u64>() / (1 << 20)) as f64;
/// Minimum rate in million IDs per second.
const LEAST_RATE: f64 = 20.0;
/// Additional memory in MiB that the command may use, for the program and its input buffer.
const PROGRAM_MIB: f64 = 16.0;

/// Extent of the measurement.
#[derive(Clone, Copy)]
pub(crate) struct Effort {
    pub(crate) ids: usize,
    pub(crate) rounds: usize,
}

pub(crate) fn measure(effort: Effort) -> Result<Section, Box<dyn Error>> {
    let command = std::env::var_os(COMMAND);
    let mut table = Table { ids: effort.ids, ..Table::default() };
    for source in Source::ALL {
        table.statistics(source, &of_a_process(source, effort, false)?);
    }
    if command.is_some() {
        for source in Source::ALL {
            table.command(source, &of_a_process(source, effort, true)?);
        }
    }
    let mut notes = vec![format!(
        "{} IDs; each row is a separate process on one core, with {} rounds, and shows the median of its rounds. \
        *Looking* is `Statistics::add` for every ID. *Repeats* is counting the repeated IDs, for which the IDs are \
        sorted unless each ID was larger than the previous one. The IDs are in memory before the time is taken. \
        Memory is the peak of the process, less its memory with only the IDs. The documentation promises at most \
        {MOST_MIB} MiB, which is 8 bytes for each of {} IDs; in addition, there are {:.0} MiB of {} IDs here.",
        effort.ids,
        effort.rounds,
        Statistics::MOST_KEPT,
        (effort.ids * size_of::<u64>()) as f64 / f64::from(1 << 20),
        effort.ids,
    )];
    notes.push(if command.is_some() {
        "The command is `flakeid inspect --stats --layout …` with the IDs on standard input, one decimal number per \
        line, from a file in the system's cache. Its time includes the start of the process, reading and looking at \
        the IDs, and counting repeats. Its memory is the whole memory of the process. It prints JSON."
            .to_owned()
    } else {
        format!("The command has no rows, because {COMMAND} is not set. `cargo xtask bench` sets it.")
    });
    Ok(table.section(notes))
}

fn of_a_process(source: Source, effort: Effort, command: bool) -> Result<Measured, Box<dyn Error>> {
    let mut process = Command::new(std::env::current_exe()?);
    process.args(["statistics", "--source", source.name()]);
    process.args(["--ids", &effort.ids.to_string(), "--rounds", &effort.rounds.to_string()]);
    if command {
        process.arg("--command");
    }
    let output = process.stderr(Stdio::inherit()).output()?;
    if !output.status.success() {
        return Err(format!("the process of the statistics failed: {}", output.status).into());
    }
    Ok(serde_json::from_slice(&output.stdout)?)
}

#[derive(Default)]
struct Table {
    ids: usize,
    rows: Vec<Vec<String>>,
    figures: Vec<Figure>,
    targets: Vec<Target>,
}

impl Table {
    fn statistics(&mut self, source: Source, measured: &Measured) {
        let label = format!("flakeid `Statistics`, {}", source.label());
        let looking = measured.looking.median();
        self.add(&label, Some((looking, measured.repeats.median())), measured);
        self.target("M IDs/s", &label, 1e3 / measured.all().median());
        let what = format!("{label}: peak memory, MiB");
        self.targets.push(Target::at_most("S2", what, MOST_MIB, measured.mib));
    }

    fn command(&mut self, source: Source, measured: &Measured) {
        let label = format!("`flakeid inspect --stats`, {}", source.label());
        self.add(&label, None, measured);
        self.target("M IDs/s end to end", &label, 1e3 / measured.all().median());
        let what = format!("{label}: peak memory, MiB");
        self.targets.push(Target::at_most("S2", what, MOST_MIB + PROGRAM_MIB, measured.mib));
    }

    fn add(&mut self, label: &str, parts: Option<(f64, f64)>, measured: &Measured) {
        let all = measured.all();
        let (looking, repeats) = parts.map_or_else(
            || ("–".to_owned(), "–".to_owned()),
            |(looking, repeats)| (format!("{looking:.1}"), format!("{repeats:.1}")),
        );
        self.rows.push(vec![
            label.to_owned(),
            looking,
            repeats,
            format!("{:.1}", all.median()),
            format!("{:.1}..{:.1}", all.min(), all.max()),
            format!("{:.1}", 1e3 / all.median()),
            format!("{:.0}", measured.mib),
            format!("{:.2}", measured.mib * f64::from(1 << 20) / self.ids as f64),
        ]);
        self.figures.push(Figure::new(label, Kind::Other, "ns", &all));
        self.figures.push(Figure::single(label, Kind::Other, "MiB", measured.mib));
    }

    fn target(&mut self, what: &str, label: &str, rate: f64) {
        self.targets.push(Target::at_least("S1", format!("{label}: {what}"), LEAST_RATE, rate));
    }

    fn section(self, notes: Vec<String>) -> Section {
        Section {
            id: "statistics",
            title: "14. Statistics of many IDs",
            kind: format!("{}: time and memory", Kind::Other),
            header: vec![
                "",
                "looking, ns an ID",
                "repeats, ns an ID",
                "both, ns an ID",
                "min..max",
                "M IDs/s",
                "peak memory, MiB",
                "bytes an ID",
            ],
            rows: self.rows,
            notes,
            targets: self.targets,
            figures: self.figures,
        }
    }
}
