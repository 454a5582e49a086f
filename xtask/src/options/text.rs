//! The phrases of the table as sentences of a language, and lines of a limited length.

use flakeid_steps::Failed;

use super::spelling::{Language, capitalised, pascal_case};
use super::table::{Handle, Kind, Opt, Table, Value};

/// The language and the format of sentences.
#[derive(Clone, Copy)]
pub(super) struct Style<'a> {
    pub(super) table: &'a Table,
    pub(super) language: Language,
    /// Whether this is Markdown, where names stand in backticks.
    pub(super) is_markdown: bool,
}

impl<'a> Style<'a> {
    pub(super) const fn of(table: &'a Table, language: Language) -> Self {
        Self { table, language, is_markdown: false }
    }

    pub(super) const fn of_markdown(table: &'a Table, language: Language) -> Self {
        Self { table, language, is_markdown: true }
    }

    /// Returns the phrase that documents an option, without a full stop.
    pub(super) fn doc(&self, option: Opt<'_>) -> Result<String, Failed> {
        let doc = self.filled(option, option.doc())?;
        let form = self.form(option);
        // A unit stands before the range.
        Ok(match doc.split_once(": ").filter(|_| option.kind() == Kind::Duration) {
            Some((phrase, range)) => format!("{phrase}{form}: {range}"),
            None => doc + &form,
        })
    }

    /// Returns the end of a phrase: the form in which the language takes the value, unless that is obvious.
    fn form(&self, option: Opt<'_>) -> String {
        let is_python = self.language == Language::Python;
        let code = |text: &str| {
            if self.is_markdown || !is_python { format!("`{text}`") } else { text.to_owned() }
        };
        match (option.kind(), self.language) {
            (Kind::Duration, Language::Node) => ", in milliseconds".to_owned(),
            (Kind::Duration, Language::Go) => ", in whole milliseconds".to_owned(),
            (Kind::Instant, Language::Python | Language::C) => ", in Unix milliseconds".to_owned(),
            (Kind::Layout, Language::Python | Language::Node) => {
                format!("; or a {}", code("Layout"))
            }
            (Kind::Clock, Language::Python | Language::Node)
                if option.handle == Handle::Generator =>
            {
                format!("; or a {}, for tests", code("ManualClock"))
            }
            (Kind::Range, Language::Python | Language::Node) => {
                let [first, last] = option.end_words();
                format!(
                    ", as {}",
                    code(&match self.language {
                        Language::Python => format!("({first}, {last})"),
                        _ if option.name() == "window" => format!("{{ {first}, {last} }}"),
                        _ => format!("[{first}, {last}]"),
                    })
                )
            }
            _ => String::new(),
        }
    }

    /// Returns further sentences, each with a full stop.
    pub(super) fn more(&self, option: Opt<'_>) -> Result<Option<String>, Failed> {
        option.more().map(|more| self.filled(option, more)).transpose()
    }

    /// Returns the default.
    pub(super) fn default(&self, option: Opt<'_>) -> Result<Option<String>, Failed> {
        match option.value() {
            Some(value) => Ok(Some(self.value(option, value))),
            None => option.default().map(|text| self.filled(option, text)).transpose(),
        }
    }

    /// Returns the documentation of a function that sets the option, perhaps of a generator and of a
    /// lease, from the verb on.
    pub(super) fn of_setter(
        &self,
        option: Opt<'_>,
        verb: &str,
        default: &str,
    ) -> Result<String, Failed> {
        let sentence = |verb: &str, option| -> Result<String, Failed> {
            let value = self.default(option)?;
            let value = value.map_or_else(String::new, |value| format!("{default} {value}"));
            Ok(format!("{verb} {}{value}.", within(&self.doc(option)?)))
        };
        let mut text = sentence(verb, option)?;
        let mut more = vec![self.more(option)?];
        if option.is_shared() {
            let lease = Opt { handle: Handle::Lease, ..option };
            if sentence(verb, lease)? != text {
                text = format!("{text} Of a lease, {}", sentence("it sets", lease)?);
            }
            more.push(self.more(lease)?);
            more.dedup();
        }
        Ok(more.into_iter().flatten().fold(text, |text, more| format!("{text} {more}")))
    }

