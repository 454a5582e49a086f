//! Checks of the README: its programs match the example files, and its command works.

use flakeid_steps::{Failed, Outcome, Step, files, workspace};

/// The marker before a quoted code block. The path of the file follows it.
const MARKER: &str = "<!-- file: ";

/// The commands that the README uses in a checkout. The first one generates IDs.
const COMMANDS: [&str; 2] = [
    "cargo run -p flakeid-cli --no-default-features -- next -n 5 --store sqlite://flakeid.db",
    "cargo run -p flakeid-cli --no-default-features -- inspect 2126905504767672320",
];

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
    for command in COMMANDS {
        if !readme.lines().any(|line| line == command) {
            return Err(Failed(format!("README.md does not show the command: {command}")));
        }
    }
    let [arguments, inspect] =
        COMMANDS.map(|command| command.split(' ').skip(1).collect::<Vec<_>>());
    let ids = Step::cargo(&arguments).output()?;
    let ids: Result<Vec<u64>, _> = ids.lines().map(str::parse).collect();
    match ids {
        Ok(ids) if ids.len() == 5 && ids.is_sorted_by(|a, b| a < b) => {}
        _ => return Err(Failed(format!("`{}` did not print five increasing IDs", COMMANDS[0]))),
    }
    Step::cargo(&inspect).run()?;
    omitted_parts_are_reported(&arguments)?;
    let programs = workspace::build_programs(&["first"])?;
    Step::new(&files::shown(&programs.join("first"))?, &[]).run()
}

/// Checks that the command of the README names the Cargo feature of each part that it omits. `next` contains the
/// arguments of cargo for the README's command.
fn omitted_parts_are_reported(next: &[&str]) -> Outcome {
    let cargo = next.split(|word| *word == "--").next().unwrap_or_default();
    for (arguments, feature) in [
        (&["serve", "--help"][..], "`http`"),
        (&["next", "--store", "http://localhost:7117"], "`http`"),
        (&["next", "--store", "postgresql://localhost/ids"], "`postgres`"),
    ] {
        let Err(Failed(error)) = Step::cargo(cargo).args(&["--"]).args(arguments).output() else {
            return Err(Failed(format!("`flakeid {arguments:?}` did not fail without {feature}")));
        };
        for part in ["FLAKEID_INVALID_OPTION", feature, "cargo install --locked flakeid-cli"] {
            if !error.contains(part) {
                return Err(Failed(format!("{arguments:?} does not report {part}: {error}")));
            }
        }
    }
    Ok(())
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
