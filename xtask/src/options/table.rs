//! The contents of `options.toml`, and each option as one kind of handle has it.

use std::collections::BTreeMap;

use flakeid_steps::{Failed, files};
use serde::Deserialize;
use toml::Value;

const PLACE: &str = "options.toml";

/// The handles that have options, the structs of C, and IDs.
pub(super) const HANDLES: [&str; 8] =
    ["generator", "lease", "fetch", "ring", "namespace", "struct", "id", "instance"];

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Table {
    #[serde(rename = "option")]
    options: Vec<Entry>,
    order: BTreeMap<String, String>,
}

#[derive(Deserialize)]
struct Entry {
    name: String,
    of: Vec<String>,
    kind: String,
    doc: String,
    #[serde(default)]
    values: Vec<String>,
    #[serde(default)]
    ends: Vec<String>,
    /// The other properties, and the tables of handles and languages.
    #[serde(flatten)]
    others: toml::Table,
}

/// An option of a handle.
#[derive(Clone, Copy)]
pub(super) struct Opt<'a> {
    entry: &'a Entry,
    pub(super) handle: &'a str,
}

impl Table {
    /// Reads the table, and checks its keys against the given ones.
    pub(super) fn read(is_known: impl Fn(&str, &str) -> bool) -> Result<Self, Failed> {
        let table: Self = toml::from_str(&files::text(PLACE)?)
            .map_err(|error| Failed(format!("{PLACE}: {error}")))?;
        for entry in &table.options {
            entry
                .check(&is_known)
                .map_err(|reason| Failed(format!("{PLACE}: {}: {reason}", entry.name)))?;
        }
        for handle in table.order.keys() {
            let ordered: Vec<&str> =
                table.in_order(handle)?.iter().map(|option| option.name()).collect();
            if let Some(option) = table.of(handle).find(|option| !ordered.contains(&option.name()))
            {
                return Err(Failed(format!(
                    "{PLACE}: order.{handle}: {} is missing",
                    option.name()
                )));
            }
        }
        Ok(table)
    }

    /// Returns the options of a handle, in the order of the table; those of all handles with options for `all`.
    pub(super) fn of<'a>(&'a self, handle: &'a str) -> impl Iterator<Item = Opt<'a>> {
        self.options.iter().filter_map(move |entry| {
            let is_in = |known: &&String| {
                **known == handle || handle == "all" && HANDLES[..5].contains(&known.as_str())
            };
            entry.of.iter().find(is_in).map(|handle| Opt { entry, handle })
        })
    }

    /// Returns the option of that name, of the given handle if it has such an option.
    pub(super) fn named<'a>(&'a self, handle: &'a str, name: &str) -> Result<Opt<'a>, Failed> {
        [handle, "all", "struct"]
            .into_iter()
            .find_map(|handle| self.of(handle).find(|option| option.name() == name))
            .ok_or_else(|| Failed(format!("{PLACE}: there is no option {name}")))
    }

    /// Returns the options and other fields of the struct of a handle in C.
    pub(super) fn in_order<'a>(&'a self, handle: &'a str) -> Result<Vec<Opt<'a>>, Failed> {
        let order = self.order.get(handle).map_or("", String::as_str);
        order.split_whitespace().map(|name| self.named(handle, name)).collect()
    }
}

impl Entry {
    fn check(&self, is_known: impl Fn(&str, &str) -> bool) -> Result<(), String> {
        let is_of = |kind: &str| self.kind == kind;
        let problem = if is_of("range") != (self.ends.len() == 2) {
            "a range, and nothing else, has two ends"
        } else if is_of("duration") != (self.name.ends_with("_ms") && !is_of("field")) {
            "the name of a duration, and of no other option, ends in _ms"
        } else if is_of("choice") == self.values.is_empty() {
            "a choice, and nothing else, has values"
        } else if self.doc.ends_with('.') {
            "doc has no full stop"
        } else if !self.of.iter().all(|handle| HANDLES.contains(&handle.as_str())) {
            "of has an unknown handle"
        } else {
            ""
        };
        if !problem.is_empty() {
            return Err(problem.to_owned());
        }
        for (key, value) in &self.others {
            let keys =
                value.as_table().map(|table| table.keys().map(|inside| (key.as_str(), inside)));
            for (place, key) in
                keys.into_iter().flatten().chain((!value.is_table()).then_some(("", key)))
            {
                if !self.values.contains(key) && !is_known(place, key) {
                    return Err(format!("there is no property {place} {key}"));
                }
            }
        }
        Ok(())
    }
}

impl<'a> Opt<'a> {
    pub(super) fn name(self) -> &'a str {
        &self.entry.name
    }

    pub(super) fn kind(self) -> &'a str {
        &self.entry.kind
    }

    /// Returns the same option of another handle, if that has it.
    pub(super) fn with(self, handle: &'a str) -> Option<Self> {
        self.entry.of.iter().any(|known| known == handle).then_some(Self { handle, ..self })
    }

    /// Whether generators and leases have the option in the same form, so that a language needs one setter.
    pub(super) fn is_shared(self) -> bool {
        self.with("generator").and(self.with("lease")).is_some()
    }

    /// Returns the names of the ends of a range.
    pub(super) fn ends(self) -> [&'a str; 2] {
        [0, 1].map(|n| self.entry.ends.get(n).map_or("", String::as_str))
    }

    /// Returns the values of a choice that this handle has, or all of them.
    pub(super) fn values(self, all: bool) -> Vec<&'a str> {
        match self.inner(self.handle, "values").filter(|_| !all) {
            Some(values) => {
                values.as_array().into_iter().flatten().filter_map(Value::as_str).collect()
            }
            None => self.entry.values.iter().map(String::as_str).collect(),
        }
    }

    /// Returns a property in a language.
    pub(super) fn property(self, language: &str, key: &str) -> Option<String> {
        let own = self.inner(language, key).or_else(|| self.inner(self.handle, key));
        match own.or_else(|| self.entry.others.get(key)) {
            None => (key == "doc").then(|| self.entry.doc.clone()),
            // A default of one handle replaces the value of all.
            Some(_) if key == "value" && self.inner(self.handle, "default").is_some() => None,
            Some(Value::String(text)) => Some(text.clone()),
            Some(Value::Integer(number)) => Some(number.to_string()),
            Some(Value::Boolean(flag)) => Some(flag.to_string()),
            Some(_) => None,
        }
    }

    /// Returns a property that is a number.
    pub(super) fn number(self, key: &str) -> Option<i64> {
        self.entry.others.get(key)?.as_integer()
    }

    fn inner(self, table: &str, key: &str) -> Option<&'a Value> {
        self.entry.others.get(table)?.as_table()?.get(key)
    }
}
