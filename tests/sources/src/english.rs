//! A lint of the English in comments, messages, test names and documents: the rules of the style guide that a program
//! can check without reporting good English.

use std::fmt::Write as _;
use std::path::PathBuf;

use flakeid_steps::{Failed, Outcome, files};

/// Words that open a sentence in place of its subject.
const CLAUSES: [&str; 7] =
    ["what", "whatever", "who", "whoever", "whichever", "somebody", "nobody"];

/// Other words that do not name the subject of a test.
const PRONOUNS: [&str; 8] = ["how", "why", "it", "its", "they", "those", "others", "nothing"];

/// The largest number of words in a sentence of a document.
const LONGEST: usize = 40;

/// Files that programs write.
const GENERATED: [&str; 3] =
    ["benches/RESULTS.md", "benches/keys/RESULTS.md", "benches/keys/table.md"];

/// A line number and the reason for the finding.
type Finding = (usize, String);

/// Checks the sources and the documents.
pub(crate) fn check(sources: &[PathBuf]) -> Outcome {
    let mut found = String::new();
    for path in sources.iter().filter(|path| GENERATED.iter().all(|name| !path.ends_with(name))) {
        let mark = match path.extension().unwrap_or_default().to_string_lossy().as_ref() {
            "md" => None,
            "py" | "pyi" | "sh" | "toml" | "yaml" | "yml" => Some("#"),
            "sql" => Some("--"),
            "rs" | "c" | "h" | "cpp" | "hpp" | "java" | "go" | "js" | "mjs" | "cjs" | "ts"
            | "mts" | "cts" => Some("//"),
            _ => continue,
        };
        let text = files::text(path)?;
        for (line, reason) in mark.map_or_else(|| document(&text), |mark| source(&text, mark)) {
            _ = writeln!(found, "{}:{line}: {reason}", path.display());
        }
    }
    if found.is_empty() {
        return Ok(());
    }
    Err(Failed(format!("{found}English: see CONTRIBUTING.md, Style")))
}

/// Checks the length of sentences in a document.
fn document(text: &str) -> Vec<Finding> {
    let mut found = Vec::new();
    for (line, paragraph) in paragraphs(text.lines()) {
        let words = sentences(&paragraph).iter().map(Vec::len).max().unwrap_or_default();
        if words > LONGEST {
            found.push((line, format!("a sentence has {words} words, more than {LONGEST}")));
        }
    }
    found
}

/// Checks the first words of comments and strings, and the names of tests.
fn source(text: &str, mark: &str) -> Vec<Finding> {
    let mut openings = Vec::new();
    for (line, paragraph) in paragraphs(text.lines().map(|line| comment(line, mark))) {
        for sentence in sentences(&paragraph).iter().filter(|_| !paragraph.contains('?')) {
            openings.extend(sentence.first().map(|word| (line, word.clone())));
        }
    }
    for (line, number) in text.lines().zip(1..) {
        // A word alone is no sentence.
        let strings = line.split('"').skip(1).step_by(2).filter_map(|text| text.split_once(' '));
        openings.extend(strings.map(|(word, _)| (number, word.to_lowercase())));
    }
    openings.retain(|(_, word)| CLAUSES.contains(&word.as_str()));
    let mut found: Vec<Finding> = openings
        .into_iter()
        .map(|(line, word)| (line, format!("\"{word}\" opens a sentence; name the subject")))
        .collect();
    for (line, name) in test_names(text) {
        let words: Vec<&str> = name.split('_').collect();
        let first = words.first().copied().unwrap_or_default();
        if words.len() < 3 || CLAUSES.contains(&first) || PRONOUNS.contains(&first) {
            found.push((line, format!("the test {name} lacks a subject, a verb or an outcome")));
        }
    }
    found
}

/// Returns the comment in a line without its marks, or an empty string.
fn comment<'a>(line: &'a str, mark: &str) -> &'a str {
    let line = line.trim_start();
    let block = if mark == "//" { line.strip_prefix("* ") } else { None };
    let rest = block.or_else(|| Some(line.split_once(mark)?.1)).unwrap_or_default();
    rest.trim_start_matches(['/', '!', '#'])
}

