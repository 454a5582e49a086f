//! The passages that people read in a source file: comments, strings, and names of tests.

use crate::tokens::{Kind as Piece, Language, Token, pieces};

/// The kind of a passage, which determines the rules that apply to the passage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// The documentation of an item.
    Documentation,
    /// The documentation of a function in Rust.
    Function { returns_bool: bool },
    /// Any other comment.
    Comment,
    /// A string in the code.
    Message,
    /// The name of a test, as words separated by spaces.
    TestName,
    /// The name of a test in a language whose convention is a single noun.
    ShortTestName,
    /// A paragraph or a list item of a document.
    Paragraph,
    /// A heading or a table's cell of a document.
    Fragment,
}

/// A passage, and the line on which it starts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Passage {
    pub(crate) kind: Kind,
    pub(crate) line: usize,
    pub(crate) content: String,
}

/// Returns the passages of a source file.
pub(crate) fn passages(source: &str, language: Language) -> Vec<Passage> {
    let mut pieces = pieces(source, language);
    // The marks of a generated part are between lines of documentation, but do not belong to it.
    for piece in pieces.iter_mut().filter(|piece| is_mark(piece)) {
        "///".clone_into(&mut piece.text);
    }
    let mut passages = Vec::new();
    let mut at = 0;
    while let Some(piece) = pieces.get(at) {
        match piece.kind {
            Piece::Comment => {
                let end = end_of_comment(&pieces, at);
                let kind = kind_of_comment(piece, &pieces[end..]);
                let lines = pieces[at..end].iter().flat_map(|piece| {
                    piece.text.lines().zip(piece.line..).map(|(line, at)| (without_marks(line), at))
                });
                paragraphs(lines, kind, &mut passages);
                at = end;
                continue;
            }
            Piece::String if is_docstring(piece) => {
                let lines = piece.text.lines().zip(piece.line..);
                let lines = lines.map(|(line, at)| (line.trim().trim_matches('"'), at));
                paragraphs(lines, Kind::Documentation, &mut passages);
            }
            Piece::String => {
                let before: Vec<&str> = pieces[at.saturating_sub(2)..at]
                    .iter()
                    .map(|piece| piece.text.as_str())
                    .collect();
                let is_test = matches!(before[..], ["test" | "it", "("]);
                let kind = if is_test { Kind::TestName } else { Kind::Message };
                let content = if is_test { Some(piece.text.clone()) } else { message(&piece.text) };
                passages.extend(content.map(|content| Passage { kind, line: piece.line, content }));
            }
            Piece::Code => passages.extend(test_name(&pieces[at..], language)),
        }
        at += 1;
    }
    passages
}

/// Whether a comment in Rust marks the beginning or the end of a part that `cargo xtask options`
/// generates.
fn is_mark(piece: &Token) -> bool {
    piece.kind == Piece::Comment
        && ["// [options: ", "// [/options]"].iter().any(|mark| piece.text.starts_with(mark))
}

/// Returns the end of a block of line comments, without gaps or code in between.
fn end_of_comment(pieces: &[Token], start: usize) -> usize {
    let marks = |piece: &Token| {
        piece.text.chars().take_while(|mark| "/!*#-".contains(*mark)).collect::<String>()
    };
    let continues = |pair: &[Token]| {
        let [before, after] = pair else { return false };
        after.kind == Piece::Comment
            && !before.text.starts_with("/*")
            && after.line == before.line + 1
            && marks(after) == marks(before)
    };
    start + 1 + pieces[start..].windows(2).take_while(|pair| continues(pair)).count()
}

fn kind_of_comment(first: &Token, after: &[Token]) -> Kind {
    let text = first.text.as_str();
    if text.starts_with("///") {
        function(after).unwrap_or(Kind::Documentation)
    } else if text.starts_with("//!") || text.starts_with("/**") {
        Kind::Documentation
    } else {
        Kind::Comment
    }
}

/// Returns the kind of the documentation in front of these pieces, if they declare a function.
fn function(after: &[Token]) -> Option<Kind> {
    let mut rest = after;
    loop {
        let piece = rest.first()?;
        match (piece.kind, piece.text.as_str()) {
            (Piece::Comment, _) => rest = &rest[1..],
            (_, "#") => {
                let end = balanced(&rest[1..])?;
                if matches!(&rest[1..], [_, name, _, ..] if name.text == "test") {
                    return None;
                }
                rest = &rest[1 + end..];
            }
            (_, "pub") if rest.get(1)?.text == "(" => rest = &rest[1 + balanced(&rest[1..])?..],
            (_, "pub" | "const" | "async" | "unsafe" | "extern") | (Piece::String, _) => {
                rest = &rest[1..];
            }
            (_, "fn") => break,
            _ => return None,
        }
    }
    let parameters = rest.iter().position(|piece| piece.text == "(")?;
    let result = &rest[parameters + balanced(&rest[parameters..])?..];
    let result = result.iter().take_while(|piece| !matches!(piece.text.as_str(), "{" | ";"));
    let returns_bool = result.clone().any(|piece| piece.text == "bool");
    Some(Kind::Function { returns_bool })
}

