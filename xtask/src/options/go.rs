//! Go: the functions that make options.

use flakeid_steps::Failed;

use super::part::{Lines, Part};
use super::spelling::{Language, camel_case, pascal_case};
use super::table::{Handle, Kind, Opt, Table};
use super::text::{Style, wrapped};

/// Generates the parts of `options.go`.
pub(super) fn setters(table: &Table, part: &Part<'_>) -> Lines {
    let is_shared = match part.name {
        "shared" => true,
        "own" => false,
        _ => return Err(part.unknown()),
    };
    let style = Style::of(table, Language::Go);
    let mut lines = vec![String::new()];
    let options = part.options(table)?;
    for option in options.into_iter().filter(|option| option.is_shared() == is_shared) {
        let name = Language::Go.spelled(option);
        let text = format!("{name} {}", style.of_setter(option, "sets", "; otherwise")?);
        lines.extend(wrapped("// ", "// ", &text, 105));
        lines.extend(setter(option)?);
        // A mark right before a function would belong to its documentation.
        lines.push(String::new());
    }
    Ok(lines)
}

fn setter(option: Opt<'_>) -> Lines {
    let (name, canonical) = (Language::Go.spelled(option), option.name());
    let parameter = camel_case(option.unitless());
    let (parameters, statements) = match option.kind() {
        Kind::Number => {
            let kind =
                if option.entry.c.kind.as_deref() == Some("u32") { "uint32" } else { "uint64" };
            let value =
                if kind == "uint64" { parameter.clone() } else { format!("uint64({parameter})") };
            (format!("{parameter} {kind}"), vec![format!("s.number(\"{canonical}\", {value})")])
        }
        Kind::Numbers => (
            format!("{parameter} ...uint64"),
            vec![format!("s.numbers(\"{canonical}\", {parameter})")],
        ),
        Kind::Range => {
            let words = option.end_words();
            let ends = option.entry.ends.iter().flatten();
            let statements =
                ends.zip(words).map(|(end, word)| format!("s.number(\"{end}\", {word})"));
            (format!("{} uint64", words.join(", ")), statements.collect())
        }
        Kind::Duration => (
            format!("{parameter} time.Duration"),
            vec![format!("s.duration(\"{canonical}\", \"{name}\", {parameter})")],
        ),
        Kind::Text | Kind::Clock => (
            format!("{parameter} string"),
            vec![format!("s.text(\"{canonical}\", \"{name}\", {parameter})")],
        ),
        Kind::Flag => {
            (format!("{parameter} bool"), vec![format!("s.flag(\"{canonical}\", {parameter})")])
        }
        Kind::Choice => {
            let values: Vec<String> =
                option.entry.all_values().iter().map(|value| format!("\"{value}\"")).collect();
            let kind = pascal_case(canonical);
            let call =
                format!("s.choice(\"{canonical}\", int32({parameter}), {})", values.join(", "));
            (format!("{parameter} {kind}"), vec![call])
        }
        kind => return Err(Failed(format!("Go has no setter for {kind:?}; write {name} by hand"))),
    };
    let kind = match option.handle {
        _ if option.is_shared() => "SharedOption",
        Handle::Generator => "Option",
        _ => "LeaseOption",
    };
    let (begin, end) = match kind {
        "SharedOption" => ("func(s *settings)", ""),
        "Option" => ("option(func(s *settings)", ")"),
        _ => ("leaseOption(func(s *settings)", ")"),
    };
    let mut lines = vec![format!("func {name}({parameters}) {kind} {{")];
    match &statements[..] {
        [one] if one.len() < 70 => lines.push(format!("\treturn {begin} {{ {one} }}{end}")),
        several => {
            lines.push(format!("\treturn {begin} {{"));
            lines.extend(several.iter().map(|statement| format!("\t\t{statement}")));
            lines.push(format!("\t}}{end}"));
        }
    }
    lines.push("}".to_owned());
    Ok(lines)
}
