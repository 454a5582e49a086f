//! The messages in the sources: the strings that contain at least three English words.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use flakeid_steps::{Failed, files};

use crate::tokens::{Kind, Language, Token, pieces};

/// The folders of the libraries, the bindings, the command and the server.
const FOLDERS: [&str; 16] = [
    "crates/flakeid-core/src",
    "crates/flakeid-protocol/src",
    "crates/flakeid-stores/src",
    "crates/flakeid/src",
    "crates/flakeid-cli/src",
    "crates/flakeid-server/src",
    "bindings/c/src",
    "bindings/node/src",
    "bindings/python/src",
    "bindings/sqlite/src",
    "bindings/wasm/src",
    "node/lib",
    "node/frameworks",
    "node/wasm",
    "python/flakeid",
    "java/src/main/java",
];

/// The placeholder for a value in a message.
const VALUE: &str = "…";

/// The number of words of a message. Shorter strings are parts of longer messages.
const WORDS: usize = 3;

/// Returns the messages with the places of their first occurrences.
pub(super) fn messages(sources: &[PathBuf]) -> Result<BTreeMap<String, String>, Failed> {
    let mut found = BTreeMap::new();
    for path in sources.iter().filter(|path| has_messages(path)) {
        let extension = path.extension().unwrap_or_default().to_string_lossy();
        let Some(language) = Language::of_extension(&extension) else { continue };
        for (text, line) in strings(&files::text(path)?, language) {
            let text = message(&text, &extension);
            if is_sentence(&text) {
                found.entry(text).or_insert_with(|| format!("{}:{line}", path.display()));
            }
        }
    }
    Ok(found)
}

fn has_messages(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let is_test = ["test", "loom", "models", "twin"].iter().any(|word| name.contains(word));
    // These are the tests of the WebAssembly package, and the declarations of types.
    let is_other =
        path.starts_with("node/wasm/test") || name.ends_with(".pyi") || name.contains(".d.");
    let is_go = path.parent() == Some(Path::new("go")) && name.ends_with(".go");
    !is_test && !is_other && (is_go || FOLDERS.iter().any(|folder| path.starts_with(folder)))
}

/// Returns the strings of a source, without attributes, tests and documentation. Strings with a `+` between them become
/// one string, and so do adjacent strings in Python.
fn strings(source: &str, language: Language) -> Vec<(String, usize)> {
    let pieces = pieces(source, language);
    let code: Vec<&Token> = pieces.iter().filter(|piece| piece.kind != Kind::Comment).collect();
    let mut found: Vec<(String, usize)> = Vec::new();
    let mut at = 0;
    while let Some(token) = code.get(at) {
        let is_attribute = language == Language::Rust && is_code(&code, at, "#");
        if is_attribute {
            let end = end_of_attribute(&code, at);
            let attribute = &code[at..end];
            let is_test = attribute.iter().enumerate().any(|(n, token)| {
                let is_excluded = n >= 2 && attribute[n - 2].text == "not";
                matches!(token.text.as_str(), "test" | "loom") && !is_excluded
            }) && attribute.iter().any(|token| token.text == "cfg");
            at = if is_test { end_of_item(&code, end) } else { end };
            continue;
        }
        let is_documentation = token.text.starts_with("\"\"\"");
        if token.kind == Kind::String && !is_documentation {
            let is_joined = match language {
                Language::Braces => {
                    at >= 2 && is_code(&code, at - 1, "+") && code[at - 2].kind == Kind::String
                }
                Language::Python => {
                    let gap = usize::from(at >= 1 && is_code(&code, at - 1, "f"));
                    at > gap && code[at - 1 - gap].kind == Kind::String
                }
                // Two quotes in a string are one quote. Strings on separate lines are one string.
                Language::Sql => at >= 1 && code[at - 1].kind == Kind::String,
                _ => false,
            };
            match found.last_mut().filter(|_| is_joined) {
                Some((text, _)) => {
                    let is_quote = language == Language::Sql && code[at - 1].line == token.line;
                    let quote = if is_quote { "'" } else { "" };
                    *text = format!("{text}{quote}{}", token.text);
                }
                None => found.push((token.text.clone(), token.line)),
            }
        }
        at += 1;
    }
    found
}

fn is_code(code: &[&Token], at: usize, text: &str) -> bool {
    code.get(at).is_some_and(|token| token.kind == Kind::Code && token.text == text)
}

/// Returns the index after the closing bracket of the attribute at `at`.
fn end_of_attribute(code: &[&Token], at: usize) -> usize {
    end_of_brackets(code, at + 1, "[", "]")
}

/// Returns the index after the item at `at`: after its semicolon, or after its closing brace.
fn end_of_item(code: &[&Token], mut at: usize) -> usize {
    while at < code.len() && !is_code(code, at, "{") {
        if is_code(code, at, ";") {
            return at + 1;
        }
        at += 1;
    }
    end_of_brackets(code, at, "{", "}")
}

