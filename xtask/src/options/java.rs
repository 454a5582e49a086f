//! Java: the methods of its builders.

use flakeid_steps::Failed;

use super::part::{Lines, Part};
use super::spelling::{Language, camel_case, pascal_case};
use super::table::{Handle, Kind, Opt, Table};
use super::text::{Style, wrapped};

const WIDTH: usize = 112;

/// Generates the parts of the builders.
pub(super) fn setters(table: &Table, part: &Part<'_>) -> Lines {
    let (is_shared, class) = match (part.name, part.handle) {
        ("shared", _) => (true, "B"),
        ("own", Handle::Generator) => (false, "GeneratorBuilder"),
        ("own", Handle::Lease) => (false, "LeaseBuilder"),
        ("own", Handle::Ring) => (false, "Builder"),
        _ => return Err(part.unknown()),
    };
    let style = Style::of(table, Language::Java);
    let mut lines = Vec::new();
    let options = part.options(table)?;
    for option in options.into_iter().filter(|option| option.is_shared() == is_shared) {
        if !lines.is_empty() {
            lines.push(String::new());
        }
        lines.extend(comment(&style.of_setter(option, "Sets", "; the default is")?));
        lines.extend(setter(option, class)?);
    }
    Ok(lines)
}

/// Returns a comment, on one line if it fits.
fn comment(text: &str) -> Vec<String> {
    let line = format!("/** {text} */");
    if line.chars().count() <= WIDTH {
        return vec![line];
    }
    let mut lines = vec!["/**".to_owned()];
    lines.extend(wrapped(" * ", " * ", text, WIDTH));
    lines.push(" */".to_owned());
    lines
}

fn setter(option: Opt<'_>, class: &str) -> Lines {
    let (name, canonical) = (Language::Java.spelled(option), option.name());
    let parameter = camel_case(option.unitless());
    let (parameters, calls) = match option.kind() {
        Kind::Number => {
            let kind = if option.entry.c.kind.as_deref() == Some("u32") { "int" } else { "long" };
            let call = match option.entry.least {
                0 => format!("number(\"{canonical}\", {parameter})"),
                least => format!("number(\"{canonical}\", \"{name}\", {least}, {parameter})"),
            };
            (format!("{kind} {parameter}"), vec![call])
        }
        Kind::Numbers => {
            (format!("long... {parameter}"), vec![format!("numbers(\"{canonical}\", {parameter})")])
        }
        Kind::Range => {
            let words = option.end_words();
            let ends = option.entry.ends.iter().flatten();
            let calls = ends.zip(words).map(|(end, word)| format!("number(\"{end}\", {word})"));
            (words.map(|word| format!("long {word}")).join(", "), calls.collect())
        }
        Kind::Duration => (
            format!("Duration {parameter}"),
            vec![format!("duration(\"{canonical}\", \"{name}\", {parameter})")],
        ),
        Kind::Text | Kind::Clock => (
            format!("String {parameter}"),
            vec![format!("text(\"{canonical}\", \"{parameter}\", {parameter})")],
        ),
        Kind::Flag => {
            (format!("boolean {parameter}"), vec![format!("flag(\"{canonical}\", {parameter})")])
        }
        Kind::Choice => (
            format!("{} {parameter}", pascal_case(canonical)),
            vec![format!("choice(\"{canonical}\", {parameter})")],
        ),
        kind => {
            return Err(Failed(format!("Java has no setter for {kind:?}; write {name} by hand")));
        }
    };
    let mut lines = vec![format!("public {class} {name}({parameters}) {{")];
    lines.extend(calls.iter().map(|call| format!("    settings.{call};")));
    lines.push(if class == "B" { "    return self();" } else { "    return this;" }.to_owned());
    lines.push("}".to_owned());
    Ok(lines)
}
