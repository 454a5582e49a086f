//! The identifiers and signs of a source file, without its comments, texts and numbers.

/// A word, or a sign of one character; `::` is one token.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Token {
    pub(crate) text: String,
    pub(crate) line: usize,
}

impl Token {
    pub(crate) fn is_word(&self) -> bool {
        self.text.starts_with(|first: char| first.is_alphabetic() || first == '_')
    }
}

/// What differs between languages as far as comments and texts go.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Language {
    Rust,
    Python,
    /// C, C++, Java, Go, JavaScript and TypeScript.
    Braces,
}

impl Language {
    pub(crate) fn of_extension(extension: &str) -> Option<Self> {
        match extension {
            "rs" => Some(Self::Rust),
            "py" | "pyi" => Some(Self::Python),
            "c" | "h" | "cpp" | "hpp" | "java" | "go" | "js" | "mjs" | "cjs" | "ts" | "mts"
            | "cts" => Some(Self::Braces),
            _ => None,
        }
    }
}

/// The tokens of a text. A text in a language that nests them otherwise is read as it is most often
/// written: the result serves lints, not a compiler.
pub(crate) fn tokens(text: &str, language: Language) -> Vec<Token> {
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

    /// Skips to the end of `end`, or of the text.
    fn skip_through(&mut self, end: &str) {
        let bytes = self.rest.find(end).map_or(self.rest.len(), |at| at + end.len());
        self.take(bytes);
    }

    fn step(&mut self) {
        let rest = self.rest;
        let python = self.language == Language::Python;
        let comment = if python { "#" } else { "//" };
        if rest.starts_with(comment) {
            self.skip_through("\n");
        } else if !python && rest.starts_with("/*") {
            self.skip_through("*/");
        } else if let Some(quotes) = ["\"\"\"", "'''"].into_iter().find(|q| rest.starts_with(q))
            && python
        {
            self.take(3);
            self.skip_through(quotes);
        } else if let Some(end) = raw_text(rest).filter(|_| self.language == Language::Rust) {
            let start = rest.find('"').map_or(1, |at| at + 1);
            self.take(start);
            self.skip_through(&end);
        } else if rest.starts_with(['"', '\'', '`']) {
            self.quoted();
        } else {
            self.token();
        }
    }

    fn quoted(&mut self) {
        let quote = self.take(1);
        if self.language == Language::Rust && quote == "'" && !is_character(self.rest) {
            // A lifetime.
            return;
        }
        let mut escaped = false;
        let end = self.rest.char_indices().find(|&(_, letter)| {
            let is_end = !escaped && quote.starts_with(letter);
            escaped = letter == '\\' && !escaped;
            is_end
        });
        self.take(end.map_or(self.rest.len(), |(at, _)| at + 1));
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
            self.tokens.push(Token { text: text.to_owned(), line });
        }
    }
}

/// The end of a raw text such as `r#"…"#` that begins here.
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
    fn comments_and_texts_are_left_out() {
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
    fn a_path_is_words_and_signs() {
        let texts: Vec<String> = tokens("crate::a::{b, c}", Language::Rust)
            .into_iter()
            .map(|token| token.text)
            .collect();
        assert_eq!(texts, ["crate", "::", "a", "::", "{", "b", ",", "c", "}"]);
    }
}
