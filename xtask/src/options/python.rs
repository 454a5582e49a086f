//! Python: the documentation and signatures of the binding, and the stub.

use super::part::{Lines, Part};
use super::spelling::{self, Language};
use super::table::{Handle, Kind, Opt, Table, Value};
use super::text::{Style, wrapped};

/// Generates the parts of the binding in Rust.
pub(super) fn binding(table: &Table, part: &Part<'_>) -> Lines {
    match part.name {
        "arguments" => arguments(table, part),
        "signature" => Ok(signature(table, part)),
        "spelling" => Ok(spelling::constant(table, Language::Python, "SPELLING")),
        _ => Err(part.unknown()),
    }
}

/// Generates the parts of the stub.
pub(super) fn stub(table: &Table, part: &Part<'_>) -> Lines {
    if part.name != "parameters" {
        return Err(part.unknown());
    }
    let options = part.options(table)?;
    Ok(options.into_iter().map(|option| format!("{},", parameter(option))).collect())
}

/// Returns the lines of a docstring.
fn arguments(table: &Table, part: &Part<'_>) -> Lines {
    let style = Style::of(table, Language::Python);
    let mut lines = Vec::new();
    for option in part.options(table)? {
        let default = style.default(option)?;
        let default = default.map_or_else(String::new, |text| format!(" (default: {text})"));
        let values: Vec<String> = option
            .values()
            .iter()
            .map(|value| style.value(option, &Value::Text(value.clone())))
            .collect();
        let values = listed(&values);
        let more = style.more(option)?.map_or_else(String::new, |more| format!(" {more}"));
        let doc = style.doc(option)?;
        let text = format!("{doc}{values}{default}.{more}");
        let first = format!("///     {}: ", Language::Python.spelled(option));
        lines.extend(wrapped(&first, "///         ", &text, 100));
    }
    Ok(lines)
}

/// Returns `: 'a', 'b' or 'c'` for the end of a phrase.
fn listed(values: &[String]) -> String {
    match values.split_last() {
        None => String::new(),
        Some((last, others)) => format!(": {} or {last}", others.join(", ")),
    }
}

/// Returns the signature that `help()` shows.
fn signature(table: &Table, part: &Part<'_>) -> Vec<String> {
    let options: Vec<Opt<'_>> = table.of(part.handle).collect();
    let names = options.into_iter().map(|option| {
        let default = shown(option).map_or_else(|| "None".to_owned(), literal);
        format!("{}={default}", Language::Python.spelled(option))
    });
    let leading = match part.handle {
        Handle::Generator => "*",
        Handle::Ring => "generator, *",
        Handle::Lease | Handle::Fetch => "url, *",
    };
    let text = names.fold(leading.to_owned(), |text, name| format!("{text}, {name}"));
    let mut lines =
        wrapped("text_signature = \"(", "                  ", &format!("{text})\""), 92);
    let last = lines.len() - 1;
    for line in &mut lines[..last] {
        line.push_str(" \\");
    }
    lines
}

/// Returns the default in signatures; the documentation alone has the default of a choice.
fn shown(option: Opt<'_>) -> Option<&Value> {
    option.value().filter(|_| option.kind() != Kind::Choice)
}

fn literal(value: &Value) -> String {
    match value {
        Value::Text(text) => format!("'{text}'"),
        Value::Number(number) => number.to_string(),
        Value::Flag(true) => "True".to_owned(),
        Value::Flag(false) => "False".to_owned(),
    }
}

fn parameter(option: Opt<'_>) -> String {
    let number = "SupportsIndex";
    let kind = match option.kind() {
        Kind::Number | Kind::Instant => number.to_owned(),
        Kind::Numbers => format!("Sequence[{number}]"),
        Kind::Range => format!("tuple[{number}, {number}]"),
        Kind::Duration => "float | timedelta".to_owned(),
        Kind::Text => "str".to_owned(),
        Kind::Flag => "bool".to_owned(),
        Kind::Choice => literals(option),
        Kind::Layout => "Layout | str".to_owned(),
        Kind::Clock if option.handle == Handle::Generator => {
            "Literal[\"gated\", \"system\", \"coarse\"] | ManualClock".to_owned()
        }
        Kind::Clock => "Literal[\"gated\", \"system\", \"coarse\"]".to_owned(),
        Kind::Function if option.handle == Handle::Ring => {
            "Callable[[FlakeIdError], object]".to_owned()
        }
        Kind::Function => "Callable[[LeaseEvent], object]".to_owned(),
    };
    let name = Language::Python.spelled(option);
    match shown(option) {
        Some(value) => format!("{name}: {kind} = {}", literal(value).replace('\'', "\"")),
        None => format!("{name}: {kind} | None = None"),
    }
}

fn literals(option: Opt<'_>) -> String {
    let values: Vec<String> = option.values().iter().map(|value| format!("\"{value}\"")).collect();
    format!("Literal[{}]", values.join(", "))
}
