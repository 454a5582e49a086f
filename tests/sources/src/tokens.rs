//! Splitting of a source file into code, comments and strings.

/// The kind of a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A word or a single symbol; `::` is one token. Numbers are omitted.
    Code,
    /// A comment with its markers; each line comment is a separate token.
    Comment,
    /// A string without its quotes, except that a docstring of Python keeps the opening ones.
    String,
}

/// A part of a source file, and the line on which it starts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Token {
    pub(crate) kind: Kind,
    pub(crate) text: String,
    pub(crate) line: usize,
}

#[cfg(test)]
impl Token {
    pub(crate) fn is_word(&self) -> bool {
        self.text.starts_with(|first: char| first.is_alphabetic() || first == '_')
    }
}

/// A language, or several languages with the same syntax of comments and strings.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Language {
    Rust,
    Python,
    /// Shell, YAML and TOML.
    Hash,
    Sql,
    /// C, C++, Java, Go, JavaScript and TypeScript.
    Braces,
}

impl Language {
    pub(crate) fn of_extension(extension: &str) -> Option<Self> {
        match extension {
            "rs" => Some(Self::Rust),
            "py" | "pyi" => Some(Self::Python),
            "sh" | "toml" | "yaml" | "yml" => Some(Self::Hash),
            "sql" => Some(Self::Sql),
            "c" | "h" | "cpp" | "hpp" | "java" | "go" | "js" | "mjs" | "cjs" | "ts" | "mts"
            | "cts" => Some(Self::Braces),
            _ => None,
        }
    }
}

/// Returns the code of a source file, without comments, strings and numbers.
#[cfg(test)]
pub(crate) fn tokens(text: &str, language: Language) -> Vec<Token> {
    let mut tokens = pieces(text, language);
    tokens.retain(|token| token.kind == Kind::Code);
    tokens
}

/// Returns the code, comments and strings of a source file. The result is approximate for nested
/// comments and strings, which is sufficient for lints.
pub(crate) fn pieces(text: &str, language: Language) -> Vec<Token> {
    let mut reader = Reader { rest: text, line: 1, language, tokens: Vec::new() };
    while !reader.rest.is_empty() {
        reader.step();
    }
    reader.tokens
}

struct Reader<'a> {
    rest: &'a str,
    line: usize,
    language: Language,
    tokens: Vec<Token>,
}

impl<'a> Reader<'a> {
    fn take(&mut self, bytes: usize) -> &'a str {
        let (taken, rest) = self.rest.split_at(bytes.min(self.rest.len()));
        self.line += taken.matches('\n').count();
        self.rest = rest;
        taken
    }

    /// Takes the text up to `end`, or the rest if `end` does not occur, and skips `end`.
    fn take_through(&mut self, end: &str) -> &'a str {
        let bytes = self.rest.find(end).unwrap_or(self.rest.len());
        let taken = self.take(bytes);
        self.take(end.len());
        taken
    }

    fn add(&mut self, kind: Kind, line: usize, text: impl Into<String>) {
        self.tokens.push(Token { kind, text: text.into(), line });
    }

    fn step(&mut self) {
        let (rest, line, language) = (self.rest, self.line, self.language);
        let python = language == Language::Python;
        let comment = match language {
            Language::Python | Language::Hash => "#",
            Language::Sql => "--",
            Language::Rust | Language::Braces => "//",
        };
        let has_blocks = !matches!(language, Language::Python | Language::Hash);
        if rest.starts_with(comment) {
            let text = self.take_through("\n");
            self.add(Kind::Comment, line, text);
        } else if rest.starts_with("/*") && has_blocks {
            let text = self.take_through("*/");
            self.add(Kind::Comment, line, text);
        } else if let Some(quotes) = ["\"\"\"", "'''"].into_iter().find(|q| rest.starts_with(q))
            && python
        {
            self.take(3);
            let text = self.take_through(quotes);
            self.add(Kind::String, line, format!("\"\"\"{text}"));
        } else if let Some(end) = raw_text(rest).filter(|_| language == Language::Rust) {
            let start = rest.find('"').map_or(1, |at| at + 1);
            self.take(start);
            let text = self.take_through(&end);
            self.add(Kind::String, line, text);
        } else if rest.starts_with(['"', '\'', '`']) {
            self.quoted();
        } else {
            self.token();
        }
    }

    fn quoted(&mut self) {
        let line = self.line;
        let quote = self.take(1);
        if self.language == Language::Rust && quote == "'" && !is_character(self.rest) {
            // A lifetime.
            return;
        }
        // An apostrophe in a pattern or in plain text must not turn the rest of the file into a
        // string.
        let is_one_line = self.language != Language::Rust && quote != "`";
        let mut escaped = false;
        let end = self.rest.char_indices().find(|&(_, letter)| {
            let is_end = !escaped && (quote.starts_with(letter) || (is_one_line && letter == '\n'));
            escaped = letter == '\\' && !escaped;
            is_end
        });
        let text = self.take(end.map_or(self.rest.len(), |(at, _)| at));
        self.take(1);
        self.add(Kind::String, line, text);
    }

    fn token(&mut self) {
        let rest = self.rest;
        let is_part = |letter: char| letter.is_alphanumeric() || letter == '_';
        let word = rest.find(|letter| !is_part(letter)).unwrap_or(rest.len());
        let first = rest.chars().next().map_or(1, char::len_utf8);
        let line = self.line;
        let text = self.take(match word {
            0 if rest.starts_with("::") => 2,
            0 => first,
            _ => word,
        });
        if !text.starts_with(|letter: char| letter.is_whitespace() || letter.is_ascii_digit()) {
            self.add(Kind::Code, line, text);
        }
    }
}

/// Returns the end of the raw string, such as `r#"…"#`, that starts here.
fn raw_text(rest: &str) -> Option<String> {
    let after = ["r", "br", "cr"].into_iter().find_map(|prefix| rest.strip_prefix(prefix))?;
    let hashes = after.len() - after.trim_start_matches('#').len();
    after[hashes..].starts_with('"').then(|| format!("\"{}", "#".repeat(hashes)))
}

/// Whether a character, not a lifetime, follows the quote.
fn is_character(rest: &str) -> bool {
    let mut letters = rest.chars();
    letters.next() == Some('\\') || letters.next() == Some('\'')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str, language: Language) -> Vec<(String, usize)> {
        let words = tokens(text, language).into_iter().filter(Token::is_word);
        words.map(|token| (token.text, token.line)).collect()
    }

    #[test]
    fn comments_and_strings_are_not_tokens() {
        let rust = "// no\nfn a<'b>(c: &'b str) { \"no \\\" no\"; r#\"no \" no\"#; '\\''; 'n' }\n/* no\n */ d";
        let found = ["fn", "a", "b", "c", "b", "str"].map(|word| (word.to_owned(), 2));
        let mut found = found.to_vec();
        found.push(("d".to_owned(), 4));
        assert_eq!(words(rust, Language::Rust), found);
        let python = "a = 'no'  # no\n\"\"\"no\nno\"\"\"\nb";
        assert_eq!(words(python, Language::Python), [("a".into(), 1), ("b".into(), 4)]);
        assert_eq!(
            words("a; // no\n`no\nno` + b", Language::Braces),
            [("a".into(), 1), ("b".into(), 3)]
        );
    }

    #[test]
    fn rust_path_is_split_into_words_and_symbols() {
        let texts: Vec<String> = tokens("crate::a::{b, c}", Language::Rust)
            .into_iter()
            .map(|token| token.text)
            .collect();
        assert_eq!(texts, ["crate", "::", "a", "::", "{", "b", ",", "c", "}"]);
    }
}
