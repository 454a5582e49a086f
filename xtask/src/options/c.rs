//! C: the flags, fields and conversions of its structs of options, their initialisers, and the setters of C++.

use std::collections::BTreeMap;

use flakeid_steps::Failed;

use super::part::{Lines, Part};
use super::spelling::{self, Language};
use super::table::{Field, Handle, Kind, Opt, Place, Table, Value};
use super::text::{Style, sentences, within, wrapped};

const WIDTH: usize = 100;

/// A field of a struct in C.
struct Member {
    name: String,
    kind: String,
    doc: String,
}

/// Generates the parts of the binding in Rust.
pub(super) fn binding(table: &Table, part: &Part<'_>) -> Lines {
    match part.name {
        "flags" => Ok(flags(table, part.handle)),
        "known" => Ok(known(table, part.handle)),
        "fields" => fields(table, part.handle),
        "set" => Ok(set(table, part.handle)),
        "c" => Ok(spelling::constant(table, Language::C, "C")),
        "cpp" => Ok(spelling::constant(table, Language::Cpp, "CPP")),
        "go" => Ok(spelling::constant(table, Language::Go, "GO")),
        "java" => Ok(spelling::constant(table, Language::Java, "JAVA")),
        _ => Err(part.unknown()),
    }
}

/// Returns the values of the initialisers in `flakeid.h`, by the names of the handles.
pub(super) fn initialisers(table: &Table) -> Result<BTreeMap<&'static str, String>, Failed> {
    [Handle::Generator, Handle::Lease, Handle::Ring]
        .into_iter()
        .map(|handle| {
            let members = members(table, handle)?;
            let zeros = members.iter().map(|member| {
                let is_number = matches!(&member.kind[..1], "u" | "i");
                if is_number { "0" } else { "NULL" }
            });
            // After struct_size and has.
            let values = zeros.fold("0".to_owned(), |values, zero| format!("{values}, {zero}"));
            let lines = wrapped("", "", &values, 64);
            Ok((handle.name(), lines.join(" \\\n     ")))
        })
        .collect()
}

fn flag(option: Opt<'_>) -> Option<String> {
    option.entry.c.flag.as_ref().map(|flag| format!("FLAKEID_HAS_{flag}"))
}

fn flags(table: &Table, handle: Handle) -> Vec<String> {
    let earlier: Vec<&str> = Handle::ALL
        .iter()
        .take_while(|other| **other != handle)
        .flat_map(|other| table.of(*other).filter_map(|option| option.entry.c.flag.as_deref()))
        .collect();
    let mut options: Vec<Opt<'_>> = table
        .of(handle)
        .filter(|option| {
            option.entry.c.flag.as_deref().is_some_and(|flag| !earlier.contains(&flag))
        })
        .collect();
    options.sort_by_key(|option| option.entry.c.bit);
    let mut lines = Vec::new();
    for option in options {
        let given = if option.kind() == Kind::Range {
            let [first, last] = Language::C.ends(option);
            format!("{first} and {last} are given")
        } else {
            format!("{} is given", Language::C.spelled(option))
        };
        let (name, bit) =
            (flag(option).unwrap_or_default(), option.entry.c.bit.unwrap_or_default());
        lines.push(format!("/// `has`: {given}."));
        lines.push(format!("pub const {name}: u32 = {bit};"));
    }
    lines
}

fn known(table: &Table, handle: Handle) -> Vec<String> {
    let flags: Vec<String> = table.of(handle).filter_map(flag).collect();
    let mut lines = vec!["#[rustfmt::skip]".to_owned()];
    lines.extend(wrapped("const KNOWN: u32 = ", "    ", &format!("{};", flags.join(" | ")), WIDTH));
    lines
}

fn fields(table: &Table, handle: Handle) -> Lines {
    let mut lines = Vec::new();
    for member in members(table, handle)? {
        lines.extend(wrapped("/// ", "/// ", &member.doc, WIDTH - 4));
        lines.push(format!("pub {}: {},", member.name, member.kind));
    }
    Ok(lines)
}

fn members(table: &Table, handle: Handle) -> Result<Vec<Member>, Failed> {
    let mut members = Vec::new();
    for place in table.places(handle)? {
        match place {
            Place::Field(name, Field { name: other, kind, doc }) => members.push(Member {
                name: other.as_deref().unwrap_or(name).to_owned(),
                kind: kind.clone(),
                doc: format!("{}.", doc.trim_end()),
            }),
            Place::Option(option) => members.extend(members_of(table, option)?),
        }
    }
    Ok(members)
}