/// Returns the number of pieces through the bracket that closes the first one.
fn balanced(pieces: &[Token]) -> Option<usize> {
    let mut depth = 0;
    for (piece, at) in pieces.iter().zip(1..) {
        match piece.text.as_str() {
            "(" | "[" | "{" if piece.kind == Piece::Code => depth += 1,
            ")" | "]" | "}" if piece.kind == Piece::Code => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return Some(at);
        }
    }
    None
}

/// Returns the name of a test that is declared at the first of these pieces.
fn test_name(pieces: &[Token], language: Language) -> Option<Passage> {
    let text = |at: usize| pieces.get(at).map_or("", |piece| piece.text.as_str());
    let named = |at: usize, kind: Kind| {
        let piece = pieces.get(at)?;
        let name = piece.text.trim_start_matches("test_").trim_start_matches("Test");
        Some(Passage { kind, line: piece.line, content: words_of_name(name) })
    };
    match (language, text(0)) {
        (Language::Rust, "#") if text(2) == "test" && text(3) == "]" => {
            let function = pieces.iter().take(60).position(|piece| piece.text == "fn")?;
            named(function + 1, Kind::TestName)
        }
        (Language::Python, "def") if text(1).starts_with("test_") => named(1, Kind::TestName),
        (Language::Braces, "func") if text(1).starts_with("Test") => named(1, Kind::ShortTestName),
        (Language::Braces, "void") if text(1).starts_with("test_") => named(1, Kind::ShortTestName),
        (Language::Braces, "@") if text(1) == "Test" => {
            let result = pieces.iter().take(12).position(|piece| piece.text == "void")?;
            named(result + 1, Kind::TestName)
        }
        _ => None,
    }
}

/// Returns the words of an identifier, such as `open_rejects` or `openRejects`, separated by spaces.
fn words_of_name(name: &str) -> String {
    let mut words = String::new();
    let mut before_is_lower = false;
    for letter in name.chars() {
        if letter == '_' || (letter.is_uppercase() && before_is_lower) {
            words.push(' ');
        }
        before_is_lower = letter.is_lowercase() || letter.is_ascii_digit();
        words.extend(letter.to_lowercase().filter(|letter| *letter != '_'));
    }
    words
}

fn is_docstring(piece: &Token) -> bool {
    piece.text.starts_with("\"\"\"")
}

/// Returns a line of a comment without its markers.
fn without_marks(line: &str) -> &str {
    let line = line.trim().trim_end_matches("*/").trim_end();
    let text = line.trim_start_matches("/*").trim_start_matches(['/', '!', '#']);
    let text = if text.starts_with("--") { text.trim_start_matches('-') } else { text };
    let text = text.trim_start();
    text.strip_prefix("* ").or_else(|| text.strip_prefix('*')).unwrap_or(text).trim_start()
}

/// Adds the paragraphs and list items of a comment. Only the first one describes the item.
fn paragraphs<'a>(
    lines: impl Iterator<Item = (&'a str, usize)>,
    kind: Kind,
    passages: &mut Vec<Passage>,
) {
    let first = passages.len();
    let mut current: Option<Passage> = None;
    let mut is_code = false;
    for (line, at) in lines {
        if line.starts_with("```") {
            is_code = !is_code;
            passages.extend(current.take());
            continue;
        }
        let is_item = line.starts_with("- ") || line.starts_with("* ");
        if is_code || line.is_empty() || line.starts_with("# ") || is_item {
            passages.extend(current.take());
        }
        if is_code || line.is_empty() || line.starts_with("# ") || line.starts_with('@') {
            continue;
        }
        let line = if is_item { &line[2..] } else { line };
        if let Some(text) = &mut current {
            text.content.push(' ');
            text.content.push_str(line);
        } else {
            let kind = match kind {
                _ if passages.len() > first => Kind::Comment,
                kind => kind,
            };
            current = Some(Passage { kind, line: at, content: line.to_owned() });
        }
    }
    passages.extend(current);
}

/// Returns a string as one line, or `None` if the string is a name, a pattern, a query or markup.
fn message(string: &str) -> Option<String> {
    const QUERIES: [&str; 10] = [
        "SELECT ", "INSERT ", "UPDATE ", "CREATE ", "DELETE ", "DROP ", "BEGIN", "SET ", "ALTER ",
        "</",
    ];
    let is_word = |word: &&str| word.len() > 1 && word.chars().all(char::is_alphabetic);
    let joined = string.replace("\\n", " ");
    let joined: Vec<&str> = joined.split_whitespace().filter(|word| *word != "\\").collect();
    let is_sentence = joined.iter().filter(|word| is_word(word)).count() > 2;
    let is_query = QUERIES.iter().any(|query| string.contains(query));
    (is_sentence && !is_query).then(|| joined.join(" "))
}
