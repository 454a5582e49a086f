//! The names of options in every language, and the lists of these names for messages.

use super::table::{Kind, Opt, Table};

/// A language, or the command.
#[expect(dead_code, reason = "C++, Go, Java and the command follow")]
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Language {
    Python,
    Node,
    C,
    Cpp,
    Go,
    Java,
    Command,
}

impl Language {
    /// Returns the name of the language in the table.
    const fn name(self) -> &'static str {
        match self {
            Self::Python => "python",
            Self::Node => "node",
            Self::C => "c",
            Self::Cpp => "cpp",
            Self::Go => "go",
            Self::Java => "java",
            Self::Command => "command",
        }
    }

    /// Returns the name of an option by the rule of the language. A length of time has a unit in its name where its type has none.
    fn regular(self, option: Opt<'_>) -> String {
        let (name, unitless) = (option.name(), option.unitless());
        match self {
            Self::C => name.to_owned(),
            Self::Python | Self::Cpp => unitless.to_owned(),
            Self::Node => camel_case(name),
            Self::Java => camel_case(unitless),
            Self::Go => format!("With{}", pascal_case(unitless)),
            Self::Command => format!("--{}", unitless.replace('_', "-")),
        }
    }

    /// Returns the name of an option.
    pub(super) fn spelled(self, option: Opt<'_>) -> String {
        match option.irregular(self.name()).as_deref() {
            Some([one]) => (*one).to_owned(),
            // A message about both is about where they end.
            _ if self == Self::C && option.kind() == Kind::Range => self.ends(option)[1].clone(),
            _ => self.regular(option),
        }
    }

    /// Returns the names of both ends of a range.
    pub(super) fn ends(self, option: Opt<'_>) -> [String; 2] {
        let ends = option.entry.ends.clone().unwrap_or_default();
        match option.irregular(self.name()).as_deref() {
            Some([first, second]) => [(*first).to_owned(), (*second).to_owned()],
            _ if self == Self::C => ends,
            _ if self == Self::Python => [0, 1].map(|n| format!("{}[{n}]", self.spelled(option))),
            _ => [self.spelled(option), self.spelled(option)],
        }
    }

    /// Returns the name of a field of an ID.
    fn field(self, name: &str) -> String {
        match self {
            Self::Node | Self::Java | Self::Go => camel_case(name),
            Self::Python | Self::C | Self::Cpp | Self::Command => name.to_owned(),
        }
    }
}

pub(super) fn camel_case(name: &str) -> String {
    let mut words = name.split('_');
    let first = words.next().unwrap_or_default().to_owned();
    words.fold(first, |name, word| name + &capitalised(word))
}

pub(super) fn pascal_case(name: &str) -> String {
    name.split('_').map(capitalised).collect()
}

pub(super) fn capitalised(word: &str) -> String {
    let mut letters = word.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

/// Generates a constant with the names that a language spells in another way than the core.
pub(super) fn constant(table: &Table, language: Language, name: &str) -> Vec<String> {
    let mut options: Vec<(String, String)> = Vec::new();
    for option in table.all() {
        // Messages of the core never name what it does not know as an option.
        if option.kind() == Kind::Function {
            continue;
        }
        let ends = option.entry.ends.iter().flatten().cloned().zip(language.ends(option));
        let whole = (option.name().to_owned(), language.spelled(option));
        for (canonical, spelled) in ends.chain([whole]) {
            if options.iter().all(|(known, _)| *known != canonical) {
                options.push((canonical, spelled));
            }
        }
    }
    options.retain(|(canonical, spelled)| canonical != spelled);
    let fields = table.fields().iter().map(|name| (name.clone(), language.field(name)));
    let fields = fields.filter(|(canonical, spelled)| canonical != spelled);
    let mut lines = vec![
        "#[rustfmt::skip]".to_owned(),
        format!(
            "pub(crate) const {name}: flakeid_core::Spelling<'static> = flakeid_core::Spelling {{"
        ),
    ];
    list(&mut lines, "options", options.into_iter());
    list(&mut lines, "fields", fields);
    lines.push("};".to_owned());
    lines
}

fn list(lines: &mut Vec<String>, name: &str, pairs: impl Iterator<Item = (String, String)>) {
    lines.push(format!("    {name}: &["));
    lines.extend(pairs.map(|(from, to)| format!("        (\"{from}\", \"{to}\"),")));
    lines.push("    ],".to_owned());
}