fn end_of_brackets(code: &[&Token], mut at: usize, open: &str, close: &str) -> usize {
    let mut depth = 0_usize;
    while at < code.len() {
        if is_code(code, at, open) {
            depth += 1;
        } else if is_code(code, at, close) {
            depth = depth.saturating_sub(1);
            if depth == 0 {
                return at + 1;
            }
        }
        at += 1;
    }
    at
}

/// Returns a string of a source as users see it, with [`VALUE`] for each value.
fn message(string: &str, extension: &str) -> String {
    let text = unescaped(string);
    let text = match extension {
        "rs" | "py" => without_braces(&text),
        "js" => without_values(&text, "${", "}"),
        "sql" => without_verbs(&without_values(&text, "{{", "}}")),
        _ => without_verbs(&text),
    };
    let text = text.replace(&VALUE.repeat(2), VALUE);
    let ends = [' ', ',', ';', ':', '.', ')', '('];
    let start = text.trim_start_matches(ends);
    let end = start.trim_end_matches([' ', ',', ';', ':', '(']);
    end.to_owned()
}

/// Replaces escape sequences, and removes the breaks between the lines of a string.
fn unescaped(string: &str) -> String {
    let mut text = String::new();
    let mut letters = string.chars().peekable();
    while let Some(letter) = letters.next() {
        if letter != '\\' {
            text.push(letter);
            continue;
        }
        match letters.next() {
            Some('\n') => while letters.next_if(|letter| letter.is_whitespace()).is_some() {},
            Some('n') => text.push('\n'),
            Some(other) => text.push(other),
            None => {}
        }
    }
    text
}

/// Replaces the placeholders of `format!`.
fn without_braces(text: &str) -> String {
    let text = text.replace("{{", "\u{1}").replace("}}", "\u{2}");
    without_values(&text, "{", "}").replace('\u{1}', "{").replace('\u{2}', "}")
}

/// Replaces everything between `open` and `close`.
fn without_values(text: &str, open: &str, close: &str) -> String {
    let mut pieces = text.split(open);
    let mut written = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        let rest = piece.split_once(close).map_or("", |(_, rest)| rest);
        written = written + VALUE + rest;
    }
    written
}

/// Replaces the verbs of Go's and Java's formats, such as `%s` and `%.64q`. A `%` before a digit and a letter, as in
/// `%3F`, is an encoded character.
fn without_verbs(text: &str) -> String {
    let mut pieces = text.split('%');
    let mut written = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        let verb =
            piece.trim_start_matches(|letter: char| letter == '.' || letter.is_ascii_digit());
        let is_precise = piece.starts_with('.') || verb.len() == piece.len();
        match verb.strip_prefix(|letter: char| letter.is_ascii_alphabetic()) {
            Some(rest) if is_precise => written = written + VALUE + rest,
            _ => written = written + "%" + piece,
        }
    }
    written
}

/// Whether a string is a sentence or a part of a sentence, and neither SQL nor several lines of text.
fn is_sentence(text: &str) -> bool {
    const SQL: [&str; 9] = [
        "SELECT ",
        " FROM ",
        " WHERE ",
        "INSERT ",
        "UPDATE ",
        "CREATE ",
        "ALTER ",
        "DELETE FROM",
        "BEGIN ",
    ];
    let words = text.split_whitespace().filter(|word| {
        let word = word.trim_matches(|letter: char| letter.is_ascii_punctuation());
        word.len() >= 2 && word.bytes().all(|letter| letter.is_ascii_lowercase())
    });
    words.count() >= WORDS && !text.contains('\n') && !SQL.iter().any(|word| text.contains(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(source: &str, extension: &str) -> Vec<String> {
        let language = Language::of_extension(extension).unwrap_or(Language::Rust);
        let texts =
            strings(source, language).into_iter().map(|(text, _)| message(&text, extension));
        texts.filter(|text| is_sentence(text)).collect()
    }

    #[test]
    fn messages_of_rust_contain_marks_for_values() {
        let source = "format!(\"node {node:?} is {{held}} \\\n   by {}{}, see\")";
        assert_eq!(found(source, "rs"), ["node … is {held} by …, see"]);
    }

    #[test]
    fn messages_of_go_and_javascript_are_joined() {
        let go = "fail(\"n %d is out of range: %3F \" +\n\t\"the slice has %.64q\")";
        assert_eq!(found(go, "go"), ["n … is out of range: %3F the slice has …"]);
        let js = "`${name} must be ${wanted}, not known`";
        assert_eq!(found(js, "js"), ["… must be …, not known"]);
    }

    #[test]
    fn strings_of_tests_attributes_and_sql_are_omitted() {
        let source = "#[must_use = \"a builder does nothing\"] fn a() { x(\"SELECT a, b and c FROM d\") }\n\
                      #[cfg(test)]\nmod tests { fn b() { x(\"this is a test {\") } }\nfn c() { x(\"too short\") }\n\
                      #[cfg(not(test))] fn d() { x(\"this one is kept\") }";
        assert_eq!(found(source, "rs"), ["this one is kept"]);
    }
}
