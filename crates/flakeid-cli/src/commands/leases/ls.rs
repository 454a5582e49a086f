//! `flakeid leases ls`

use std::io::Write;

use super::args::LsArgs;
use super::json::Entry;
use super::view;
use crate::failure::Outcome;
use crate::terminal::output;

pub(super) fn run(args: &LsArgs) -> Outcome {
    let mut connection = args.store.connect()?;
    let listing = connection.list()?;
    if output::is_terminal() && !args.json {
        return Ok(output::show(&view::draw(&connection.name(), &listing, args.all))?);
    }
    let mut out = output::stream();
    for row in view::shown(&listing, args.all) {
        output::json_line(&mut out, &Entry::new(&listing, row, None))?;
    }
    out.flush()?;
    Ok(())
}
