//! `flakeid man`

use std::io::Write;
use std::path::Path;

use clap::CommandFactory;

use crate::cli::{Cli, ManArgs};
use crate::failure::{Failure, Outcome};
use crate::terminal::output;

pub(crate) fn run(args: &ManArgs) -> Outcome {
    match &args.dir {
        Some(dir) => write_pages(dir),
        None => show_page(),
    }
}

fn show_page() -> Outcome {
    let mut page = Vec::new();
    clap_mangen::Man::new(Cli::command()).render(&mut page)?;
    let mut out = output::stream();
    out.write_all(&page)?;
    out.flush()?;
    Ok(())
}

fn write_pages(dir: &Path) -> Outcome {
    let doing = || format!("cannot write the manual to {}", dir.display());
    std::fs::create_dir_all(dir).map_err(|error| Failure::io(doing(), error))?;
    clap_mangen::generate_to(Cli::command(), dir).map_err(|error| Failure::io(doing(), error))
}
