//! Checks of the README: its programs match the example files, and its command works.

use flakeid_steps::{Failed, Outcome, Step, files, workspace};

/// The marker before a quoted code block. The path of the file follows it.
const MARKER: &str = "<!-- file: ";

/// The command that the README uses in a checkout.
const FROM_CHECKOUT: &str = "cargo run -p flakeid-cli --";
const FIVE_IDS: &str = "next -n 5 --store sqlite://flakeid.db";
const TESTS: &str = "cargo xtask test";

pub(crate) fn check() -> Outcome {
    let readme = files::text("README.md")?;
    let quotes = quotes(&readme)?;
    if quotes.is_empty() {
        return Err(Failed("README.md quotes no examples".to_owned()));
    }
    for (path, quoted) in quotes {
        if files::text(path)? != quoted {
            return Err(Failed(format!("README.md has an outdated quote of {path}")));
        }
    }
    for command in [&format!("{FROM_CHECKOUT} {FIVE_IDS}"), TESTS] {
        if !readme.lines().any(|line| line == command) {
            return Err(Failed(format!("README.md does not show the command: {command}")));
        }
    }
    let programs = workspace::build_programs(&["flakeid", "quickstart"])?;
    let built = |name: &str| files::shown(&programs.join(name));
    let arguments: Vec<&str> = FIVE_IDS.split(' ').collect();
    let ids = Step::new(&built("flakeid")?, &arguments).output()?;
    let ids: Result<Vec<u64>, _> = ids.lines().map(str::parse).collect();
    match ids {
        Ok(ids) if ids.len() == 5 && ids.is_sorted_by(|a, b| a < b) => {}
        _ => return Err(Failed(format!("`flakeid {FIVE_IDS}` did not print five increasing IDs"))),
    }
    Step::new(&built("quickstart")?, &[]).run()
}

/// Returns the path and the code of every quoted file.
fn quotes(readme: &str) -> Result<Vec<(&str, String)>, Failed> {
    let mut quotes = Vec::new();
    for part in readme.split(MARKER).skip(1) {
        let quote = part.split_once(" -->\n").and_then(|(path, rest)| {
            let (_fence, code) = rest.split_once('\n').filter(|(f, _)| f.starts_with("```"))?;
            let (code, _) = code.split_once("```")?;
            Some((path, code.to_owned()))
        });
        quotes
            .push(quote.ok_or_else(|| {
                Failed("a file marker in README.md has no code block".to_owned())
            })?);
    }
    Ok(quotes)
}
