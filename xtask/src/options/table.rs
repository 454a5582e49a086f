//! The contents of `options.toml`, and each option as one kind of handle has it.
#![expect(dead_code, reason = "C, Go, Java and the command follow")]

use std::collections::BTreeMap;

use flakeid_steps::{Failed, files};
use serde::Deserialize;

const PLACE: &str = "options.toml";

/// The handles that have options.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq, PartialOrd, Ord)]
#[serde(rename_all = "lowercase")]
pub(super) enum Handle {
    Generator,
    Lease,
    /// A lease of WebAssembly.
    Fetch,
    Ring,
}

impl Handle {
    pub(super) const ALL: [Self; 4] = [Self::Generator, Self::Lease, Self::Fetch, Self::Ring];

    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Generator => "generator",
            Self::Lease => "lease",
            Self::Fetch => "fetch",
            Self::Ring => "ring",
        }
    }
}

/// The kind of an option's values.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub(super) enum Kind {
    Number,
    Numbers,
    Range,
    Duration,
    Text,
    Flag,
    Choice,
    Layout,
    Instant,
    Clock,
    Function,
}

#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum OneOrTwo {
    One(String),
    Two([String; 2]),
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Differing {
    doc: Option<String>,
    more: Option<String>,
    default: Option<String>,
    values: Option<Vec<String>>,
}

/// The properties of an option in C.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct OfC {
    #[serde(rename = "type")]
    pub(super) kind: Option<String>,
    pub(super) flag: Option<String>,
    pub(super) bit: Option<u32>,
    pub(super) doc: Option<String>,
    pub(super) ends: Option<[String; 2]>,
}

/// The properties of a flag of the command.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct OfCommand {
    pub(super) placeholder: String,
    pub(super) more: Option<String>,
}

#[derive(Debug, Deserialize)]
#[serde(untagged)]
pub(super) enum Value {
    Text(String),
    Number(u64),
    Flag(bool),
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Entry {
    pub(super) name: String,
    of: Vec<Handle>,
    pub(super) kind: Kind,
    doc: String,
    more: Option<String>,
    default: Option<String>,
    pub(super) value: Option<Value>,
    #[serde(default)]
    pub(super) least: u64,
    pub(super) ends: Option<[String; 2]>,
    #[serde(default)]
    values: Vec<String>,
    #[serde(default)]
    pub(super) c: OfC,
    pub(super) command: Option<OfCommand>,
    #[serde(default)]
    spelling: BTreeMap<String, OneOrTwo>,
    #[serde(default)]
    generator: Differing,
    #[serde(default)]
    lease: Differing,
    #[serde(default)]
    fetch: Differing,
    #[serde(default)]
    ring: Differing,
}

impl Entry {
    /// Returns the values of a choice that any handle knows.
    pub(super) fn all_values(&self) -> &[String] {
        &self.values
    }
}

/// A field of one of C's structs that the options do not determine.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Field {
    pub(super) name: Option<String>,
    #[serde(rename = "type")]
    pub(super) kind: String,
    pub(super) doc: String,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Structs {
    generator: String,
    lease: String,
    ring: String,
    fields: BTreeMap<String, Field>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Fields {
    names: Vec<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Table {
    option: Vec<Entry>,
    c: Structs,
    fields: Fields,
}

/// An option of a handle.
#[derive(Clone, Copy)]
pub(super) struct Opt<'a> {
    pub(super) entry: &'a Entry,
    pub(super) handle: Handle,
}

/// A place in one of C's structs.
pub(super) enum Place<'a> {
    Option(Opt<'a>),
    Field(&'a str, &'a Field),
}

impl Table {
    pub(super) fn read() -> Result<Self, Failed> {
        let wrong = |error: &dyn std::fmt::Display| Failed(format!("{PLACE}: {error}"));
        let table: Self = toml::from_str(&files::text(PLACE)?).map_err(|error| wrong(&error))?;
        table.check().map_err(|error| wrong(&error))?;
        Ok(table)
    }

    fn check(&self) -> Result<(), String> {
        for entry in &self.option {
            let name = &entry.name;
            if (entry.kind == Kind::Range) != entry.ends.is_some() {
                return Err(format!("{name}: a range, and nothing else, has ends"));
            }
            if (entry.kind == Kind::Duration) != name.ends_with("_ms") {
                return Err(format!(
                    "{name}: the name of a duration, and of nothing else, ends in _ms"
                ));
            }
            if (entry.kind == Kind::Choice) == entry.values.is_empty() {
                return Err(format!("{name}: a choice, and nothing else, has values"));
            }
            if entry.doc.ends_with('.') {
                return Err(format!("{name}: doc has no full stop"));
            }
        }
        for handle in [Handle::Generator, Handle::Lease, Handle::Ring] {
            let order = self.order(handle);
            for option in self.of(handle) {
                let name = &option.entry.name;
                if !order.split_whitespace().any(|known| known == name) {
                    return Err(format!("{name} is missing in the fields of c.{}", handle.name()));
                }
            }
        }
        Ok(())
    }

    fn order(&self, handle: Handle) -> &str {
        match handle {
            Handle::Generator => &self.c.generator,
            Handle::Lease => &self.c.lease,
            Handle::Fetch => "",
            Handle::Ring => &self.c.ring,
        }
    }

    /// Returns the options of a handle, in the order of the table.
    pub(super) fn of(&self, handle: Handle) -> impl Iterator<Item = Opt<'_>> {
        let entries = self.option.iter().filter(move |entry| entry.of.contains(&handle));
        entries.map(move |entry| Opt { entry, handle })
    }

    /// Returns all options, each as the first of its handles has it.
    pub(super) fn all(&self) -> impl Iterator<Item = Opt<'_>> {
        self.option.iter().map(|entry| Opt { entry, handle: entry.of[0] })
    }

