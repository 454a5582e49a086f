//! Every public type of the crates for users has an example, which is also one of its first function.

use std::path::{Path, PathBuf};

use flakeid_steps::{Failed, Outcome, files};

/// The crates whose public types need examples.
const CRATES: [&str; 1] = ["crates/flakeid-core/src"];

/// Checks the sources that are among `paths`.
pub(crate) fn check(paths: &[PathBuf]) -> Outcome {
    let mut missing = String::new();
    for path in paths.iter().filter(|path| is_checked(path)) {
        for (line, what) in without_example(&files::text(path)?) {
            missing += &format!("{}:{line}: {what} has no example\n", path.display());
        }
    }
    if missing.is_empty() { Ok(()) } else { Err(Failed(missing)) }
}

fn is_checked(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "rs")
        && CRATES.iter().any(|folder| path.starts_with(folder))
}

/// Returns the public types without an example, and the first functions that no example calls, each with its line.
fn without_example(source: &str) -> Vec<(usize, String)> {
    let lines: Vec<&str> = source.lines().collect();
    let mut missing = Vec::new();
    for (at, line) in lines.iter().enumerate() {
        let Some((kind, name)) = public_type(line) else { continue };
        let example = example_above(&lines[..at]);
        if example.is_empty() {
            missing.push((at + 1, name.to_owned()));
        }
        let body = match kind {
            "trait" => Some(at),
            _ => lines.iter().position(|line| is_impl_of(line, name)),
        };
        let function = body.and_then(|body| {
            let rest = lines[body + 1..].iter().take_while(|line| !line.starts_with('}'));
            (body + 2..).zip(rest).find_map(|(at, line)| Some((at, function(line, kind)?)))
        });
        if let Some((at, function)) = function
            && !example.iter().any(|line| line.contains(&format!("{function}(")))
            && example_above(&lines[..at - 1]).is_empty()
        {
            missing.push((at, format!("{name}::{function}")));
        }
    }
    missing
}

/// Returns what the line declares, if it is a public type.
fn public_type(line: &str) -> Option<(&str, &str)> {
    let (kind, rest) = line.strip_prefix("pub ")?.split_once(' ')?;
    let name = rest.split(|letter: char| !letter.is_alphanumeric()).next()?;
    matches!(kind, "struct" | "enum" | "trait").then_some((kind, name))
}

/// Whether the line begins the type's own functions, not those of a trait.
fn is_impl_of(line: &str, name: &str) -> bool {
    let mut words = line.split(|letter: char| !letter.is_alphanumeric());
    line.starts_with("impl") && !line.contains(" for ") && words.any(|word| word == name)
}

fn function<'a>(line: &'a str, kind: &str) -> Option<&'a str> {
    let public = if kind == "trait" { "    " } else { "    pub " };
    let rest = line.strip_prefix(public)?;
    let rest = rest.strip_prefix("const ").unwrap_or(rest).strip_prefix("fn ")?;
    rest.split(['(', '<']).next()
}

/// Returns the documentation that ends above an item, if there is an example in it.
fn example_above<'a>(lines: &[&'a str]) -> Vec<&'a str> {
    let above = lines.iter().rev().map(|line| line.trim_start());
    let documentation: Vec<_> =
        above.take_while(|line| line.starts_with("///") || line.starts_with("#[")).collect();
    if documentation.contains(&"/// ```") { documentation } else { Vec::new() }
}
