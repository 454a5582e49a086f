//! A lint that every public type of the crates for users has an example, which also calls the type's first
//! function.

use std::collections::BTreeSet;
use std::path::PathBuf;

use flakeid_steps::{Failed, Outcome, files};

/// The crates whose public types need examples, without the beginning of their names.
const CRATES: [&str; 7] = ["", "-conformance", "-core", "-json", "-protocol", "-server", "-stores"];

/// Checks the sources that are among `paths`. Lint rejects a `pub` type that users cannot reach, so all others count.
pub(crate) fn check(paths: &[PathBuf]) -> Outcome {
    let mut missing = String::new();
    for folder in CRATES.map(|name| PathBuf::from(format!("crates/flakeid{name}/src"))) {
        let mut sources = Vec::new();
        let mut hidden = BTreeSet::new();
        let rust = |path: &&PathBuf| path.extension().is_some_and(|extension| extension == "rs");
        for path in paths.iter().filter(|path| path.starts_with(&folder)).filter(rust) {
            let source = files::text(path)?;
            hidden.extend(hidden_names(&source, "use"));
            // A module is hidden with its files.
            if path.parent() == Some(folder.as_path()) {
                hidden.extend(hidden_names(&source, "mod"));
            }
            sources.push((path, source));
        }
        for (path, source) in sources {
            let inside = path.strip_prefix(&folder).unwrap_or(path).with_extension("");
            let module = inside.iter().next().map(|name| name.to_string_lossy().into_owned());
            // Generated code has no examples.
            let is_generated = path.to_string_lossy().ends_with(".v1.rs");
            if is_generated || module.is_some_and(|module| hidden.contains(&module)) {
                continue;
            }
            let path = path.display();
            let found = without_example(&source, &hidden).into_iter();
            missing.extend(
                found.map(|(line, what)| format!("{path}:{line}: {what} has no example\n")),
            );
        }
    }
    if missing.is_empty() { Ok(()) } else { Err(Failed(missing)) }
}

/// Returns the names in declarations such as `pub use` that the documentation does not show.
fn hidden_names(source: &str, kind: &str) -> BTreeSet<String> {
    let declarations = source.split("#[doc(hidden)]\n").skip(1);
    let shown = declarations.filter_map(|rest| {
        let declaration = rest.split_once("pub ")?.1.strip_prefix(kind)?;
        declaration.split_once(';').map(|(names, _)| names)
    });
    let is_part = |letter: char| letter.is_alphanumeric() || letter == '_';
    shown.flat_map(|names| names.split(move |letter| !is_part(letter))).map(str::to_owned).collect()
}

/// Returns the public types without an example, and the first functions that no example calls, with their lines.
fn without_example(source: &str, hidden: &BTreeSet<String>) -> Vec<(usize, String)> {
    let lines: Vec<&str> = source.lines().collect();
    let mut missing = Vec::new();
    for (at, line) in lines.iter().enumerate() {
        let Some((kind, name)) = public_type(line) else { continue };
        if hidden.contains(name) {
            continue;
        }
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

/// Returns the kind and the name of the type that the line declares, if the type is public.
fn public_type(line: &str) -> Option<(&str, &str)> {
    let (kind, rest) = line.strip_prefix("pub ")?.split_once(' ')?;
    let name = rest.split(|letter: char| !letter.is_alphanumeric()).next()?;
    matches!(kind, "struct" | "enum" | "trait").then_some((kind, name))
}

/// Whether the line begins an inherent `impl` of the type, not the `impl` of a trait.
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

/// Returns the documentation above an item, if it contains an example.
fn example_above<'a>(lines: &[&'a str]) -> Vec<&'a str> {
    let above = lines.iter().rev().map(|line| line.trim_start());
    let documentation: Vec<_> =
        above.take_while(|line| line.starts_with("///") || line.starts_with("#[")).collect();
    let has_example = documentation.iter().any(|line| line.starts_with("/// ```"));
    if has_example { documentation } else { Vec::new() }
}