fn members_of(table: &Table, option: Opt<'_>) -> Result<Vec<Member>, Failed> {
    let style = Style::of(table, Language::C);
    let name = Language::C.spelled(option);
    let c = &option.entry.c;
    let doc = c.doc.clone().map_or_else(|| style.doc(option), Ok)?;
    let more = style.more(option)?;
    let default = style.default(option)?;
    let member = |name: String, doc: String| Member { name, kind: kind(option).to_owned(), doc };
    if let Some(flag) = flag(option) {
        let condition = match default {
            Some(default) if option.kind() != Kind::Range => {
                format!(" ({flag}; otherwise {default})")
            }
            _ => format!(" ({flag})"),
        };
        let Some(ends) = &c.ends else {
            return Ok(vec![member(name, sentences(&(doc + &condition), more.as_deref()))]);
        };
        let [first, last] = Language::C.ends(option);
        let docs = ends.iter().map(|doc| format!("{doc}{condition}."));
        return Ok([first, last]
            .into_iter()
            .zip(docs)
            .map(|(name, doc)| member(name, doc))
            .collect());
    }
    let text = |phrase: &str| sentences(phrase, more.as_deref());
    Ok(match option.kind() {
        Kind::Numbers => {
            let phrase = format!("NULL, or {}", within(&doc));
            vec![
                member(name.clone(), text(&phrase)),
                Member {
                    name: count_name(&name),
                    kind: "usize".to_owned(),
                    doc: format!("The number of integers in {name}; 0 if {name} is NULL."),
                },
            ]
        }
        Kind::Choice => {
            let all = option.entry.all_values();
            let mut phrase =
                format!("{doc}: a constant FLAKEID_{}_...", option.name().to_uppercase());
            for value in all.iter().filter(|value| !option.values().contains(value)) {
                phrase.push_str(" except ");
                phrase.push_str(&style.value(option, &Value::Text(value.clone())));
            }
            vec![member(name, text(&phrase.replace("_...", "_*")))]
        }
        Kind::Flag if c.doc.is_some() => vec![member(name, format!("{doc}."))],
        Kind::Flag => vec![member(name, text(&format!("{doc}: 1 or 0")))],
        Kind::Text | Kind::Layout | Kind::Clock => {
            vec![member(name, text(&format!("{doc}; NULL is {}", default.unwrap_or_default())))]
        }
        _ => match default.as_deref() {
            None | Some("0") => vec![member(name, text(&doc))],
            Some(default) => vec![member(name, text(&format!("{doc}; 0 means {default}")))],
        },
    })
}

/// Returns the name of the field with the length of an array.
fn count_name(name: &str) -> String {
    format!("{}_count", name.strip_suffix('s').unwrap_or(name))
}

/// Returns the type of a field in Rust.
fn kind(option: Opt<'_>) -> &str {
    match (&option.entry.c.kind, option.kind()) {
        (Some(kind), _) => kind,
        (None, Kind::Number | Kind::Range | Kind::Duration) => "u64",
        (None, Kind::Numbers) => "*const u64",
        (None, Kind::Text | Kind::Layout | Kind::Clock) => "*const c_char",
        (None, Kind::Flag | Kind::Choice) => "i32",
        (None, Kind::Instant) => "i64",
        (None, Kind::Function) => "*mut c_void",
    }
}

/// Returns the statements that set the options of a builder by name.
fn set(table: &Table, handle: Handle) -> Vec<String> {
    let mut lines = Vec::new();
    for option in table.of(handle) {
        let (name, field) = (option.name(), Language::C.spelled(option));
        let widened = if kind(option) == "u64" { "" } else { ".into()" };
        let flagged = |flag: &str, name: &str, field: &str| {
            format!("set::flagged(builder, self.has, {flag}, \"{name}\", self.{field}{widened})?;")
        };
        let is_default = matches!(option.value(), Some(Value::Flag(true)));
        match (option.kind(), flag(option)) {
            (Kind::Layout | Kind::Instant | Kind::Function, _) => {}
            (Kind::Range, Some(flag)) => {
                let names = option.entry.ends.iter().flatten();
                let fields = Language::C.ends(option);
                lines.extend(names.zip(&fields).map(|(name, field)| flagged(&flag, name, field)));
            }
            (Kind::Choice, _) => {
                let values: Vec<String> =
                    option.entry.all_values().iter().map(|value| format!("\"{value}\"")).collect();
                lines.push(format!(
                    "set::choice(builder, \"{name}\", &[{}], self.{field})?;",
                    values.join(", ")
                ));
            }
            (Kind::Flag, _) => lines.push(format!(
                "set::flag(builder, \"{name}\", {is_default}, \"{field}\", self.{field})?;"
            )),
            (Kind::Text | Kind::Clock, _) => {
                lines.push(
                    "// SAFETY: the caller guarantees that strings are NULL or end in NUL."
                        .to_owned(),
                );
                lines.push(format!("unsafe {{ set::text(builder, \"{name}\", self.{field})? }};"));
            }
            (Kind::Numbers, _) => {
                let count = count_name(&field);
                lines.push(format!("// SAFETY: the caller guarantees that `{field}` is NULL or has `{count}` integers."));
                lines.push(format!(
                    "unsafe {{ set::numbers(builder, \"{name}\", self.{field}, self.{count})? }};"
                ));
            }
            (_, Some(flag)) => lines.push(flagged(&flag, name, &field)),
            (_, None) => lines
                .push(format!("set::unless_zero(builder, \"{name}\", self.{field}{widened})?;")),
        }
    }
    lines
}

