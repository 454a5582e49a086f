//! A language: the words with which `xtask/options` defines how the language writes an option.

use std::collections::BTreeMap;

use flakeid_steps::{Failed, files};
use serde::Deserialize;
use toml::Value;

use super::table::{HANDLES, Opt, Table};
use super::template::{self, WIDTH};

/// The languages: the names of files in `xtask/options`, and of tables in `options.toml`.
pub(super) const LANGUAGES: [&str; 8] =
    ["python", "node", "c", "cpp", "go", "java", "spring", "rust"];

/// The properties of options that a language does not define.
const PROPERTIES: [&str; 9] =
    ["doc", "more", "default", "value", "values", "least", "bits", "flag", "bit"];

/// A file of `xtask/options`.
#[derive(Deserialize)]
struct Definition {
    /// The files with parts in this language.
    #[serde(default)]
    files: Vec<String>,
    #[serde(default)]
    parts: BTreeMap<String, toml::Table>,
    #[serde(flatten)]
    words: toml::Table,
}

/// All languages, and the table of options.
pub(super) struct Languages {
    definitions: BTreeMap<&'static str, Definition>,
    pub(super) table: Table,
}

/// A part of a file in a language: the words of the part go before those of the language.
#[derive(Clone, Copy)]
pub(super) struct Style<'a> {
    all: &'a Languages,
    language: &'a str,
    part: Option<&'a toml::Table>,
}

impl Languages {
    pub(super) fn read() -> Result<Self, Failed> {
        let mut definitions = BTreeMap::new();
        for language in LANGUAGES.into_iter().chain(["common"]) {
            let path = format!("xtask/options/{language}.toml");
            let definition = toml::from_str(&files::text(&path)?);
            definitions
                .insert(language, definition.map_err(|error| Failed(format!("{path}: {error}")))?);
        }
        let is_known = |place: &str, key: &str| {
            let is_word = |language| {
                definitions.get(language).is_some_and(|known: &Definition| {
                    known.words.contains_key(key)
                        || known.parts.values().any(|part| part.contains_key(key))
                })
            };
            let is_property = PROPERTIES.contains(&key);
            if LANGUAGES.contains(&place) {
                is_property || is_word(place) || is_word("common")
            } else {
                is_property && (place.is_empty() || HANDLES.contains(&place))
            }
        };
        let table = Table::read(is_known)?;
        Ok(Self { definitions, table })
    }

    /// Returns the files with parts, each with its language.
    pub(super) fn files(&self) -> impl Iterator<Item = (&'static str, &str)> {
        self.definitions.iter().flat_map(|(language, known)| {
            known.files.iter().map(move |path| (*language, path.as_str()))
        })
    }

    /// Returns the style of a part that the language or all languages define.
    pub(super) fn style<'a>(&'a self, language: &'a str, part: &str) -> Result<Style<'a>, Failed> {
        let found = [language, "common"]
            .into_iter()
            .find_map(|place| self.definitions.get(place)?.parts.get(part));
        let part = found.ok_or_else(|| Failed(format!("{language} has no part {part}")))?;
        Ok(Style { all: self, language, part: Some(part) })
    }
}