    /// Returns the option of that name.
    pub(super) fn named(&self, handle: Handle, name: &str) -> Result<Opt<'_>, Failed> {
        self.of(handle)
            .find(|option| option.entry.name == name)
            .or_else(|| self.all().find(|option| option.entry.name == name))
            .ok_or_else(|| Failed(format!("{PLACE}: there is no option {name}")))
    }

    /// Returns the fields of the struct of a handle in C.
    pub(super) fn places(&self, handle: Handle) -> Result<Vec<Place<'_>>, Failed> {
        let place = |name| {
            if let Some((name, field)) = self.c.fields.get_key_value(name) {
                return Ok(Place::Field(name, field));
            }
            let option = self.of(handle).find(|option| option.entry.name == name);
            option
                .map(Place::Option)
                .ok_or_else(|| Failed(format!("{PLACE}: c.{}: no option {name}", handle.name())))
        };
        self.order(handle).split_whitespace().map(place).collect()
    }

    /// Returns the fields of IDs that messages name.
    pub(super) fn fields(&self) -> &[String] {
        &self.fields.names
    }
}

impl<'a> Opt<'a> {
    pub(super) fn name(self) -> &'a str {
        &self.entry.name
    }

    pub(super) const fn kind(self) -> Kind {
        self.entry.kind
    }

    /// Returns the name without its unit.
    pub(super) fn unitless(self) -> &'a str {
        self.name().strip_suffix("_ms").unwrap_or(&self.entry.name)
    }

    fn differing(self) -> &'a Differing {
        match self.handle {
            Handle::Generator => &self.entry.generator,
            Handle::Lease => &self.entry.lease,
            Handle::Fetch => &self.entry.fetch,
            Handle::Ring => &self.entry.ring,
        }
    }

    pub(super) fn doc(self) -> &'a str {
        self.differing().doc.as_deref().unwrap_or(&self.entry.doc)
    }

    pub(super) fn more(self) -> Option<&'a str> {
        self.differing().more.as_deref().or(self.entry.more.as_deref())
    }

    /// Returns the default as text, unless it is a value.
    pub(super) fn default(self) -> Option<&'a str> {
        self.differing().default.as_deref().or(self.entry.default.as_deref())
    }

    /// Returns the default as a value, unless the handle has another default.
    pub(super) fn value(self) -> Option<&'a Value> {
        self.entry.value.as_ref().filter(|_| self.default().is_none())
    }

    pub(super) fn values(self) -> &'a [String] {
        self.differing().values.as_deref().unwrap_or(&self.entry.values)
    }

    /// Returns the name in a language, or the names of both ends, unless it follows the language's rule.
    pub(super) fn irregular(self, language: &str) -> Option<Vec<&'a str>> {
        self.entry.spelling.get(language).map(|names| match names {
            OneOrTwo::One(name) => vec![name.as_str()],
            OneOrTwo::Two([first, second]) => vec![first.as_str(), second.as_str()],
        })
    }

    /// Returns the words for both ends of a range: `from` and `to`.
    pub(super) fn end_words(self) -> [&'a str; 2] {
        let word = |end: &'a String| end.rsplit_once('_').map_or(end.as_str(), |(_, word)| word);
        self.entry.ends.as_ref().map_or([""; 2], |[first, last]| [word(first), word(last)])
    }

    /// Whether the handles of a language share its setter: generators and leases have it, in the same form.
    pub(super) fn is_shared(self) -> bool {
        [Handle::Generator, Handle::Lease].iter().all(|handle| self.entry.of.contains(handle))
    }
}