/// Returns the names of the tests in Rust and Python, without the beginning `test_`.
fn test_names(text: &str) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    let mut is_test = false;
    for (line, number) in text.lines().zip(1..) {
        let line = line.trim_start();
        is_test |= line == "#[test]";
        let declared = match line.split_once("fn ") {
            Some((_, rest)) if is_test => Some(rest),
            _ => line.strip_prefix("async ").unwrap_or(line).strip_prefix("def test_"),
        };
        if let Some((name, _)) = declared.and_then(|rest| rest.split_once('(')) {
            // A macro's parameter is not a name.
            found.extend((!name.starts_with('$')).then(|| (number, name.to_owned())));
            is_test = false;
        }
    }
    found
}

/// Returns the paragraphs and list items, with their first lines. Code, tables and headings are omitted.
fn paragraphs<'a>(lines: impl Iterator<Item = &'a str>) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    let mut current = String::new();
    let (mut start, mut is_code) = (0, false);
    for (line, number) in lines.chain([""]).zip(1..) {
        let line = line.trim_start_matches('>').trim();
        let is_fence = line.starts_with("```");
        is_code ^= is_fence;
        let is_text = !is_fence && !is_code && !line.starts_with(['#', '|', '<', '!']);
        let (marker, after) = line.split_once(' ').unwrap_or_default();
        let marker = marker.trim_start_matches(|digit: char| digit.is_ascii_digit());
        let item = ["-", "*", "."].contains(&marker).then_some(after);
        if (!is_text || item.is_some() || line.is_empty()) && !current.is_empty() {
            found.push((start, std::mem::take(&mut current)));
        }
        if is_text && !line.is_empty() {
            start = if current.is_empty() { number } else { start };
            current = current + item.unwrap_or(line) + " ";
        }
    }
    found
}

/// Returns the words of each sentence in lowercase. Code counts as one word.
fn sentences(paragraph: &str) -> Vec<Vec<String>> {
    let code =
        |(n, part): (usize, &str)| if n % 2 == 1 { "CODE".to_owned() } else { part.to_owned() };
    let text: String = paragraph.split('`').enumerate().map(code).collect();
    let mut sentences: Vec<Vec<String>> = Vec::new();
    let mut is_end = true;
    for part in text.split_whitespace() {
        let word = part.trim_matches(|letter: char| !letter.is_alphanumeric());
        if is_end && (word.starts_with(char::is_uppercase) || sentences.is_empty()) {
            sentences.push(Vec::new());
        }
        is_end = part.trim_end_matches([')', '*', '"', '_']).ends_with(['.', '!', '?', ':']);
        if let (Some(sentence), false) = (sentences.last_mut(), word.is_empty()) {
            sentence.push(word.to_lowercase());
        }
    }
    sentences
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(found: &[Finding]) -> Vec<usize> {
        found.iter().map(|(line, _)| *line).collect()
    }

    #[test]
    fn sentence_that_opens_with_a_clause_is_reported() {
        let rust =
            "/// Reads a row.\n/// What is left of it\n/// is lost.\nlet why = \"who asks first\";";
        assert_eq!(lines(&source(rust, "//")), [1, 4]);
        assert_eq!(lines(&source("a = 1  # Whoever waits.\n", "#")), [1]);
        assert_eq!(lines(&source(" * Somebody waits.\n", "//")), [1]);
        let good = "// Is it free? What is it?\n\n// The host, what it is.\nlet what = \"what\";";
        assert_eq!(lines(&source(good, "//")), [0; 0]);
    }

    #[test]
    fn test_without_subject_verb_and_outcome_is_reported() {
        let test = |name| lines(&source(&format!("#[test]\nfn {name}() {{}}"), "//"));
        assert_eq!(test("urls"), [2]);
        assert_eq!(test("what_cannot_be_is_refused"), [2]);
        assert_eq!(test("open_rejects_other_keys"), [0; 0]);
        assert_eq!(lines(&source("def test_ids_form(): pass", "#")), [1]);
        assert_eq!(lines(&source("fn urls() {}", "//")), [0; 0]);
    }

    #[test]
    fn only_a_sentence_of_more_than_40_words_is_reported() {
        let long = "word ".repeat(40);
        assert_eq!(lines(&document(&format!("A title.\n\n1. One.\n2. {long}last."))), [4]);
        let good = format!(
            "A `code with words` {}. A {}.\n\n```\n{long}{long}\n```\n",
            "b ".repeat(38),
            "c ".repeat(38)
        );
        assert_eq!(lines(&document(&good)), [0; 0]);
    }
}