impl<'a> Style<'a> {
    /// Returns a word that does not depend on an option.
    pub(super) fn setting(self, word: &str) -> Option<&'a Value> {
        let places = [self.language, "common"]
            .map(|place| self.all.definitions.get(place).map(|known| &known.words));
        self.part.into_iter().chain(places.into_iter().flatten()).find_map(|words| words.get(word))
    }

    /// Returns the text of a word that does not depend on an option, or an empty text.
    pub(super) fn text(self, word: &str) -> &'a str {
        self.setting(word).and_then(Value::as_str).unwrap_or_default()
    }

    /// Returns the longest line of wrapped text.
    pub(super) fn width(self) -> usize {
        let width = self.setting("width").and_then(Value::as_integer);
        width.and_then(|width| usize::try_from(width).ok()).unwrap_or(WIDTH)
    }

    /// Returns the value of a word for an option; `text` is the value or the code at hand.
    pub(super) fn word(self, option: Opt<'a>, word: &str, text: &str) -> Result<String, Failed> {
        let property = |key| option.property(self.language, key);
        Ok(match word {
            "option" => option.name().to_owned(),
            "short" => option.name().trim_end_matches("_ms").to_owned(),
            "from" => option.ends()[0].to_owned(),
            "to" => option.ends()[1].to_owned(),
            "text" => text.to_owned(),
            "doc" => {
                let doc = self.phrase(option, property("doc"))?;
                let form = self.with_code(option, &self.word(option, "form", "")?)?;
                // The unit of a duration stands before its range.
                match doc.split_once(": ").filter(|_| option.kind() == "duration") {
                    Some((phrase, range)) => format!("{phrase}{form}: {range}"),
                    None => doc + &form,
                }
            }
            "more" => self.phrase(option, property("more"))?,
            "default" => match property("value") {
                Some(value) => self.with_code(option, &self.word(option, "written", &value)?)?,
                None => self.phrase(option, property("default"))?,
            },
            "raw" => property("value").unwrap_or_default(),
            "renamed" => property(text).unwrap_or_default(),
            "values" | "alternatives" | "all_alternatives" => {
                let form = if word == "values" { "written" } else { "alternative" };
                let values = option.values(word == "all_alternatives").into_iter();
                let values: Vec<String> =
                    values.map(|value| self.word(option, form, value)).collect::<Result<_, _>>()?;
                match values.split_last() {
                    Some((last, others)) if form == "written" && !others.is_empty() => {
                        self.with_code(option, &format!("{} or {last}", others.join(", ")))?
                    }
                    _ => values.join(self.text("between")),
                }
            }
            _ => return self.defined(option, word, text),
        })
    }

    /// Returns a word that a file of `xtask/options` or an option's table defines.
    fn defined(self, option: Opt<'a>, word: &str, text: &str) -> Result<String, Failed> {
        let words = |word: &str| match word.split_once('_') {
            // A word of the other handle of a shared setter, if it differs.
            Some(("lease", word)) => {
                let own = self.word(option, word, text)?;
                let lease = option
                    .with("lease")
                    .map_or_else(|| Ok(String::new()), |lease| self.word(lease, word, text))?;
                Ok(if own == lease { String::new() } else { lease })
            }
            Some((language, word)) if LANGUAGES.contains(&language) => {
                Style { language, part: None, ..self }.word(option, word, text)
            }
            _ => self.word(option, word, text),
        };
        let template = match option.property(self.language, word) {
            Some(own) => own,
            None => match self.setting(word) {
                Some(Value::Table(kinds)) => {
                    let (kind, handle) = (option.kind(), option.handle);
                    let both = format!("{kind}-{handle}");
                    let found =
                        [&both, kind, handle, "else"].into_iter().find_map(|key| kinds.get(key));
                    found.and_then(Value::as_str).unwrap_or_default().to_owned()
                }
                Some(Value::String(template)) => template.clone(),
                _ if PROPERTIES.contains(&word) => String::new(),
                _ => return Err(Failed(format!("{} has no word {word}", self.language))),
            },
        };
        template::filled(&template, &words)
    }

    /// Returns a phrase of the table with its references, `{option}` and `{=value}`.
    fn phrase(self, option: Opt<'a>, text: Option<String>) -> Result<String, Failed> {
        let mut filled = String::new();
        for (n, piece) in text.unwrap_or_default().trim_end().split(['{', '}']).enumerate() {
            filled += &match piece.strip_prefix('=') {
                _ if n % 2 == 0 => piece.to_owned(),
                Some(value) => self.word(option, "written", value)?,
                None => {
                    let other = self.all.table.named(option.handle, piece)?;
                    ["`", &self.word(other, "name", "")?, "`"].concat()
                }
            };
        }
        self.with_code(option, &filled)
    }

    /// Returns a phrase with its code, which stands in backticks, as the language writes it.
    fn with_code(self, option: Opt<'a>, phrase: &str) -> Result<String, Failed> {
        let mut pieces = phrase.split('`').enumerate();
        pieces.try_fold(String::new(), |text, (n, piece)| {
            let is_code = n % 2 == 1;
            Ok(text + &if is_code { self.word(option, "code", piece)? } else { piece.to_owned() })
        })
    }
}