/// Generates the parts of `options.hpp`.
pub(super) fn wrapper(table: &Table, part: &Part<'_>) -> Lines {
    let options = part.options(table)?;
    let class = match part.handle {
        Handle::Generator => "options",
        Handle::Lease | Handle::Fetch => "lease_options",
        Handle::Ring => "ring_options",
    };
    let texts = || options.iter().filter(|option| is_text(**option));
    match part.name {
        "setters" => setters(table, class, &options),
        "pointers" => Ok(texts()
            .map(|option| {
                let (field, name) = (Language::C.spelled(*option), member_name(*option));
                format!("config.{field} = {name} ? {name}->c_str() : nullptr;")
            })
            .collect()),
        "members" => {
            let names: Vec<String> = texts().map(|option| member_name(*option)).collect();
            Ok(vec![format!("std::optional<std::string> {};", names.join(", "))])
        }
        _ => Err(part.unknown()),
    }
}

fn is_text(option: Opt<'_>) -> bool {
    matches!(option.kind(), Kind::Text | Kind::Layout | Kind::Clock)
}

fn member_name(option: Opt<'_>) -> String {
    format!("{}_", Language::C.spelled(option))
}

fn setters(table: &Table, class: &str, options: &[Opt<'_>]) -> Lines {
    let style = Style::of(table, Language::Cpp);
    let mut lines = Vec::new();
    for option in options.iter().copied() {
        let doc = style.doc(option)?;
        let phrase = match style.default(option)? {
            Some(default) => format!("{doc} (default: {default})"),
            None => doc,
        };
        let text = sentences(&phrase, style.more(option)?.as_deref());
        lines.extend(wrapped("// ", "// ", &text, WIDTH - 4));
        let (name, field) = (Language::Cpp.spelled(option), Language::C.spelled(option));
        let flag = flag(option).unwrap_or_else(|| "0".to_owned());
        let (parameters, value) = match option.kind() {
            Kind::Number => {
                let kind = if kind(option) == "u32" { "std::uint32_t" } else { "std::uint64_t" };
                (format!("{kind} value"), "value".to_owned())
            }
            Kind::Duration => ("milliseconds value".to_owned(), "detail::count(value)".to_owned()),
            Kind::Flag => {
                let is_default = matches!(option.value(), Some(Value::Flag(true)));
                let value = if is_default { "0 : 1" } else { "1 : 0" };
                ("bool value".to_owned(), format!("value ? {value}"))
            }
            Kind::Choice => {
                (format!("flakeid::{name} value"), "static_cast<std::int32_t>(value)".to_owned())
            }
            Kind::Range => {
                let [first, last] = Language::C.ends(option);
                let [from, to] = option.end_words();
                lines.push(format!("{class} &{name}(std::uint64_t {from}, std::uint64_t {to}) {{"));
                lines.push(format!("    config_.{last} = {to};"));
                lines.push(format!("    return set({flag}, config_.{first}, {from});"));
                lines.push("}".to_owned());
                continue;
            }
            _ if is_text(option) => {
                let member = member_name(option);
                lines.push(format!("{class} &{name}(std::string value) {{"));
                lines.push(format!("    {member} = detail::whole(std::move(value));"));
                lines.push("    return *this;".to_owned());
                lines.push("}".to_owned());
                continue;
            }
            kind => {
                return Err(Failed(format!(
                    "C++ has no setter for {kind:?}; write {name} by hand"
                )));
            }
        };
        let body = format!("return set({flag}, config_.{field}, {value});");
        let line = format!("{class} &{name}({parameters}) {{ {body} }}");
        if line.chars().count() <= WIDTH - 4 {
            lines.push(line);
        } else {
            lines.push(format!("{class} &{name}({parameters}) {{"));
            lines.push(format!("    {body}"));
            lines.push("}".to_owned());
        }
    }
    Ok(lines)
}