    /// Returns a value of an option as the language writes it.
    pub(super) fn value(&self, option: Opt<'_>, value: &Value) -> String {
        let text = match (value, self.language) {
            (Value::Text(text), _) => return self.text_value(option, text),
            (Value::Number(number), _) => number.to_string(),
            (Value::Flag(flag), Language::Python) => capitalised(&flag.to_string()),
            (Value::Flag(flag), _) => flag.to_string(),
        };
        if self.is_markdown { format!("`{text}`") } else { text }
    }

    fn text_value(&self, option: Opt<'_>, value: &str) -> String {
        let is_choice = option.kind() == Kind::Choice;
        let text = match self.language {
            Language::Python if self.is_markdown => format!("\"{value}\""),
            Language::Python => format!("'{value}'"),
            Language::Node => return format!("`{value}`"),
            Language::C if is_choice => {
                let name = format!("FLAKEID_{}_{value}", option.name());
                name.to_uppercase().replace('-', "_")
            }
            Language::Cpp if is_choice && value == "continue" => {
                format!("{}::carry_on", option.name())
            }
            Language::Cpp if is_choice => format!("{}::{}", option.name(), value.replace('-', "_")),
            Language::Go if is_choice => {
                pascal_case(option.name()) + &pascal_case(&value.replace('-', "_"))
            }
            Language::Java if is_choice => {
                let constant = value.to_uppercase().replace('-', "_");
                return format!("{{@link {}#{constant}}}", pascal_case(option.name()));
            }
            Language::Java => return format!("{{@code {value}}}"),
            Language::C | Language::Cpp | Language::Go => format!("\"{value}\""),
            Language::Command => value.to_owned(),
        };
        if self.is_markdown { format!("`{text}`") } else { text }
    }

    /// Returns the name of another option.
    fn reference(&self, option: Opt<'_>) -> String {
        let name = self.language.spelled(option);
        match self.language {
            Language::Node => format!("`{name}`"),
            Language::Java => format!("{{@code {name}}}"),
            _ if self.is_markdown => format!("`{name}`"),
            _ => name,
        }
    }

    /// Fills in the references in braces.
    fn filled(&self, option: Opt<'_>, text: &str) -> Result<String, Failed> {
        let mut filled = String::new();
        let mut rest = text.trim_end();
        while let Some((before, after)) = rest.split_once('{') {
            let (inside, after) = after
                .split_once('}')
                .ok_or_else(|| Failed(format!("options.toml: {}: no end of {{", option.name())))?;
            filled.push_str(before);
            filled.push_str(&match inside.strip_prefix('=') {
                Some(value) => self.text_value(option, value),
                None => self.reference(self.table.named(option.handle, inside)?),
            });
            rest = after;
        }
        filled.push_str(rest);
        Ok(match self.language {
            Language::Node => filled,
            _ if self.is_markdown => filled,
            Language::Java => filled
                .split('`')
                .enumerate()
                .map(
                    |(n, piece)| {
                        if n % 2 == 1 { format!("{{@code {piece}}}") } else { piece.to_owned() }
                    },
                )
                .collect(),
            _ => filled.replace('`', ""),
        })
    }
}

/// Splits words into lines of at most `width` letters, which begin with `first` and `next`.
pub(super) fn wrapped(first: &str, next: &str, text: &str, width: usize) -> Vec<String> {
    let mut lines = vec![first.to_owned()];
    let mut is_empty = true;
    for word in text.split_whitespace() {
        if let Some(line) = lines.last_mut() {
            let space = usize::from(!is_empty);
            if is_empty || line.chars().count() + space + word.chars().count() <= width {
                line.push_str(if is_empty { "" } else { " " });
                line.push_str(word);
                is_empty = false;
                continue;
            }
        }
        lines.push(format!("{next}{word}"));
    }
    lines
}

/// Makes a sentence of a phrase, and appends further sentences.
pub(super) fn sentences(phrase: &str, more: Option<&str>) -> String {
    more.map_or_else(|| format!("{phrase}."), |more| format!("{phrase}. {more}"))
}

/// Returns the phrase without a capital letter at its beginning.
pub(super) fn within(phrase: &str) -> String {
    let mut letters = phrase.chars();
    letters.next().map_or_else(String::new, |first| first.to_lowercase().chain(letters).collect())
}
